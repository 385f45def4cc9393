import { type ChainScope, inReach, newestInReach } from '#src/access/relations.ts'
import type { Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { idForm, type Page, pageOf } from '#src/http/pagination.ts'

export const documentList = { name: 'documents', forms: [idForm] }

type Row = {
  id: bigint
  tenant_id: string
  folder_id: bigint
  title: string
  body: string
  created_at: Date
  updated_at: Date
}

const columns = Prisma.sql`id, tenant_id, folder_id, title, body, created_at, updated_at`

/** The documents at the end of the caller's chain, newest first. */
export async function listDocuments(tx: Tx, caller: ChainScope, page: Page) {
  const [last] = page.after ?? []
  const before = last === undefined ? null : BigInt(last)
  const rows = await tx.$queryRaw<Row[]>`
    SELECT ${columns} FROM documents
    WHERE ${newestInReach(caller, { before, limit: page.limit + 1 })}
    ORDER BY id DESC`
  return pageOf(rows, page, documentList.name, (row) => [String(row.id)], toDocument)
}

/** A document at the end of the caller's chain, or null: missing and out of reach are the same. */
export async function findDocument(tx: Tx, caller: ChainScope, id: number) {
  const [row] = await tx.$queryRaw<Row[]>`
    SELECT ${columns} FROM documents WHERE ${inReach(caller)} AND id = ${id}`
  return row === undefined ? null : toDocument(row)
}

/**
 * A new document in a folder of a team of the caller's; null when the folder is missing or out of
 * their reach. The folder is locked, so that it keeps its team until the document is in it.
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

/** Changes a document at the end of the caller's chain; null when missing or out of reach. */
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
    tenantId: row.tenant_id,
    folderId: Number(row.folder_id),
    title: row.title,
    body: row.body,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  }
}
