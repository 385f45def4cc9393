import { existsSync } from 'node:fs'
import { glob, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { lint } from '#test/support/lint.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const longestFile = 250

const importing = (specifier: string) =>
  `import { thing } from '${specifier}'\nexport const used = thing`

const plugins = ['#plugins/session.ts', '../plugins/session.ts', '../../plugins/session.ts']
const routes = ['#routes/me.ts', '../routes/me.ts', '../../routes/me.ts']
const tests = ['#test/helper.ts', '../../test/helper.ts']
const http = ['fastify', 'fastify-plugin', '@fastify/cookie']
const composition = ['app', 'server', 'worker', 'cli', 'commands/seed'].map((it) => `#src/${it}.ts`)
const crypto = ['node:crypto', 'crypto']
const demo = ['#src/demo/demo.ts', '../demo/demo.ts']
const siblings = ['access', 'billing', 'identity', 'outbound'].flatMap((it) => [
  `#src/${it}/x.ts`,
  `../${it}/x.ts`,
])
const stores = [
  'prisma',
  'prisma/x',
  '@prisma/client',
  '#src/db/generated/client.ts',
  'pg',
  'pg-boss',
]
const inSrc = [...http, ...plugins, ...routes, ...tests, ...composition]

/** Files, and what each of them may not import (architecture.md, Who may import whom). */
const forbidden: Readonly<Record<string, readonly string[]>> = {
  'src/resources/orders.ts': [
    ...inSrc,
    ...crypto,
    ...demo,
    './app.ts',
    './server.ts',
    './worker.ts',
  ],
  'src/pages/a.ts': [...inSrc, ...crypto, ...demo, '../app.ts', '../cli.ts', '../commands/x.ts'],
  'src/access/a.ts': [...inSrc, ...crypto, ...demo, ...siblings],
  'src/billing/a.ts': [...inSrc, ...crypto, ...demo, ...siblings],
  'src/identity/a.ts': [...inSrc, ...crypto, ...demo, ...siblings],
  'src/outbound/a.ts': [...inSrc, ...crypto, ...demo, ...siblings],
  'src/crypto/a.ts': inSrc,
  'src/demo/a.ts': inSrc,
  'src/app.ts': [...crypto, ...demo],
  'src/server.ts': [...crypto, ...demo],
  'src/worker.ts': [...crypto, ...demo],
  'src/runtime/signals.ts': [...crypto, ...demo],
  'src/release/generate.ts': [...crypto, ...demo],
  'src/server-options.ts': [...crypto, ...demo],
  'src/cli.ts': crypto,
  'src/commands/a.ts': crypto,
  'plugins/a.ts': [
    ...plugins,
    './session.ts',
    ...routes,
    ...tests,
    ...composition,
    ...crypto,
    ...demo,
  ],
  'routes/auth/a.ts': [
    ...plugins,
    'fastify-plugin',
    ...routes,
    './login.ts',
    '../me.ts',
    ...tests,
    ...composition,
    ...stores,
    'oauth4webapi',
    'jose',
    ...crypto,
    ...demo,
  ],
}

t.test('an import against the direction fails the check', async (t) => {
  const texts = Object.entries(forbidden).map(([path, specifiers]) => {
    return [path, specifiers.map((specifier) => `import '${specifier}'`).join('\n')]
  })
  const findings = await lint(t, Object.fromEntries(texts))
  for (const [path, specifiers] of Object.entries(forbidden)) {
    for (const [index, specifier] of specifiers.entries()) {
      t.ok(
        findings.some(
          (one) =>
            one.path === path && one.rule === 'noRestrictedImports' && one.line === index + 1,
        ),
        `${path}: ${specifier}`,
      )
    }
  }
})

t.test('a type, a re-export and an import at run time are imports as well', async (t) => {
  const files = {
    'src/a.ts': `import type { FastifyRequest } from 'fastify'\nexport type Used = FastifyRequest`,
    'src/b.ts': `export { thing } from '#plugins/session.ts'`,
    'src/c.ts': `export const used = await import('#plugins/session.ts')`,
    'routes/d.ts': `import type { PgBoss } from 'pg-boss'\nexport type Used = PgBoss`,
  }
  const findings = await lint(t, files)
  for (const path of Object.keys(files)) {
    t.ok(
      findings.some((one) => one.path === path && one.rule === 'noRestrictedImports'),
      path,
    )
  }
})

t.test('the other rules of the house fail the check too', async (t) => {
  const files: Record<string, [rule: string, text: string]> = {
    'src/env-a.ts': ['noProcessEnv', 'export const used = process.env.HOME'],
    'src/env-b.ts': [
      'noProcessEnv',
      `import { env } from 'node:process'\nexport const used = env.A`,
    ],
    'plugins/env.ts': ['noProcessEnv', 'export const used = process.env.HOME'],
    'src/demo/env.ts': ['noProcessEnv', 'export const used = process.env.HOME'],
    'src/circle-a.ts': ['noImportCycles', importing('./circle-b.ts')],
    'src/circle-b.ts': ['noImportCycles', `${importing('./circle-a.ts')}\nexport const thing = 1`],
    'src/alias-a.ts': ['noImportCycles', importing('#src/alias-b.ts')],
    'src/alias-b.ts': ['noImportCycles', `${importing('#src/alias-a.ts')}\nexport const thing = 1`],
    'src/bare.ts': ['useImportExtensions', importing('./sure')],
    'src/unknown.ts': ['noUndeclaredDependencies', importing('left-pad')],
    'src/any.ts': ['noExplicitAny', 'export const used = (value: any) => value'],
    'src/sure.ts': ['noNonNullAssertion', 'export const used = (a?: { b: 1 }) => a!.b'],
    'src/enum.ts': ['noEnum', 'export enum Used { A }'],
    'src/adrift.ts': ['noFloatingPromises', `export function used() {\n  fetch('a:')\n}`],
    'src/SomeFile.ts': ['useFilenamingConvention', 'export const used = 1'],
    'src/long.ts': ['noExcessiveLinesPerFile', 'export {}\n'.repeat(longestFile + 1)],
    'src/all.ts': ['noReExportAll', `export * from './sure.ts'`],
    'src/loud.ts': ['noConsole', `console.log('used')`],
    'test/skipped.test.ts': [
      'noSkippedTests',
      `import { test } from 'tap'\ntest.skip('x', () => {})`,
    ],
  }
  const findings = await lint(
    t,
    Object.fromEntries(Object.entries(files).map(([path, [, text]]) => [path, text])),
  )
  for (const [path, [rule]] of Object.entries(files)) {
    t.ok(
      findings.some((one) => one.path === path && one.rule === rule),
      `${path} ${rule}`,
    )
  }
})

t.test('what the direction allows passes', async (t) => {
  const files = {
    'src/runtime/clock.ts': 'export const thing = 1',
    'src/cli.ts': `${importing('#src/clock.ts')}\nexport const demo = () => import('./demo/demo.ts')\nexport const home = process.env.HOME`,
    'src/server.ts': `import Fastify from 'fastify'\nimport session from '#plugins/session.ts'\nexport const used = [Fastify, session]`,
    'src/worker.ts': `import type { FastifyBaseLogger } from 'fastify'\nexport type Used = FastifyBaseLogger`,
    'src/demo/demo.ts': `import { randomBytes } from 'node:crypto'\nexport const used = randomBytes`,
    'src/crypto/hash.ts': `import { createHmac } from 'node:crypto'\nexport const used = createHmac`,
    'src/billing/record.ts': `import type { PgBoss } from 'pg-boss'\nimport { thing } from '#src/runtime/clock.ts'\nexport type Used = PgBoss\nexport const used = thing`,
    'src/billing/process.ts': `import { used as inbox } from './inbox.ts'\nexport const used = inbox`,
    'plugins/session.ts': `import fp from 'fastify-plugin'\nimport { thing } from '#src/runtime/clock.ts'\nexport default fp(async () => {}, { name: String(thing) })`,
    'routes/api/me.ts': `import type { FastifyPluginAsync } from 'fastify'\nimport Type from 'typebox'\nimport { thing } from '#src/runtime/clock.ts'\nexport type Used = FastifyPluginAsync\nexport const used = [Type, thing]`,
    'src/commands/doctor.ts': `export const home = process.env.HOME\nexport const demo = () => import('#src/demo/demo.ts')`,
    'src/app.ts': importing('fastify'),
    'src/server-options.ts': importing('fastify'),
    'src/runtime/signals.ts': importing('#src/worker.ts'),
    'src/release/generate.ts': importing('#src/app.ts'),
    'bench/a.ts': 'console.log(process.env.HOME)',
    '.config/a.ts': 'export const home = process.env.HOME',
    'test/b.ts': `console.log('used')`,
    'test/a.test.ts': `import { randomBytes } from 'node:crypto'\nimport { used } from '#src/demo/demo.ts'\nexport const both = [randomBytes, used, process.env.HOME]`,
  }
  t.same(await lint(t, files), [])
})

async function sources(pattern: string): Promise<string[]> {
  const files: string[] = []
  for await (const file of glob(pattern, { cwd: root })) files.push(file.replaceAll('\\', '/'))
  return files.filter((path) => !path.startsWith('src/db/generated/'))
}

t.test('the demo is loaded at run time only, by the command line', async (t) => {
  for (const path of await sources('{src,plugins,routes}/**/*.ts')) {
    if (path.startsWith('src/demo/')) continue
    const text = await readFile(join(root, path), 'utf8')
    const loads = [...text.matchAll(/^(?:import|export)\b(?! type)[^'"]*['"][^'"]*\/demo\//gm)]
    t.equal(loads.length, 0, path)
    if (/import\(\s*['"][^'"]*\/demo\//.test(text)) t.match(path, /^src\/(cli\.ts|commands\/)/)
  }
})

t.test('a file is split before it has more than 250 lines', async (t) => {
  const files = await sources('{src,plugins,routes,test,prisma}/**/*.ts')
  t.ok(files.length > 80, `${files.length} files`)
  for (const path of files) {
    const lines = (await readFile(join(root, path), 'utf8')).trimEnd().split('\n').length
    t.ok(lines <= longestFile, `${path}: ${lines}`)
  }
})

/** About the program as a whole. */
const wholes = ['instances', 'reliability']

t.test('the tests mirror the tree', async (t) => {
  const exists = (path: string) => existsSync(join(root, path))
  for (const path of await sources('test/**/*.test.ts')) {
    const name = path.slice('test/'.length, -'.test.ts'.length)
    const folder = dirname(name)
    const mirrored =
      folder === '.'
        ? name === 'architecture' || exists(`src/${name}.ts`) || exists(`test/${name}.ts`)
        : wholes.includes(folder) || exists(`src/${folder}`) || exists(folder)
    t.ok(mirrored, path)
  }
})
