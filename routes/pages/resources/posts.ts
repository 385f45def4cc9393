import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import { actionsOf } from '#src/domain/actions.ts'
import { readList } from '#src/http/lists/pagination.ts'
import { found, readId } from '#src/http/params.ts'
import { Problem } from '#src/http/problems.ts'
import { CursorQuery, IdParams } from '#src/http/schemas.ts'
import { confirmedField } from '#src/pages/kit/components.ts'
import { doneQuery } from '#src/pages/kit/layout.ts'
import {
  isNewer,
  newerVersionText,
  newPostForm,
  type PostNotice,
  postForm,
  postListPage,
  postPage,
  withLineFeeds,
} from '#src/pages/resources/posts.ts'
import { posts as declared } from '#src/resources/posts.ts'

const { create, change, delete: remove, findWithNames, list, listing } = actionsOf(declared)
const pageSize = '25'

const ListQuery = Type.Object(
  {
    ...CursorQuery.properties,
    ...doneQuery,
    department: Type.Optional(newPostForm.schema.properties.department),
  },
  { additionalProperties: false },
)
const PostQuery = Type.Object(doneQuery, { additionalProperties: false })
const DeleteForm = Type.Object(confirmedField, { additionalProperties: false })

type PostRequest = FastifyRequest<{ Params: Static<typeof IdParams> }>

const access = (action: 'read' | 'create' | 'update' | 'delete') =>
  ({ access: { resource: 'post', action } }) as const

/** Pages of the tenant's posts, under the rules of `routes/api/resources/posts.ts`. */
const posts: FastifyPluginAsyncTypebox = async function posts(app) {
  const hide = true
  app.get(
    '/app/posts',
    { config: access('read'), schema: { hide, querystring: ListQuery } },
    async (request, reply) => {
      const { done, department = '', cursor } = request.query
      const { page, filter } = readList(
        {
          limit: pageSize,
          ...(cursor !== undefined && { cursor }),
          ...(department !== '' && { department }),
        },
        listing,
      )
      const { data, ...cursors } = await app.db.read(request.tenantEntry, (tx, caller) =>
        list(tx, caller, page, filter),
      )
      const { viewer } = request
      return reply.sendPage(postListPage({ viewer, posts: data, cursors, department, done }))
    },
  )
  app.post(
    '/app/posts',
    { config: access('create'), schema: { hide, body: newPostForm.schema } },
    async (request, reply) => {
      const { title, body, department } = request.body
      const now = app.clock.now()
      const location = await app.db.write(request.tenantEntry, (tx, author) =>
        request.submitOnce(tx, author, async () => {
          const text = {
            title,
            body: withLineFeeds(body),
            ...(department.trim() !== '' && { department }),
          }
          const post = await create({ tx, caller: author, now }, text)
          return { path: noticePath(`/app/posts/${post.id}`, 'created') }
        }),
      )
      return reply.redirect(location, 303)
    },
  )
  app.get(
    '/app/posts/:id',
    { config: access('read'), schema: { hide, params: IdParams, querystring: PostQuery } },
    async (request, reply) => sendPost(request, reply, request.query.done),
  )
  app.post(
    '/app/posts/:id',
    { config: access('update'), schema: { hide, params: IdParams, body: postForm.schema } },
    async (request, reply) => {
      const id = readId(request.params.id)
      const { version, title, body } = request.body
      const text = { title, body: withLineFeeds(body) }
      const now = app.clock.now()
      let wasNewer = false
      const refusal = await app.db
        .write(request.tenantEntry, (tx, caller) =>
          change({ tx, caller, now }, id, text, async (lock) => {
            const post = await lock()
            wasNewer = post !== null && isNewer(post, version)
            if (wasNewer) throw new Problem('precondition-failed')
          }),
        )
        .then(
          () => null,
          (error) => error,
        )
      if (refusal === null) return redirect(reply, `/app/posts/${id}`, 'changed')
      const isRefused = refusal instanceof Problem && refusal.code === 'forbidden'
      if (!wasNewer && !isRefused) throw refusal
      const reason = wasNewer
        ? newerVersionText('post')
        : (refusal.detail ?? 'Your role does not allow this.')
      request.showAgain(text, { reason })
      return sendPost(request, reply.code(wasNewer ? 412 : 403), undefined)
    },
  )
  app.post(
    '/app/posts/:id/delete',
    { config: access('delete'), schema: { hide, params: IdParams, body: DeleteForm } },
    async (request, reply) => {
      const id = readId(request.params.id)
      const now = app.clock.now()
      await app.db.write(request.tenantEntry, (tx, caller) => remove({ tx, caller, now }, id))
      return redirect(reply, '/app/posts', 'deleted')
    },
  )
}

async function sendPost(request: PostRequest, reply: FastifyReply, done: string | undefined) {
  const { server, params, tenantEntry } = request
  const { item: post, names } = found(
    await server.db.read(tenantEntry, findWithNames(readId(params.id))),
  )
  const shownAuthor = names.authorId ?? nameless(post)
  return reply.sendPage(postPage({ viewer: request.viewer, post, author: shownAuthor, done }))
}

/** An author without a name, in words. */
function nameless({
  authorId,
  authorServiceId,
}: {
  authorId: number | null
  authorServiceId?: string | undefined
}): string {
  if (authorServiceId !== undefined) return 'a former service token'
  return authorId === null ? 'a former member' : `user ${authorId}`
}

/** Post/Redirect/Get, so that a reload does not repeat the action. */
function redirect(reply: FastifyReply, path: string, notice: PostNotice) {
  return reply.redirect(noticePath(path, notice), 303)
}

function noticePath(path: string, notice: PostNotice): string {
  return `${path}?done=${notice}`
}

export default posts
