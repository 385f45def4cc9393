import { type TokenRow, toToken } from '#src/auth/api-tokens/api-tokens.ts'
import type { Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { newestFirst, newestFirstForms } from '#src/db/keyset.ts'
import { type Page, pageOf } from '#src/http/pagination.ts'

export const tokenList = { name: 'tokens', forms: newestFirstForms }

type ListedRow = TokenRow & { position: string }

/** The owner's tokens in all their tenants, newest first; expired ones until they are cleared away. */
export async function listTokens(tx: Tx, owner: { readonly userId: number }, page: Page) {
  const rows = await tx.$queryRaw<ListedRow[]>`${owned(owner.userId)} AND ${newestFirst(page)}`
  return pageOf(rows, page, tokenList.name, (row) => [row.position, row.id], toToken)
}

/** A token of the owner, or null: missing and not theirs are the same. */
export async function findOwnToken(tx: Tx, owner: { readonly userId: number }, id: string) {
  const [row] = await tx.$queryRaw<ListedRow[]>`${owned(owner.userId)} AND id = ${id}::uuid`
  return row === undefined ? null : toToken(row)
}

function owned(userId: number): Prisma.Sql {
  return Prisma.sql`
    SELECT id, name, permissions, created_at, expires_at, last_used_at,
           (extract(epoch FROM created_at) * 1000000)::bigint::text AS position
    FROM api_tokens WHERE user_id = ${userId}`
}
