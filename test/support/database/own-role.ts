import { randomBytes } from 'node:crypto'
import pg from 'pg'
import type { Test } from 'tap'
import { grantPrivileges, loginOf } from '#src/schema/roles.ts'
import { createDatabase, type TestDatabase } from './database.ts'
import { onCluster } from './raw-sql.ts'

/**
 * A database with its own application role, which the test may change: roles belong to the whole
 * cluster. Both are dropped with the test, and so is a role called `${name}_bypass`.
 */
export async function createDatabaseWithRole(
  t: Test,
): Promise<TestDatabase & { roleName: string }> {
  const roleName = `test_${randomBytes(6).toString('hex')}`
  t.teardown(async () => {
    await onCluster(`DROP ROLE IF EXISTS ${roleName}; DROP ROLE IF EXISTS ${roleName}_bypass`)
  })
  const database = await createDatabase(t)
  const url = new URL(database.url)
  url.username = roleName
  const owner = new pg.Client({ connectionString: database.ownerUrl })
  await owner.connect()
  await grantPrivileges(owner, loginOf(url.href), ['web']).finally(() => owner.end())
  return { ...database, url: url.href, roleName }
}
