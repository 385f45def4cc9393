import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { bare, defineApp } from '#src/resources/define-app.ts'
import { optional } from '#src/resources/kit/fields/field.ts'
import { line } from '#src/resources/kit/fields/texts/line.ts'
import { haveRole } from '#src/resources/kit/visible.ts'
import { loadApp } from '#src/resources/load-app.ts'
import { everything, type Roles } from '#src/resources/roles.ts'
import { OperatorError } from '#src/runtime/operator-error.ts'
import { temporaryFolder } from '#test/support/processes/program.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** A folder with this text as gatehouse.config.ts, in which the package can be imported. */
async function folderWith(t: Test, text: string): Promise<string> {
  const folder = await temporaryFolder(t)
  await mkdir(join(folder, 'node_modules'))
  await symlink(root, join(folder, 'node_modules/gatehouse'))
  await writeFile(join(folder, 'gatehouse.config.ts'), text)
  return folder
}

const small = (name: string) =>
  `import { defineApp } from 'gatehouse'\nexport default defineApp({ name: '${name}', resources: [] })`

const withJobs = (...jobs: string[]) => `import { defineApp, defineJob } from 'gatehouse'
const run = async () => {}
export default defineApp({ name: 'one', resources: [], jobs: [
  ${jobs.map((job) => `defineJob({ run, ...${job} })`).join(', ')}
] })`

const withSettings = (name: string, schema = `{ type: 'string', description: 'x' }`) =>
  `import { defineApp, defineSettings } from 'gatehouse'
export default defineApp({ name: 'one', resources: [], settings: defineSettings({ ${name}: ${schema} }) })`

const withHooks = (hooks: string) => `import { defineApp } from 'gatehouse'
const hook = async () => {}
export default defineApp({ name: 'one', resources: [], on: { ${hooks} } })`

t.test('the app is that of --app, of the current folder, or of the program', async (t) => {
  const [one, other] = [await folderWith(t, small('one')), await folderWith(t, small('other'))]
  const empty = await temporaryFolder(t)
  const nameOf = async (args: string[], folder: string) => (await loadApp(args, folder)).app.name
  t.equal(await nameOf(['serve', '--app', one], other), 'one')
  t.equal(await nameOf([`--app=${one}`, 'serve'], other), 'one')
  t.equal(await nameOf(['serve', '--app', '.'], other), 'other', 'relative to the current folder')
  t.equal(await nameOf(['serve', '--app', one, '--app', other], empty), 'other', 'the last one')
  t.equal(await nameOf(['serve', '--', '--app', one], other), 'other', 'after -- it is no option')
  t.equal(await nameOf(['serve'], one), 'one')
  t.equal(await nameOf(['serve'], empty), 'shop', 'that of package.json of the program')
  t.strictSame(
    await loadApp(['serve', '--app', 'none'], one),
    { app: bare, folder: null },
    'none is an installation without an app',
  )
  t.equal((await loadApp([], one)).folder, one, 'its migrations are in its folder')
})

t.test('a mistake in an app is named with its file, before anything is served', async (t) => {
  const faults: [text: string, problem: RegExp][] = [
    ['export default 1 +', /gatehouse\.config\.ts cannot be loaded: .*\.$/],
    [`import './missing.ts'`, /cannot be loaded: Cannot find module .*missing\.ts/],
    [
      small('Shop'),
      /has the name Shop, which is not lower-case words with hyphens\. See gatehouse\.config\.ts:\d+\.$/,
    ],
    [
      small('none'),
      /The name none means an installation without an app\. See gatehouse\.config\.ts:\d+\.$/,
    ],
    [
      withJobs(`{ name: 'digest', schedule: '61 * * * *' }`),
      /The job digest of the app has the schedule 61 \* \* \* \*, which is no cron expression: .*61.* See .*gatehouse\.config\.ts:4\.$/,
    ],
    [
      withJobs(`{ name: 'digest', retry: 3 }`),
      /The job digest has the unknown option retry\. Did you mean retries\? See gatehouse\.config\.ts:4\.$/,
    ],
    [
      `import { defineApp } from 'gatehouse'\nexport default defineApp({\n name: 'one',\n resources: [],\n job: [] })`,
      /The app one has the unknown option job\. Did you mean jobs\? See gatehouse\.config\.ts:5\.$/,
    ],
    [
      `import { defineApp } from 'gatehouse'\nexport default defineApp({ name: 'one', resources: [], routes: {\n tenants: [] } })`,
      /The app one has the unknown option routes\.tenants\. Did you mean tenant\? See gatehouse\.config\.ts:3\.$/,
    ],
    [
      `import { defineApp } from 'gatehouse'\nexport default defineApp({ name: 'one', resources: [], pages: [\n{ href: '/app/a', label: 'A', icons: 'list' }] })`,
      /The page \/app\/a has the unknown option icons\. Did you mean icon\? See gatehouse\.config\.ts:3\.$/,
    ],
    [
      `import { defineApp } from 'gatehouse'\nexport default defineApp({ name: 'one', resources: [], plans: { free: {\nlimit: {} } } })`,
      /The plan free has the unknown option limit\. Did you mean limits\? See gatehouse\.config\.ts:3\.$/,
    ],
    [
      withJobs(`{ name: 'digest', schedule: '* * *' }`),
      /it does not have five fields\. See .*gatehouse\.config\.ts:4\.$/,
    ],
    [
      withJobs(`{ name: 'digest' }`, `{ name: 'digest', schedule: '* * * * *' }`),
      /Two jobs of the app have the name digest\. See gatehouse\.config\.ts:\d+\.$/,
    ],
    [withJobs(`{ name: 'Digest' }`), /The job Digest has a name .* See gatehouse\.config\.ts:4\.$/],
    [withJobs(`{ name: 'digest', retries: 51 }`), /The job digest has 51 retries/],
    [
      withJobs(`{ name: 'digest', schedule: '* * * * *', input: {} }`),
      /The job digest has a schedule and an input, but a scheduled run is given none: remove one of them\. See gatehouse\.config\.ts:\d+\.$/,
    ],
    [
      withSettings('PORT'),
      /The setting PORT of the app in .* is that of a setting of Gatehouse, or begins as these do\.$/,
    ],
    [withSettings('OIDC_OWN'), /The setting OIDC_OWN of the app/],
    [
      withSettings('reportHour'),
      /The setting reportHour has a name that is not words in capitals\. See gatehouse\.config\.ts:\d+\.$/,
    ],
    [
      withSettings('REPORT_HOUR', '{}'),
      /The setting REPORT_HOUR has no description\. See gatehouse\.config\.ts:\d+\.$/,
    ],
    [
      withHooks(`'user.deleted': hook`),
      /There is no hook user\.deleted\. A hook is about user\.created, .*\. See gatehouse\.config\.ts:3\.$/,
    ],
    [withHooks(`'billing.': hook`), /There is no hook billing\.\. /],
    [
      withHooks(`'user.left': 'hook'`),
      /The hook user\.left is no function\. Give it one, such as .* See gatehouse\.config\.ts:3\.$/,
    ],
    ['export const app = 1', /gatehouse\.config\.ts exports no app\.$/],
    ['export default {}', /gatehouse\.config\.ts exports no app\.$/],
  ]
  for (const [text, problem] of faults) {
    const folder = await folderWith(t, text)
    await t.rejects(loadApp([], folder), { constructor: OperatorError, message: problem }, text)
  }
  const corrected = await folderWith(t, small('corrected'))
  t.equal((await loadApp([], corrected)).app.name, 'corrected', 'the corrected file')
  const scheduled = await folderWith(t, withJobs(`{ name: 'digest', schedule: '0 7 * * 1-5' }`))
  t.equal((await loadApp([], scheduled)).app.name, 'one', 'the corrected schedule')
  const renamed = await folderWith(t, withSettings('ONE_PORT'))
  t.equal((await loadApp([], renamed)).app.name, 'one', 'the renamed setting')
  await t.rejects(loadApp(['--app', 'elsewhere'], corrected), {
    constructor: OperatorError,
    message: 'The folder elsewhere has no gatehouse.config.ts.',
  })
  await t.rejects(loadApp(['--app=a=b'], corrected), {
    message: 'The folder a=b has no gatehouse.config.ts.',
  })
})

