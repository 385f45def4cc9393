import type { Queryable } from '#src/db/system-database.ts'

/** Who somebody is at a provider. */
export type Identity = { provider: string; subject: string }

/**
 * The identities of the session's user at the provider the session was signed in with; those at
 * other providers prove nothing about this session.
 */
export async function findSessionIdentities(
  plane: Queryable,
  sessionId: string,
): Promise<Identity[]> {
  const { rows } = await plane.query<Identity>({
    name: 'find-session-identities',
    text: `
      SELECT i.provider, i.provider_user_id AS subject
      FROM sessions s JOIN oauth_identities i ON i.user_id = s.user_id AND i.provider = s.provider
      WHERE s.id = $1`,
    values: [sessionId],
  })
  return rows
}
