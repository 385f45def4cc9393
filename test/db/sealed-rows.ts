import { createUser } from '#dev/testing/people.ts'
import { tokenBinding } from '#src/auth/provider-tokens/store.ts'
import { type EncryptionKeys, seal } from '#src/crypto/encryption.ts'
import { keyOf } from '#test/auth/provider-tokens/world.ts'
import type { TestDatabase } from '#test/support/database/database.ts'

export const oldRing: EncryptionKeys = [keyOf('old')]
export const ring: EncryptionKeys = [keyOf('new'), keyOf('old')]
export const onlyNew: EncryptionKeys = [keyOf('new')]

/** Inserts `count` token rows and half as many revocations, encrypted with the old key. */
export async function createGrants(database: TestDatabase, count: number, keys = oldRing) {
  const { userId } = await createUser(database)
  for (let number = 0; number < count; number += 1) {
    const subject = `subject ${number}`
    const owner = { provider: 'acme', subject }
    const sealed = (kind: 'access_token' | 'refresh_token') =>
      seal(keys, `${kind} of ${subject}`, tokenBinding(owner, kind))
    await database.admin.query(
      `INSERT INTO oauth_identities (provider, provider_user_id, user_id, issuer)
       VALUES ('acme', $1, $2, 'x')`,
      [subject, userId],
    )
    await database.admin.query(
      `INSERT INTO provider_grants (provider, provider_user_id, access_token, refresh_token, scope)
       VALUES ('acme', $1, $2, $3, 'openid')`,
      [subject, sealed('access_token'), number % 3 === 0 ? null : sealed('refresh_token')],
    )
    if (number % 2 === 0) {
      await database.admin.query(
        `INSERT INTO token_revocations (provider, provider_user_id, user_id, token, kind, status)
         VALUES ('acme', $1, $2, $3, 'refresh_token', 'superseded')`,
        [subject, userId, sealed('refresh_token')],
      )
    }
  }
}
