import { type Decision, decide, type Subject } from '#src/access/policy.ts'
import type { Database, TenantScope, Tx } from '#src/db/database.ts'
import { refuseLeaver } from '#src/db/errors.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { idForm, olderThan, type Page, pageOf } from '#src/http/pagination.ts'
import { publish } from '#src/webhooks/events/publish.ts'

export const postList = { name: 'posts', forms: [idForm] }

/** The posts of the tenant, newest first. */
export async function listPosts(tx: Tx, scope: TenantScope, page: Page) {
  const rows = await tx.post.findMany({
    where: { tenantId: scope.tenantId, ...olderThan(page) },
    orderBy: { id: 'desc' },
    take: page.limit + 1,
  })
  return pageOf(rows, page, postList.name, (row) => [String(row.id)], toPost)
}

/** A post of the tenant, or null if it is missing or another tenant's. */
export async function findPost(db: Pick<Database, 'readRows'>, scope: TenantScope, id: number) {
  const [row] = await db.readRows<PostRow>(
    scope,
    Prisma.sql`
      SELECT id, tenant_id AS "tenantId", author_id AS "authorId", department, title, body,
             created_at AS "createdAt", updated_at AS "updatedAt"
      FROM posts WHERE tenant_id = ${scope.tenantId}::uuid AND id = ${id}`,
  )
  return row === undefined ? null : toPost(row)
}

/**
 * Creates a post of the author in their tenant, by default in the author's department.
 * @throws Problem `forbidden` if the author has left the tenant meanwhile
 */
export async function createPost(
  tx: Tx,
  author: TenantScope & { readonly userId: number; readonly department: string | null },
  post: { title: string; body: string; department?: string },
  now: Date,
) {
  const row = await tx.post
    .create({
      data: {
        tenantId: author.tenantId,
        authorId: author.userId,
        department: post.department ?? author.department,
        title: post.title,
        body: post.body,
        createdAt: now,
        updatedAt: now,
      },
    })
    .catch(refuseLeaver)
  return toPost(row)
}

export type PostChange =
  | { outcome: 'changed'; post: ReturnType<typeof toPost> }
  | { outcome: 'missing' }
  | { outcome: 'refused'; reason: Decision['reason'] }

/**
 * Changes a post of the tenant if the attribute rule allows it. The row is locked before the
 * decision, so that the decision still holds for the update.
 */
export async function changePost(
  tx: Tx,
  scope: TenantScope,
  caller: Subject,
  id: number,
  change: { title?: string; body?: string },
  now: Date,
): Promise<PostChange> {
  const [object] = await tx.$queryRaw<{ department: string | null }[]>`
    SELECT department FROM posts
    WHERE tenant_id = ${scope.tenantId}::uuid AND id = ${id} FOR UPDATE`
  if (object === undefined) return { outcome: 'missing' }
  const { effect, reason } = decide({ caller, resource: 'post', action: 'update', object, now })
  if (effect !== 'allow') return { outcome: 'refused', reason }
  const [row] = await tx.post.updateManyAndReturn({
    where: { id, tenantId: scope.tenantId },
    data: { ...change, updatedAt: now },
  })
  if (row === undefined) return { outcome: 'missing' }
  const post = toPost(row)
  await publish(tx, scope, { type: 'post.updated', data: post }, now)
  return { outcome: 'changed', post }
}

/** Deletes a post of the tenant. @returns false if it is missing or another tenant's */
export async function deletePost(
  tx: Tx,
  scope: TenantScope,
  id: number,
  now: Date,
): Promise<boolean> {
  const post = await tx.post.findFirst({ where: { id, tenantId: scope.tenantId } })
  const { count } = await tx.post.deleteMany({ where: { id, tenantId: scope.tenantId } })
  if (post === null || count === 0) return false
  await publish(tx, scope, { type: 'post.deleted', data: toPost(post) }, now)
  return true
}

/** A row read by Prisma or by the driver, which returns 64-bit integers as strings. */
type PostRow = Omit<Prisma.PostGetPayload<object>, 'id' | 'authorId'> & {
  id: bigint | string
  authorId: bigint | string | null
}

function toPost(row: PostRow) {
  return {
    id: Number(row.id),
    tenantId: row.tenantId,
    authorId: row.authorId === null ? null : Number(row.authorId),
    department: row.department,
    title: row.title,
    body: row.body,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  }
}
