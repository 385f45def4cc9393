import type { TestApp } from '#test/support/app/app.ts'

/** Moves the authentication time of every session into the past. */
export async function authenticatedAgo({ database }: TestApp, seconds: number): Promise<void> {
  await database.admin.query(
    'UPDATE sessions SET authenticated_at = now() - make_interval(secs => $1)',
    [seconds],
  )
}

/**
 * Adds another identity to the user, of a provider on this machine.
 * @param verifiedEmail in lower case; null if it came without a verified address
 */
export async function addIdentity(
  { database }: Pick<TestApp, 'database'>,
  userId: number,
  subject: string,
  provider = 'demo',
  verifiedEmail: string | null = null,
): Promise<void> {
  await database.admin.query(
    `INSERT INTO oauth_identities (provider, provider_user_id, user_id, issuer, verified_email)
     VALUES ($1, $2, $3, 'http://127.0.0.1:1', $4)`,
    [provider, subject, userId, verifiedEmail],
  )
}

/** Adds an identity to the user, as the one that all their sessions were signed in with. */
export async function signedInBy(
  test: Pick<TestApp, 'database'>,
  userId: number,
  subject: string,
): Promise<void> {
  await addIdentity(test, userId, subject)
  await test.database.admin.query('UPDATE sessions SET provider_user_id = $1 WHERE user_id = $2', [
    subject,
    userId,
  ])
}

/** The user of each identity, by `provider:subject`. */
export async function owners({
  database,
}: Pick<TestApp, 'database'>): Promise<Record<string, number>> {
  const { rows } = await database.admin.query<{ key: string; user_id: string }>(
    `SELECT provider || ':' || provider_user_id AS key, user_id FROM oauth_identities ORDER BY 1`,
  )
  return Object.fromEntries(rows.map(({ key, user_id }) => [key, Number(user_id)]))
}
