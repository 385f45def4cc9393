import type { Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { newestFirst, newestFirstForms } from '#src/db/keyset.ts'
import { type Page, pageOf } from '#src/http/pagination.ts'

export const sessionList = { name: 'sessions', forms: newestFirstForms }

/** Whose sessions, which of them is asking, and after how many idle seconds one has ended. */
export type SessionOwner = { userId: number; sessionId: string; idleSeconds: number }

type SessionRow = {
  id: string
  user_agent: string | null
  ip: string | null
  created_at: Date
  last_seen_at: Date
  position: string
}

/** The owner's live sessions, newest first. */
export async function listSessions(tx: Tx, owner: SessionOwner, page: Page) {
  const rows = await tx.$queryRaw<SessionRow[]>`
    ${live(owner)} AND ${newestFirst(page)}`
  return pageOf(
    rows,
    page,
    sessionList.name,
    (row) => [row.position, row.id],
    (row) => toSession(row, owner),
  )
}

/** A live session of the owner, or null: missing, ended and not theirs are the same. */
export async function findOwnSession(tx: Tx, owner: SessionOwner, id: string) {
  const [row] = await tx.$queryRaw<SessionRow[]>`${live(owner)} AND id = ${id}::uuid`
  return row === undefined ? null : toSession(row, owner)
}

function live({ userId, idleSeconds }: SessionOwner): Prisma.Sql {
  return Prisma.sql`
    SELECT id, user_agent, ip, created_at, last_seen_at,
           (extract(epoch FROM created_at) * 1000000)::bigint::text AS position
    FROM sessions
    WHERE user_id = ${userId} AND expires_at > now()
      AND last_seen_at > now() - make_interval(secs => ${idleSeconds})`
}

function toSession(row: SessionRow, owner: SessionOwner) {
  return {
    id: row.id,
    current: row.id === owner.sessionId,
    createdAt: row.created_at.toISOString(),
    lastSeenAt: row.last_seen_at.toISOString(),
    userAgent: row.user_agent,
    ip: row.ip,
  }
}
