import { cp, mkdir, readFile, rename, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { production } from '#test/support/app/production.ts'
import { createUnmigratedDatabase } from '#test/support/database/database.ts'
import { runProgram, temporaryFolder } from '#test/support/processes/program.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

t.test('a mistake in a route of an app is named, and the program ends', async (t) => {
  const folder = await temporaryFolder(t)
  await cp(join(root, 'test/release/package-app'), folder, { recursive: true })
  await mkdir(join(folder, 'node_modules'))
  await symlink(root, join(folder, 'node_modules/gatehouse'))
  await symlink(join(root, 'node_modules/typebox'), join(folder, 'node_modules/typebox'))
  const database = await createUnmigratedDatabase(t)
  const env = { ...production(database), DATABASE_OWNER_URL: database.ownerUrl }
  const migrated = await runProgram(t, ['migrate'], env, { cwd: folder })
  t.equal(await migrated.ended, 0, migrated.output())

  const file = join(folder, 'routes/title.ts')
  const text = await readFile(file, 'utf8')
  const mistakes: Readonly<Record<string, [piece: string, message: string | RegExp]>> = {
    'a route without a rule': [
      `config: { access: { resource: 'note', action: 'read' } },`,
      /^gatehouse: A route of the app in the scope tenant cannot be loaded: GET \/notes\/:id\/title does not state config\.access\. See routes\/title\.ts:\d+\. Name the rule in its options: .*\n$/,
    ],
    'a route without a name': [`operationId: 'getTitle',`, 'operationId'],
    'an answer without words': [
      `, { description: 'The title' }`,
      'GET /notes/:id/title: the schema of the response 200 has neither a description nor a title.',
    ],
  }
  for (const [name, [piece, message]] of Object.entries(mistakes)) {
    await writeFile(file, text.replace(piece, ''))
    const program = await runProgram(t, ['serve'], env, { cwd: folder })
    t.equal(await program.ended, 1, name)
    t.match(program.messages(), message)
  }
  await writeFile(file, text.replace("action: 'read'", "action: 'reed'"))
  const unknown = await runProgram(t, ['generate', '--check'], env, { cwd: folder })
  t.equal(await unknown.ended, 1, 'an unknown rule')
  t.match(
    unknown.messages(),
    /the policy has no rule note:reed\. See routes\/title\.ts:\d+\. Name a resource of the app/,
  )
  await rename(file, `${file}.old`)
  const missing = await runProgram(t, ['serve'], env, { cwd: folder })
  t.equal(await missing.ended, 1, 'a missing file')
  t.match(
    missing.messages(),
    /^gatehouse: A route .*Cannot find module '.*routes\/title\.ts' imported from .*gatehouse\.config\.ts\. .*Create the file, or correct its import\.\n$/,
  )
  await writeFile(file, text)
  const config = join(folder, 'gatehouse.config.ts')
  const app = await readFile(config, 'utf8')
  const failing = `on: { 'billing.charge.failed': async () => {} },`
  await writeFile(config, app.replace('on: hooks,', failing))
  const program = await runProgram(t, ['serve'], env, { cwd: folder })
  t.equal(await program.ended, 1, 'a hook of an event that no provider has')
  t.match(
    program.output(),
    /The hook billing\.charge\.failed of .*gatehouse\.config\.ts:\d+ is about a billing event/,
  )
})

t.test(
  'a resource with a name, table or address of Gatehouse is refused in one line',
  async (t) => {
    const folder = await temporaryFolder(t)
    await mkdir(join(folder, 'node_modules'))
    await symlink(root, join(folder, 'node_modules/gatehouse'))
    const declare = (name: string, plural: string) =>
      writeFile(
        join(folder, 'gatehouse.config.ts'),
        `import { created, defineApp, defineResource, id } from 'gatehouse'
const one = defineResource('${name}', {
  plural: '${plural}',
  scope: 'tenant',
  fields: { id: id(), createdAt: created() },
  actions: { read: { permission: 'post:read' } },
})
export default defineApp({ name: 'acme', resources: [one] })`,
      )
    const run = async (command: string) => {
      const program = await runProgram(t, [command], {}, { cwd: folder })
      return { status: await program.ended, messages: program.messages() }
    }
    const refused: [name: string, table: string, command: string, messages: RegExp][] = [
      [
        'user',
        'people',
        'openapi',
        /^gatehouse: The resource user at .*gatehouse\.config\.ts:2 has the name of one of Gatehouse\. Give the declared resource another name\.\n$/,
      ],
      [
        'login',
        'sessions',
        'migrate',
        /^gatehouse: The resource at .*gatehouse\.config\.ts:3 has the table sessions of Gatehouse\. Give .* another name\.\n$/,
      ],
      [
        'person',
        'events',
        'openapi',
        /^gatehouse: Method 'GET' already declared for route '\/events'\. Give the resource whose table is called so another plural, .*\n$/,
      ],
      [
        'problem',
        'problems',
        'openapi',
        /^gatehouse: The resource problem at .*gatehouse\.config\.ts:2 makes the name Problem of the API description, which another part of it has\. Give the declared resource another name\.\n$/,
      ],
      [
        'reconciliation',
        'billing_reconciliations',
        'openapi',
        /^gatehouse: The resource reconciliation at .*gatehouse\.config\.ts:2 makes the name listBillingReconciliations of the API description, /,
      ],
      [
        'task',
        'references',
        'openapi',
        /^gatehouse: The app in .* cannot be loaded: The resource task has the plural references, a key word of SQL: .* See gatehouse\.config\.ts:2\. /,
      ],
    ]
    for (const [name, table, command, messages] of refused) {
      await declare(name, table)
      t.match(await run(command), { status: 1, messages }, name)
    }
    await declare('login', 'logins')
    t.match(await run('openapi'), { status: 0, messages: '' }, 'another name')
  },
)
