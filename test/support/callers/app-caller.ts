import { as } from '#dev/testing/people.ts'
import { appPermissions } from '#src/access/policy.ts'
import { randomApiToken } from '#src/crypto/api-token.ts'
import { sha256 } from '#src/crypto/hash.ts'
import type { TestApp } from '#test/support/app/app.ts'
import type { TestDatabase } from '#test/support/database/database.ts'

/** Inserts an app token; resolves to its id and the token itself. */
export async function addAppToken(
  { admin }: { admin: Pick<TestDatabase['admin'], 'query'> },
  {
    permissions = appPermissions,
    seconds = 86_400,
  }: { permissions?: readonly string[]; seconds?: number } = {},
): Promise<{ id: string; token: string }> {
  const token = randomApiToken('app')
  const { rows } = await admin.query<{ id: string }>(
    `INSERT INTO app_tokens (last_four, hash, name, permissions, expires_at)
     VALUES ('test', $1, 'backend', $2, now() + make_interval(secs => $3)) RETURNING id`,
    [sha256(sha256(token)), permissions, seconds],
  )
  return { id: rows[0]?.id ?? '', token }
}

/** The app, with a token of these permissions. */
export async function appCaller(test: TestApp, permissions?: readonly string[]) {
  const made = await addAppToken(test.database, { ...(permissions && { permissions }) })
  return { ...made, use: as(test, { authorization: `Bearer ${made.token}` }) }
}
