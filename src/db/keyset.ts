import { Prisma } from '#src/db/generated/client.ts'
import type { Page } from '#src/http/pagination.ts'

/** Forms of a cursor: `created_at` in microseconds since 1970, and the id. */
export const newestFirstForms = [/^\d{1,16}$/, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/]

/**
 * The end of a statement that lists rows with `created_at` and a uuid `id`, newest first, and one
 * more than fits on the page. Microseconds, because a JavaScript date would cut them off.
 */
export function newestFirst({ limit, after }: Page): Prisma.Sql {
  const [micros, id] = after ?? []
  const behind =
    micros === undefined || id === undefined
      ? Prisma.sql`true`
      : Prisma.sql`(created_at, id) <
          ('epoch'::timestamptz + ${micros}::bigint * interval '1 microsecond', ${id}::uuid)`
  return Prisma.sql`${behind} ORDER BY created_at DESC, id DESC LIMIT ${limit + 1}`
}
