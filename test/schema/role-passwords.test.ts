import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { createOwnerAndDatabase } from '#dev/demo/demo.ts'
import { removePostgres, startPostgres } from '#dev/demo/postgres/start.ts'
import { migrate } from '#src/schema/migrate.ts'
import { verifyDatabase } from '#src/schema/verification/verify.ts'

// With PostgreSQL's most talkative log; letters only, so that no quoting hides them in a statement.
const settings = { fsync: 'off', log_statement: 'all', log_min_duration_statement: '0' }
const passwords = { owner: 'ownerpasswordinclear', app: 'apppasswordinclear', worker: 'naïve Ⅸ' }

t.test('no password of a role reaches the log of the server, and each logs in', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-role-passwords-'))
  await chmod(folder, 0o711)
  const dataDir = join(folder, 'data')
  t.teardown(async () => {
    await removePostgres(dataDir)
    await rm(folder, { recursive: true })
  })
  const log: string[] = []
  const database = await startPostgres({ dataDir, settings, onLog: (line) => log.push(line) })
  t.teardown(() => database.stop())
  const as = (role: keyof typeof passwords) =>
    database.url('gatehouse', { name: role, password: passwords[role] })

  const owner = { name: 'owner', password: passwords.owner }
  await createOwnerAndDatabase(database.url('postgres'), owner)
  const urls = { ownerUrl: as('owner'), url: as('app'), workerUrl: as('worker') }
  t.strictSame((await migrate(urls)).createdRoles, ['app', 'worker'])

  t.strictSame(await verifyDatabase(urls.url, 'web'), [], 'logs in with the password of its URL')
  t.strictSame(await verifyDatabase(urls.workerUrl, 'worker'), [])
  await database.stop()
  const created = log.filter((line) => line.includes('CREATE ROLE'))
  t.ok(created.length >= 3, 'the log has the statements')
  for (const password of Object.values(passwords)) {
    t.notOk(
      log.some((line) => line.includes(password)),
      'and no password',
    )
  }
})
