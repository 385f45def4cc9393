import { mkdir, readdir, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import pg from 'pg'
import t, { type Test } from 'tap'
import { removePostgres } from '#dev/demo/postgres/start.ts'
import { startTemporaryPostgres } from '#dev/demo/postgres/temporary.ts'
import { forgetful } from '#dev/testing/forgetful.ts'
import { urlsOf } from '#dev/testing/logins.ts'
import { keepDatabase } from '#dev/testing/test-database.ts'
import { readDefinitions } from '#src/schema/definitions.ts'
import { migrate } from '#src/schema/migrate.ts'
import { readMigrations } from '#src/schema/migrations/applied.ts'
import { temporaryFolder } from '#test/support/processes/program.ts'

t.test('a migrated database is kept, and each run has a copy', async (t) => {
  const cache = await openCache(t)
  const [kept = '', again] = await Promise.all([keepDatabase(cache), keepDatabase(cache)])
  t.equal(again, kept, 'two runs at once')
  t.same(await readdir(cache), [basename(kept)], 'and one of theirs is kept')
  t.equal(await keepDatabase(cache), kept)

  for (const run of ['first', 'second']) {
    const postgres = await startTemporaryPostgres(forgetful, kept)
    t.teardown(() => postgres.stop())
    const urls = urlsOf(postgres.url('postgres'), 'gatehouse')
    t.match(await migrate(urls), { applied: [], defined: false }, `${run}: nothing is left to do`)
    const client = new pg.Client({ connectionString: urls.superuserUrl })
    await client.connect()
    const { rows } = await client.query('SELECT count(*)::int AS tenants FROM tenants')
    t.same(rows, [{ tenants: 0 }], `${run}: nothing of another run`)
    await client.query(`INSERT INTO tenants (id, name) VALUES (gen_random_uuid(), 'Acme')`)
    await client.end()
  }
})

t.test('another migration has a database of its own', async (t) => {
  const cache = await openCache(t)
  const unused = join(cache, 'postgres-of-last-month')
  await symlink(join(cache, 'nothing'), unused)
  const [first, ...rest] = await readMigrations()
  if (first === undefined) throw new Error('there is no migration')
  const definitions = await readDefinitions()
  const changed = { ...first, sql: `${first.sql}\n-- changed` }
  const kept = await keepDatabase(cache, { migrations: [first, ...rest], definitions })
  t.same(await readdir(cache), [basename(String(kept))], 'what cannot be used is removed')
  t.not(await keepDatabase(cache, { migrations: [changed, ...rest], definitions }), kept)
  t.equal((await readdir(cache)).length, 2, 'both are kept: another branch may be tested next')
  await utimes(String(kept), 0, 0)
  const digests = { ...definitions.digests, policies: 'changed' }
  await keepDatabase(cache, {
    migrations: [first, ...rest],
    definitions: { ...definitions, digests },
  })
  t.notOk((await readdir(cache)).includes(basename(String(kept))), 'until a week has passed')
})

t.test('without a folder for it, there is none', async (t) => {
  const file = join(await temporaryFolder(t), 'file')
  await writeFile(file, '')
  t.equal(await keepDatabase(join(file, 'cache')), undefined)
})

/** An empty folder, removed with what its links lead to. */
async function openCache(t: Test): Promise<string> {
  const cache = join(await temporaryFolder(t), 'cache')
  await mkdir(cache)
  t.teardown(async () => {
    for (const name of await readdir(cache)) await removePostgres(join(cache, name))
    await rm(cache, { recursive: true })
  })
  return cache
}
