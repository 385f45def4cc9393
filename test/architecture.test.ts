import { existsSync } from 'node:fs'
import { glob, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { pathOf } from '#src/resources/kit/names.ts'
import { app } from '#src/resources/running-app.ts'
import {
  breachesOf,
  findBreaches,
  floors,
  importOrder,
  loadedWith,
  readSources,
} from '#test/support/app/import-order.ts'
import { lint } from '#test/support/app/lint.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const importing = (specifier: string) =>
  `import { thing } from '${specifier}'\nexport const used = thing`

t.test('every import follows the order of the folders', async (t) => {
  t.same(await findBreaches(root), [])
})

t.test('the order names every folder and entry file', async (t) => {
  const rooms = new Set(
    (await sources('{src,plugins,routes}/**/*.ts')).map((path) => {
      const [top, second = ''] = path.split('/')
      return top === 'src' ? second.replace(/\.ts$/, '') : top
    }),
  )
  const ordered = importOrder.flat()
  t.same(
    [...rooms].filter((room) => room !== undefined && !ordered.includes(room)),
    [],
  )
})

t.test('the floors of a room name every folder inside it', async (t) => {
  for (const [room, order] of Object.entries(floors)) {
    const paths = await sources(`${room}/**/*.ts`)
    const folders = new Set(paths.map((path) => path.slice(room.length + 1).split('/')[0]))
    t.same([...folders].toSorted(), order.flat().toSorted(), room)
  }
})

t.test('an import against the order is found', async (t) => {
  const planted: readonly (readonly [file: string, specifier: string])[] = [
    ['src/runtime/a.ts', '#src/config/x.ts'],
    ['src/crypto/a.ts', '../runtime/x.ts'],
    ['src/config/a.ts', '#src/auth/oidc/x.ts'],
    ['src/http/a.ts', '#plugins/session.ts'],
    ['src/http/headers/a.ts', '../problems.ts'],
    ['src/access/a.ts', '#src/db/database.ts'],
    ['src/observability/a.ts', '#src/queue/queue.ts'],
    ['src/db/database.ts', '#src/mail/mailer.ts'],
    ['src/db/database.ts', '#src/operations/installation.ts'],
    ['src/db/connections/a.ts', '../system-database.ts'],
    ['src/db/connections/a.ts', '#src/db/entry.ts'],
    ['src/db/entry.ts', './database.ts'],
    ['src/db/errors.ts', './connections/one-trip.ts'],
    ['src/db/elsewhere.ts', './errors.ts'],
    ['src/operations/a.ts', '#src/queue/queue.ts'],
    ['src/queue/a.ts', '#src/webhooks/delivery/x.ts'],
    ['src/audit/a.ts', '#src/auth/sessions/x.ts'],
    ['src/auth/oidc/a.ts', '#src/webhooks/client/x.ts'],
    ['src/auth/sign-in/a.ts', '../../billing/x.ts'],
    ['src/webhooks/delivery/a.ts', '#src/auth/members/x.ts'],
    ['src/webhooks/client/a.ts', '#src/rows/rows.ts'],
    ['src/resources/a.ts', '#src/access/policy.ts'],
    ['src/webhooks/delivery/a.ts', '#src/webhooks/probe/x.ts'],
    ['src/webhooks/delivery/held/a.ts', '../../probe/x.ts'],
    ['src/webhooks/history/a.ts', '#src/webhooks/delivery/x.ts'],
    ['src/webhooks/endpoints/a.ts', '#src/webhooks/history/x.ts'],
    ['src/webhooks/health/a.ts', '../endpoints/x.ts'],
    ['src/webhooks/health/a.ts', '../events/x.ts'],
    ['src/webhooks/events/a.ts', '#src/webhooks/health/x.ts'],
    ['src/webhooks/client/a.ts', '#src/webhooks/delivery/x.ts'],
    ['src/webhooks/client/a.ts', '../signing/x.ts'],
    ['src/webhooks/schedule/a.ts', '#src/webhooks/events/x.ts'],
    ['src/webhooks/elsewhere/a.ts', '#src/webhooks/client/x.ts'],
    ['src/webhooks/a.ts', './client/x.ts'],
    ['src/schema/a.ts', '#src/auth/sessions/x.ts'],
    ['src/rows/a.ts', '#src/billing/x.ts'],
    ['src/rows/a.ts', '#src/teams/x.ts'],
    ['src/billing/a.ts', '#src/pages/kit/html.ts'],
    ['src/pages/a.ts', '#routes/api/me.ts'],
    ['src/pages/b.ts', '#test/support/helper.ts'],
    ['src/pages/c.ts', './kit/html.ts'],
    ['src/pages/kit/a.ts', '#src/pages/sign-in/sign-in.ts'],
    ['src/pages/account/a.ts', '../tenant/tenant.ts'],
    ['src/pages/billing/a.ts', '#src/pages/webhooks/badges.ts'],
    ['src/pages/tenant/a.ts', '#src/pages/resources/posts.ts'],
    ['src/pages/webhooks/a.ts', '#src/pages/operations/operations.ts'],
    ['src/pages/docs/a.ts', '#src/pages/design.ts'],
    ['src/worker.ts', '#plugins/session.ts'],
    ['src/worker.ts', './app.ts'],
    ['src/server-options.ts', './app.ts'],
    ['src/app.ts', './server.ts'],
    ['src/server.ts', './commands/serve/serve.ts'],
    ['src/commands/serve/a.ts', '#dev/demo/demo.ts'],
    ['src/cli.ts', '#dev/development.ts'],
    ['src/commands/serve/a.ts', '../../cli.ts'],
    ['src/commands/serve/a.ts', '../program.ts'],
    ['src/commands/development/a.ts', '../serve/health.ts'],
    ['src/commands/database/a.ts', '#src/commands/development/seed.ts'],
    ['src/commands/keys/a.ts', '../serve/doctor.ts'],
    ['src/commands/billing/a.ts', '../webhooks/deliveries.ts'],
    ['src/commands/webhooks/a.ts', '../tenants/usage.ts'],
    ['src/commands/tenants/a.ts', '../database/ledger.ts'],
    ['src/commands/kit/a.ts', '../database/migrate.ts'],
    ['src/commands/a.ts', './kit/output.ts'],
    ['src/webhooks/client/a.ts', '#clients/typescript/src/webhooks.ts'],
    ['routes/api/a.ts', '../../clients/typescript/src/client.ts'],
    ['clients/typescript/src/a.ts', '../../../src/runtime/clock.ts'],
    ['clients/typescript/src/a.ts', '#src/config/x.ts'],
    ['plugins/a.ts', '#src/app.ts'],
    ['plugins/a.ts', './session.ts'],
    ['plugins/a.ts', '#routes/api/me.ts'],
    ['routes/api/a.ts', './me.ts'],
    ['routes/api/a.ts', '../auth/login.ts'],
    ['routes/api/index.ts', '#routes/auth/login.ts'],
    ['routes/pages/a.ts', '#plugins/session.ts'],
    ['routes/pages/tenant/a.ts', './teams.ts'],
    ['routes/pages/tenant/a.ts', '../account/home.ts'],
    ['routes/auth/a.ts', '#src/worker.ts'],
  ]
  for (const [file, specifier] of planted) {
    t.equal(breachesOf({ [file]: `import '${specifier}'` }).length, 1, `${file}: ${specifier}`)
  }
})

t.test('a type, a re-export and an import at run time are imports as well', async (t) => {
  for (const text of [
    `import type { Thing } from '#plugins/access/session.ts'`,
    `import {\n  thing,\n} from '#plugins/access/session.ts'`,
    `export { thing } from '#plugins/access/session.ts'`,
    `export const used = await import('#plugins/access/session.ts')`,
  ]) {
    t.equal(breachesOf({ 'src/pages/a.ts': text }).length, 1, text)
  }
})

/** What calls customers' URLs. */
const callers = ['client', 'connection', 'exchange'].map((name) => `src/webhooks/client/${name}.ts`)

t.test('a process that serves requests loads nothing that calls customers’ URLs', async (t) => {
  const files = await readSources(root)
  const everywhere = loadedWith(files, 'src/server.ts')
  t.notOk(everywhere.has('src/app.ts'), 'a worker is without the routes')
  const loaded = everywhere.union(loadedWith(files, 'src/app.ts'))
  t.ok(loaded.has('routes/api/webhooks/endpoints.ts'), 'the routes are loaded')
  t.same(
    callers.filter((path) => loaded.has(path)),
    [],
  )
  const worker = loadedWith(files, 'src/worker.ts')
  t.same(
    callers.filter((path) => !worker.has(path)),
    [],
    'a worker loads all of it',
  )
  const users = Object.entries(files).filter(([, text]) => / from 'undici'/.test(text))
  t.same(
    users.map(([path]) => path).filter((path) => !callers.includes(path)),
    [],
    'nothing else does',
  )
})

t.test('such an import is found, however far away; one of a type is none', (t) => {
  const files = {
    'src/server.ts': `import { a } from './app.ts'\nexport const b = () => import('./worker.ts')`,
    'src/app.ts': `import a from '#routes/a.ts'\nimport type { B } from '#src/webhooks/client/b.ts'`,
    'routes/a.ts': `export { c } from '#src/webhooks/client/c.ts'`,
    'src/webhooks/client/c.ts': `import {\n  type D,\n  e,\n} from './e.ts'`,
  }
  const client = ['src/webhooks/client/c.ts', 'src/webhooks/client/e.ts']
  const loaded = ['src/server.ts', 'src/app.ts', 'routes/a.ts', ...client]
  t.same([...loadedWith(files, 'src/server.ts')], loaded)
  t.end()
})

const clients = ['undici', 'node:http', 'node:https', 'node:http2', 'http', 'https', 'http2']
const http = ['fastify', 'fastify-plugin', '@fastify/cookie']
const crypto = ['node:crypto', 'crypto']
const stores = ['prisma', '@prisma/client', '#src/db/generated/client.ts', 'pg', 'pg-boss']

/** Files, and the packages that each of them may not import. */
const forbiddenPackages: Readonly<Record<string, readonly string[]>> = {
  'src/resources/a.ts': [...http, ...crypto, ...clients],
  'src/rows/a.ts': [...http, ...crypto, ...clients],
  'src/auth/oidc/a.ts': [...http, ...crypto, ...clients],
  'src/webhooks/delivery/a.ts': [...http, ...crypto, ...clients],
  'src/webhooks/client/connection.ts': [...http, ...crypto],
  'src/crypto/a.ts': [...http, ...clients],
  'dev/demo/a.ts': http,
  'src/app.ts': [...crypto, ...clients, ...callers.map((path) => `#${path}`)],
  'src/worker.ts': [...crypto, ...clients],
  'src/cli.ts': [...crypto, ...clients],
  'plugins/a.ts': [...crypto, ...clients, ...callers.map((path) => `#${path}`)],
  'routes/auth/a.ts': [
    ...[...crypto, ...clients, ...stores, 'fastify-plugin', 'oauth4webapi', 'jose'],
    ...callers.map((path) => `#${path}`),
  ],
}

const ofCluster = ['src/schema/citus/', 'prisma/citus/', 'test/schema/citus/', 'bench/citus/']

/** The lines outside `ofCluster` that say the word, except the path of a file in these folders. */
function namesOfCluster(path: string, text: string): string[] {
  if (ofCluster.some((folder) => path.startsWith(folder))) return []
  const lines = text.split('\n').map((line) => line.replaceAll(/[\w./#]*\bcitus\/[\w.*/]*/g, ''))
  return lines.filter((line) => /citus/i.test(line)).map((line) => `${path}: ${line.trim()}`)
}

t.test('only the folders of the cluster say Citus', async (t) => {
  t.same(namesOfCluster('src/a.ts', `import { a } from './schema/citus/a.ts'\n// For Citus.`), [
    'src/a.ts: // For Citus.',
  ])
  t.same(namesOfCluster('prisma/functions/a.sql', 'SELECT citus_version()').length, 1)
  const all = await sources(
    '{src,plugins,routes,dev,prisma,test,bench}/**/*.{ts,sql,prisma,css,js}',
  )
  const naming = ['test/architecture.test.ts', 'test/support/app/import-order.ts'] // the folders
  const paths = all.filter((path) => !naming.includes(path))
  const texts = await Promise.all(paths.map((path) => readFile(join(root, path), 'utf8')))
  t.same(
    paths.flatMap((path, index) => namesOfCluster(path, texts[index] ?? '')),
    [],
  )
})

t.test('a package outside its place fails the check', async (t) => {
  const texts = Object.entries(forbiddenPackages).map(([path, packages]) => {
    return [path, packages.map((name) => `import '${name}'`).join('\n')]
  })
  const findings = await lint(t, Object.fromEntries(texts))
  for (const [path, packages] of Object.entries(forbiddenPackages)) {
    for (const [index, name] of packages.entries()) {
      t.ok(
        findings.some(
          (one) =>
            one.path === path && one.rule === 'noRestrictedImports' && one.line === index + 1,
        ),
        `${path}: ${name}`,
      )
    }
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
    'dev/demo/env.ts': ['noProcessEnv', 'export const used = process.env.HOME'],
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

t.test('what the rules allow passes', async (t) => {
  const program = {
    'src/runtime/clock.ts': 'export const thing = 1',
    'src/cli.ts': `${importing('#src/runtime/clock.ts')}\nexport const home = process.env.HOME`,
    'src/server.ts': `import Fastify from 'fastify'\nimport session from '#plugins/access/session.ts'\nexport const used = [Fastify, session]`,
    'src/worker.ts': `import type { FastifyBaseLogger } from 'fastify'\nexport type Used = FastifyBaseLogger`,
    'dev/demo/demo.ts': `import { randomBytes } from 'node:crypto'\nexport const used = randomBytes`,
    'src/crypto/hash.ts': `import { createHmac } from 'node:crypto'\nexport const used = createHmac`,
    'src/webhooks/probe/a.ts': importing('../history/deliveries.ts'),
    'src/webhooks/client/connection.ts': `import { Pool } from 'undici'\nexport const used = Pool`,
    'src/billing/record.ts': `import type { PgBoss } from 'pg-boss'\nimport { thing } from '#src/runtime/clock.ts'\nexport type Used = PgBoss\nexport const used = thing`,
    'src/billing/process.ts': `import { used as record } from './record.ts'\nexport const used = record`,
    'plugins/access/session.ts': `import fp from 'fastify-plugin'\nimport { thing } from '#src/runtime/clock.ts'\nexport default fp(async () => {}, { name: String(thing) })`,
    'routes/api/account/me.ts': `import type { FastifyPluginAsync } from 'fastify'\nimport Type from 'typebox'\nimport { thing } from '#src/runtime/clock.ts'\nexport type Used = FastifyPluginAsync\nexport const used = [Type, thing]`,
    'src/commands/setup/doctor.ts': 'export const home = process.env.HOME',
    'dev/cli.ts': `export const demo = () => import('#dev/demo/demo.ts')`,
    'src/commands/webhooks/events.ts': importing('#clients/typescript/src/client.ts'),
    'clients/typescript/src/client.ts': importing('./retries.ts'),
    'clients/typescript/src/retries.ts': 'export const thing = 1',
    'src/pages/kit/html.ts': 'export const thing = 1',
    'src/pages/account/audit.ts': importing('#src/pages/kit/html.ts'),
    'src/pages/tenant/audit-log.ts': importing('#src/pages/account/audit.ts'),
    'routes/pages/index.ts': importing('./tenant/audit.ts'),
    'src/app.ts': importing('fastify'),
    'src/server-options.ts': importing('fastify'),
  }
  const besides = {
    'bench/a.ts': 'console.log(process.env.HOME)',
    '.config/a.ts': 'export const home = process.env.HOME',
    'test/b.ts': `console.log('used')`,
    'test/a.test.ts': `import { randomBytes } from 'node:crypto'\nimport { used } from '#dev/demo/demo.ts'\nexport const both = [randomBytes, used, process.env.HOME]`,
  }
  t.same(await lint(t, { ...program, ...besides }), [])
  t.same(breachesOf(program), [])
})

async function sources(pattern: string): Promise<string[]> {
  const files: string[] = []
  for await (const file of glob(pattern, { cwd: root })) files.push(file.replaceAll('\\', '/'))
  return files.filter((path) => !path.startsWith('src/db/generated/'))
}

t.test('the demo is loaded at run time only', async (t) => {
  const files = await readSources(root)
  const loaded = [...loadedWith(files, 'dev/cli.ts')].filter((path) => path.startsWith('dev/'))
  t.same(loaded, ['dev/cli.ts'])
})

/** What would name a resource of an app: its table, path, events and declaration. */
function namesOfApp(text: string): string[] {
  return app.resources.flatMap((resource) => {
    const { name, plural, events } = resource
    const types = Object.keys(events).map((event) => `${name}.${event}`)
    const words = [plural, pathOf(resource), `/app${pathOf(resource)}`, ...types]
    const quoted = new RegExp(`['"\`](${words.join('|')})\\b`)
    const inSql = new RegExp(`\\b(FROM|INTO|UPDATE|TABLE|JOIN|ON) (public\\.)?${plural}\\b`)
    const imported = new RegExp(`resources/${plural}\\.ts|examples/`)
    return text
      .split('\n')
      .filter((line) => quoted.test(line) || inSql.test(line) || imported.test(line))
  })
}

t.test('the program names no resource of an app', async (t) => {
  for (const line of ["from('orders')", 'SELECT 1 FROM public.posts p', "'/app/documents/1'"]) {
    t.same(namesOfApp(line), [line])
  }
  t.same(namesOfApp("const type = 'order.updated'").length, 1)
  for (const path of await sources('{src,plugins,routes,prisma}/**/*.{ts,sql,prisma,js,css}')) {
    t.same(namesOfApp(await readFile(join(root, path), 'utf8')), [], path)
  }
})

// Tests of the program as a whole, and of test helpers.
const wholes = ['instances', 'mutation', 'reliability', 'remedies', 'run', 'soak', 'support']

t.test('the tests mirror the tree', async (t) => {
  const exists = (path: string) => existsSync(join(root, path))
  for (const path of await sources('test/**/*.test.ts')) {
    const name = path.slice('test/'.length, -'.test.ts'.length)
    const folder = dirname(name)
    const mirrored =
      folder === '.'
        ? ['architecture', 'journey'].includes(name) || exists(`src/${name}.ts`)
        : wholes.includes(folder.split('/')[0] ?? '') ||
          exists(`src/${folder}`) ||
          exists(`dev/${folder}`) ||
          exists(folder)
    t.ok(mirrored, path)
  }
})