t.test('an app does not name two things alike', async (t) => {
  const page = { href: '/app/a', label: 'A', icon: 'list' } as const
  t.throws(() => defineApp({ name: 'a', resources: [], pages: [page, page] }), {
    message: 'Two pages of the app have the address /app/a.',
  })
  const { app } = await loadApp([], root)
  t.throws(() => defineApp({ ...app, resources: [...app.resources, ...app.resources] }), {
    message: 'Two resources have the name order.',
  })
})

t.test('a mistake in the roles of an app is named with its remedy', async (t) => {
  const { app } = await loadApp([], root)
  const posts = app.resources.filter(({ name }) => name === 'post')
  const declare = (roles: Roles, manages?: string) =>
    defineApp({ name: 'a', resources: posts, roles, ...(manages && { manages }) })
  const all = ['post:read', 'post:write', 'post:delete'] as const
  t.throws(() => declare({ clerk: all }), {
    message:
      'The role admin manages users, but the app has no such role. Add it to roles, or name another one in manages.',
  })
  t.throws(() => declare({ Clerk: all, admin: [] }), {
    message: /^The role Clerk is not lower-case/,
  })
  t.throws(() => declare({ clerk: ['post:read', 'post:write'], admin: [] }), {
    message:
      'The resource post needs post:delete for delete, which no role has. Give it to a role.',
  })
  t.throws(() => declare({ clerk: ['user:manage'], admin: everything }), {
    message: 'The role clerk has the permission user:manage, which only the role admin can have.',
  })
  t.throws(() => declare({ clerk: ['Post:read'], admin: everything }), {
    message: /permission Post:read, which is not of the form resource:action/,
  })
  const rated = posts.map((one) => ({
    ...one,
    fields: { ...one.fields, rate: optional(line(9), { permission: 'post:rate' }) },
  }))
  t.throws(() => defineApp({ name: 'a', resources: rated }), {
    message:
      'The resource post needs post:rate for its field rate, which no role has. Give it to a role.',
  })
  t.ok(defineApp({ name: 'a', resources: rated, roles: { admin: everything } }))
  const closed = posts.map((one) => ({
    ...one,
    own: {
      close: {
        permission: 'post:close',
        async run() {
          throw new Error('not run')
        },
      } as const,
    },
  }))
  t.throws(() => defineApp({ name: 'a', resources: closed, roles: { clerk: all, admin: all } }), {
    message: 'The resource post needs post:close for close, which no role has. Give it to a role.',
  })
  t.ok(defineApp({ name: 'a', resources: closed, roles: { clerk: all, admin: everything } }))
  const seen = posts.map((one) => ({ ...one, visible: haveRole('clerk', 'boss') }))
  t.throws(() => defineApp({ name: 'a', resources: seen, roles: { clerk: all, admin: all } }), {
    message:
      'The resource post is seen by the role boss, which the app does not have. Add it to roles, or name another one.',
  })
  t.ok(declare({ clerk: all, boss: [] }, 'boss'))
  t.ok(declare({ admin: everything }))
})
