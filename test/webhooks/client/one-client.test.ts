import t from 'tap'
import { lint } from '#test/support/app/lint.ts'

t.test('customers’ URLs are not called with the global fetch either', async (t) => {
  const files = {
    'src/webhooks/delivery/a.ts': `export const used = () => fetch('a:')`,
    'src/webhooks/delivery/b.ts': 'export const used = globalThis.fetch',
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
