import { Prisma } from '#src/db/generated/client.ts'

/*
 * The user and tenant that the scope of the transaction names, for statements that are sent with their
 * entry (`oneStatement`, src/db/sql.ts), before the program knows it. The seal is not verified here:
 * that is the second lock, in the policies of row-level security, and verifying twice would cost more
 * than reading the row. Plain expressions, because PostgreSQL inlines no function that is called with a
 * subselect.
 */

const field = (position: number) =>
  Prisma.sql`nullif(split_part(current_setting('app.scope', true), ':', ${Prisma.raw(String(position))}), '')`

/** The kind of the scope: who asks, or for what. */
export const scopeKind = Prisma.sql`${field(2)}`

/** The user; NULL without a scope. */
export const scopeUserId = Prisma.sql`${field(4)}::bigint`

/** The tenant; NULL without one. */
export const scopeTenantId = Prisma.sql`${field(5)}::uuid`
