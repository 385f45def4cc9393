import type { Binding } from '#src/crypto/encryption.ts'
import type { SealedTable } from '#src/db/key-rotation.ts'
import type { TokenKind } from './token-revocation.ts'

export type IdentityKey = { provider: string; subject: string }

/** What a provider's token is sealed for: one identity, one purpose. */
export function tokenBinding({ provider, subject }: IdentityKey, kind: TokenKind): Binding {
  return ['provider-token', provider, subject, kind]
}

/** Where provider tokens are kept, for the rotation of keys. */
export const sealedTokenTables: readonly SealedTable[] = [
  {
    table: 'provider_grants',
    byTenant: false,
    key: ['provider', 'provider_user_id'],
    columns: ['access_token', 'refresh_token'],
    facts: [],
    binding: (row, column) => tokenBinding(ownerOf(row), kindOf(column)),
  },
  {
    table: 'token_revocations',
    byTenant: false,
    key: ['id'],
    columns: ['token'],
    facts: ['provider', 'provider_user_id', 'kind'],
    binding: (row) => tokenBinding(ownerOf(row), kindOf(row.kind)),
  },
]

function ownerOf(row: Readonly<Record<string, unknown>>): IdentityKey {
  return { provider: String(row.provider), subject: String(row.provider_user_id) }
}

function kindOf(text: unknown): TokenKind {
  return text === 'access_token' ? 'access_token' : 'refresh_token'
}
