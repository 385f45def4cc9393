import { type ChainScope, firstInReach, inReach } from '#src/access/relations.ts'
import { scopeTenantId, scopeUserId } from '#src/access/scope.ts'
import type { Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { type TimeRange, timeConditions } from '#src/db/keyset.ts'
import { oneStatement } from '#src/db/sql.ts'
import { idForm, isReadInReverse, type Page, pageOf } from '#src/http/lists/pagination.ts'
import { Line, Text } from '#src/http/schemas.ts'

/** What a person or program writes of a document. */
export const documentFields = { title: Line(200), body: Text(50_000) }

export const documentList = { name: 'documents', forms: [idForm] }

/** A row read by Prisma or by the driver, which returns 64-bit integers as strings. */
type Row = Omit<Prisma.DocumentGetPayload<object>, 'id' | 'folderId' | 'teamId'> & {
  id: string
  folderId: string
}

const columns = Prisma.sql`
  id, tenant_id AS "tenantId", folder_id AS "folderId", title, body, created_at AS "createdAt",
  updated_at AS "updatedAt"`

export type DocumentFilter = TimeRange & { readonly folderId?: string | undefined }

/** The documents the caller can reach, newest first. */
export async function listDocuments(
  tx: Tx,
  caller: ChainScope,
  page: Page,
  { folderId, ...range }: DocumentFilter = {},
) {
  const [last] = page.after ?? []
  const inReverse = isReadInReverse(page)
  const direction = inReverse ? Prisma.sql`ASC` : Prisma.sql`DESC`
  const beyond = inReverse ? Prisma.sql`>` : Prisma.sql`<`
  const conditions = [
    Prisma.sql`true`,
    ...(folderId === undefined ? [] : [Prisma.sql`folder_id = ${BigInt(folderId)}`]),
    ...timeConditions(Prisma.sql`created_at`, range),
    ...(last === undefined ? [] : [Prisma.sql`id ${beyond} ${BigInt(last)}`]),
  ]
  const matching = Prisma.join(conditions, ' AND ')
  const rows = await tx.sql<Row>`
    SELECT ${columns} FROM documents
    WHERE ${firstInReach(caller, { matching, direction, limit: page.limit + 1 })}
    ORDER BY id ${direction}`
  return pageOf(rows, page, documentList.name, (row) => [String(row.id)], toDocument)
}

/**
 * A document the caller can reach, or null. Entry and statement are one packet, so tenant and user
 * come from the scope.
 */
export function findDocument(id: number) {
  return oneStatement(
    Prisma.sql`
      SELECT ${columns} FROM documents
      WHERE tenant_id = ${scopeTenantId} AND id = ${id} AND team_id IN (
        SELECT m.team_id FROM team_members m
        WHERE m.tenant_id = ${scopeTenantId} AND m.user_id = ${scopeUserId})`,
    ([row]: Row[]) => (row === undefined ? null : toDocument(row)),
  )
}

/** A document the caller can reach, locked until the transaction ends; null if there is none. */
export async function lockDocument(tx: Tx, caller: ChainScope, id: number) {
  const [row] = await tx.sql<Row>`
    SELECT ${columns} FROM documents WHERE ${inReach(caller)} AND id = ${id} FOR UPDATE`
  return row === undefined ? null : toDocument(row)
}

/**
 * Creates a document in a folder of one of the caller's teams; null if they cannot reach the folder.
 * The folder is locked so that it keeps its team until the document is inserted.
 */
export async function createDocument(
  tx: Tx,
  caller: ChainScope,
  document: { folderId: number; title: string; body: string },
  now: Date,
) {
  const { folderId, title, body } = document
  const [row] = await tx.sql<Row>`
    SELECT ${columns} FROM create_document(
      ${caller.tenantId}::uuid, ${caller.userId}, ${folderId}, ${title}, ${body}, ${now})`
  return row === undefined ? null : toDocument(row)
}

/** Changes a document the caller can reach; null if there is no such document. */
export async function changeDocument(
  tx: Tx,
  caller: ChainScope,
  id: number,
  change: { title?: string; body?: string },
  now: Date,
) {
  const { title = null, body = null } = change
  const [row] = await tx.sql<Row>`
    UPDATE documents
    SET title = coalesce(${title}, title), body = coalesce(${body}, body),
        updated_at = ${now}::timestamptz
    WHERE ${inReach(caller)} AND id = ${id}
    RETURNING ${columns}`
  return row === undefined ? null : toDocument(row)
}

function toDocument(row: Row) {
  return {
    id: Number(row.id),
    tenantId: row.tenantId,
    folderId: Number(row.folderId),
    title: row.title,
    body: row.body,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  }
}
