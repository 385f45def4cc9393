import { type ChainScope, inReach, newestInReach } from '#src/access/relations.ts'
import type { Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { idForm, type Page, pageOf } from '#src/http/pagination.ts'

export const documentList = { name: 'documents', forms: [idForm] }

type Row = Omit<Prisma.DocumentGetPayload<object>, 'teamId'>

const columns = Prisma.sql`
  id, tenant_id AS "tenantId", folder_id AS "folderId", title, body, created_at AS "createdAt",
  updated_at AS "updatedAt"`

/** The documents the caller can reach, newest first. */
export async function listDocuments(tx: Tx, caller: ChainScope, page: Page) {
  const [last] = page.after ?? []
  const before = last === undefined ? null : BigInt(last)
  const rows = await tx.$queryRaw<Row[]>`
    SELECT ${columns} FROM documents
    WHERE ${newestInReach(caller, { before, limit: page.limit + 1 })}
    ORDER BY id DESC`
  return pageOf(rows, page, documentList.name, (row) => [String(row.id)], toDocument)
}

/** A document the caller can reach, or null. */
export async function findDocument(tx: Tx, caller: ChainScope, id: number) {
  const [row] = await tx.$queryRaw<Row[]>`
    SELECT ${columns} FROM documents WHERE ${inReach(caller)} AND id = ${id}`
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
  const [row] = await tx.$queryRaw<Row[]>`
    INSERT INTO documents (tenant_id, folder_id, team_id, title, body, created_at, updated_at)
    SELECT tenant_id, id, team_id, ${title}, ${body}, ${now}::timestamptz, ${now}::timestamptz
    FROM folders WHERE ${inReach(caller)} AND id = ${folderId}
    FOR KEY SHARE OF folders
    RETURNING ${columns}`
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
  const [row] = await tx.$queryRaw<Row[]>`
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
