import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { findFreePort } from '#dev/demo/postgres/free-port.ts'
import { removePostgres } from '#dev/demo/postgres/start.ts'
import { copyTree } from '#test/mutation/lane.ts'
import { runProgram, temporaryFolder } from '#test/support/processes/program.ts'

/* What keeps the demo from starting: each fault is named as it is, and is gone after its remedy. */

const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')

t.test('the demo does not start until its fault is mended', async (t) => {
  const cwd = await temporaryFolder(t)
  const tree = join(cwd, 'tree')
  await copyTree(root, tree)
  const dataDir = join(cwd, '.data/postgres')

  async function serve(settings: Record<string, string> = {}) {
    const env = { PORT: '0', ADMIN_PORT: '0', ...settings }
    return runProgram(t, ['serve'], env, { cwd, entry: join(tree, 'dev/cli.ts') })
  }
  async function refused(settings: Record<string, string> = {}): Promise<string> {
    const program = await serve(settings)
    t.equal(await program.ended, 1)
    t.equal(program.messages().trim().split('\n').length, 1, 'one line')
    t.notMatch(program.messages(), /[Pp]ort \d+/, 'no port is to blame')
    return program.messages()
  }
  async function addMigration(name: string): Promise<void> {
    await mkdir(join(tree, 'prisma/migrations', name))
    const sql = 'SELECT 1'
    await writeFile(join(tree, 'prisma/migrations', name, 'migration.sql'), sql)
  }
  async function starts(): Promise<void> {
    const program = await serve()
    await program.says(/Ctrl-C stops everything/)
    program.child.kill('SIGTERM')
    t.equal(await program.ended, 0, program.output())
  }

  const port = String(await findFreePort())
  for (const [file, remedy] of [
    ['dev/demo/provider.css', /provider\.css'\. Restore it: `git status` lists/],
    ['dev/demo/provider-pages.ts', /provider-pages\.ts' .*Run `npm ci`, or restore the file/],
  ] as const) {
    await rename(join(tree, file), join(tree, 'kept'))
    for (const settings of [{}, { DEMO_PROVIDER_PORT: port }]) {
      t.match(await refused(settings), remedy)
    }
    await rename(join(tree, 'kept'), join(tree, file))
  }

  const secrets = join(cwd, '.data/secrets.json')
  await mkdir(join(cwd, '.data'), { recursive: true })
  await writeFile(secrets, '{"session": "x')
  t.match(await refused(), /secrets\.json is damaged: .* Delete the folder \.data/)
  await addMigration('29990101000000_first')
  await rm(join(cwd, '.data'), { recursive: true })
  await starts()

  // As after `gatehouse migrate dev` whose migration was deleted, and another one.
  await rm(join(tree, 'prisma/migrations/29990101000000_first'), { recursive: true })
  await addMigration('29990102000000_second')
  t.match(await refused(), /does not know \(29990101000000_first\), .* delete the folder \.data\)/)
  await removePostgres(dataDir)
  await rm(join(cwd, '.data'), { recursive: true })
  await starts()

  await rm(join(dataDir, 'password'))
  t.match(await refused(), /password of the embedded PostgreSQL, is missing\. Delete \S+postgres/)
  await removePostgres(dataDir)
  await starts()
  t.ok(JSON.parse(await readFile(secrets, 'utf8')).session, 'with the secrets of before')
})
