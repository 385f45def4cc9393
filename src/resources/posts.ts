import Type from 'typebox'
import type { TenantPrincipal, TenantScope } from '#src/access/caller.ts'
import { type Decision, decide, type Subject } from '#src/access/policy.ts'
import { scopeTenantId } from '#src/access/scope.ts'
import type { Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { type TimeRange, within } from '#src/db/keyset.ts'
import { oneStatement } from '#src/db/sql.ts'
import { byId, idForm, type Page, pageOf } from '#src/http/lists/pagination.ts'
import { Id, Line, Nullable, Text, Time, Uuid } from '#src/http/schemas.ts'
import { publish } from '#src/webhooks/events/publish.ts'
import { eventKind } from '#src/webhooks/events/types.ts'

export const Post = Type.Object(
  {
    id: Id,
    tenantId: Uuid,
    authorId: Nullable(
      Type.Integer({
        ...Id,
        description: 'null after the author has left, or if it was a service',
      }),
    ),
    authorServiceId: Type.Optional(
      Type.String({
        ...Uuid,
        description: 'The service token that created it; missing if it was a person',
      }),
    ),
    department: Nullable(Type.String()),
    title: Type.String(),
    body: Type.String(),
    createdAt: Time,
    updatedAt: Time,
  },
  { title: 'Post' },
)

/** What a person or program writes of a post. */
export const postFields = { title: Line(200), body: Text(50_000), department: Line(100) }

export const postUpdated = eventKind('post.updated', 'A post was changed', Post)
export const postDeleted = eventKind(
  'post.deleted',
  'A post was deleted; `data` is its last state',
  Post,
)

export const postList = { name: 'posts', forms: [idForm] }

export type PostFilter = TimeRange & {
  readonly authorId?: string | undefined
  readonly department?: string | undefined
}

/** The posts of the tenant, newest first. */
export async function listPosts(
  tx: Tx,
  scope: TenantScope,
  page: Page,
  { authorId, department, ...range }: PostFilter = {},
) {
  const { where, ...order } = byId(page)
  const createdAt = within(range)
  const rows = await tx.post.findMany({
    where: {
      tenantId: scope.tenantId,
      ...(authorId !== undefined && { authorId: BigInt(authorId) }),
      ...(department !== undefined && { department }),
      ...(createdAt && { createdAt }),
      ...where,
    },
    ...order,
  })
  return pageOf(rows, page, postList.name, (row) => [String(row.id)], toPost)
}

const columns = Prisma.sql`
  id, tenant_id AS "tenantId", author_id AS "authorId", author_service_id AS "authorServiceId", department, title, body,
  created_at AS "createdAt", updated_at AS "updatedAt"`

/**
 * A post of the caller's tenant, or null if it is missing or another tenant's. Entry and statement are
 * one packet, so the tenant comes from the scope.
 */
export function findPost(id: number) {
  return oneStatement(
    Prisma.sql`
      SELECT ${columns} FROM posts WHERE tenant_id = ${scopeTenantId} AND id = ${id}`,
    ([row]: PostRow[]) => (row === undefined ? null : toPost(row)),
  )
}

/** The same with the name of its author, or the address; null if there is neither any more. */
export function findPostWithAuthor(id: number) {
  return oneStatement(
    Prisma.sql`
      SELECT ${columns}, coalesce(
        (SELECT s.name FROM service_tokens s
         WHERE s.tenant_id = posts.tenant_id AND s.id = posts.author_service_id),
        (SELECT coalesce(u.name, u.email) FROM users u
         JOIN memberships m ON m.user_id = u.id AND m.tenant_id = posts.tenant_id
         WHERE u.id = posts.author_id)) AS author
      FROM posts WHERE tenant_id = ${scopeTenantId} AND id = ${id}`,
    ([row]: (PostRow & { author: string | null })[]) =>
      row === undefined ? null : { post: toPost(row), author: row.author },
  )
}

/** A post of the tenant, locked until the transaction ends; null if it is missing or another tenant's. */
export async function lockPost(tx: Tx, { tenantId }: TenantScope, id: number) {
  const [row] = await tx.sql<PostRow>`
    SELECT ${columns} FROM posts WHERE tenant_id = ${tenantId}::uuid AND id = ${id} FOR UPDATE`
  return row === undefined ? null : toPost(row)
}

/**
 * Creates a post of the author in their tenant, by default in the author's department.
 * @throws Problem `forbidden` if the author has left the tenant meanwhile
 */
export async function createPost(
  tx: Tx,
  author: Pick<TenantPrincipal, 'userId' | 'tenantId' | 'department'>,
  post: { title: string; body: string; department?: string },
  now: Date,
) {
  const row = await tx.post.create({
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
  return toPost(row)
}

export type PostChange =
  | { outcome: 'changed'; post: ReturnType<typeof toPost> }
  | { outcome: 'missing' }
  | { outcome: 'refused'; reason: Decision['reason'] }

/**
 * Changes a post of the caller's tenant if the attribute rule allows it. The row is locked before
 * the decision, so that the decision still holds for the update.
 */
export async function changePost(
  tx: Tx,
  caller: Subject & TenantScope,
  id: number,
  change: { title?: string; body?: string },
  now: Date,
): Promise<PostChange> {
  const [object] = await tx.sql<{ department: string | null }>`
    SELECT department FROM posts
    WHERE tenant_id = ${caller.tenantId}::uuid AND id = ${id} FOR UPDATE`
  if (object === undefined) return { outcome: 'missing' }
  const { effect, reason } = decide({ caller, resource: 'post', action: 'update', object, now })
  if (effect !== 'allow') return { outcome: 'refused', reason }
  const [row] = await tx.post.updateManyAndReturn({
    where: { id, tenantId: caller.tenantId },
    data: { ...change, updatedAt: now },
  })
  if (row === undefined) return { outcome: 'missing' }
  const post = toPost(row)
  await publish(tx, caller, { kind: postUpdated, data: post }, now)
  return { outcome: 'changed', post }
}

/**
 * Deletes a post of the tenant; the event carries the text that was deleted.
 * @returns false if it is missing or another tenant's
 */
export async function deletePost(
  tx: Tx,
  scope: TenantScope,
  id: number,
  now: Date,
): Promise<boolean> {
  const [post] = await tx.sql<PostRow>`
    DELETE FROM posts WHERE tenant_id = ${scope.tenantId}::uuid AND id = ${id} RETURNING ${columns}`
  if (post === undefined) return false
  await publish(tx, scope, { kind: postDeleted, data: toPost(post) }, now)
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
    ...(row.authorServiceId !== null && { authorServiceId: row.authorServiceId }),
    department: row.department,
    title: row.title,
    body: row.body,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  }
}
