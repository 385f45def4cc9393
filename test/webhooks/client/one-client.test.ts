import t from 'tap'
import { lint } from '#test/support/lint.ts'

const clients = ['undici', 'node:http', 'node:https', 'node:http2', 'http', 'https', 'http2']
const places = ['src', 'src/pages', 'src/access', 'src/billing', 'src/identity', 'src/outbound']

t.test('customers’ URLs are called through one client alone', async (t) => {
  const imports = clients.map((name) => `import '${name}'`).join('\n')
  const paths = [...places, 'plugins', 'routes', 'routes/auth'].map((place) => `${place}/a.ts`)
  const findings = await lint(t, Object.fromEntries(paths.map((path) => [path, imports])))
  for (const path of paths) {
    for (const [index, client] of clients.entries()) {
      t.ok(
        findings.some(
          (one) =>
            one.path === path && one.rule === 'noRestrictedImports' && one.line === index + 1,
        ),
        `${path}: ${client}`,
      )
    }
  }
})

t.test('nor is there a way around it that needs no import', async (t) => {
  const files = {
    'src/outbound/a.ts': `export const used = () => fetch('a:')`,
    'src/outbound/b.ts': 'export const used = globalThis.fetch',
    'routes/a.ts': `export const used = () => fetch('a:')`,
    'plugins/a.ts': `export const used = () => new WebSocket('a:')`,
  }
  const findings = await lint(t, files)
  for (const path of Object.keys(files)) {
    t.ok(
      findings.some((one) => one.path === path && one.rule === 'noRestrictedGlobals'),
      path,
    )
  }
})

t.test('the files of the client may, and are bound by the other directions still', async (t) => {
  const undici = `import { Pool } from 'undici'\nexport const used = Pool`
  const other = `import 'fastify'\nimport 'node:crypto'\nimport '#src/billing/x.ts'`
  const files = ['pools', 'exchange', 'connection'].map((name) => `src/outbound/${name}.ts`)
  t.same(await lint(t, Object.fromEntries(files.map((path) => [path, undici]))), [])
  const findings = await lint(t, Object.fromEntries(files.map((path) => [path, other])))
  t.equal(findings.filter((one) => one.rule === 'noRestrictedImports').length, 3 * files.length)
})
