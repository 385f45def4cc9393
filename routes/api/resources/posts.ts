import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { toProblem } from '#src/access/policy.ts'
import { readList } from '#src/http/lists/pagination.ts'
import { CreatedRange, IdFilter, SortBy } from '#src/http/lists/query.ts'
import { found, readId } from '#src/http/params.ts'
import { Problem } from '#src/http/problems.ts'
import { IdParams, NoContent, PageOf, PageQuery, problems } from '#src/http/schemas.ts'
import {
  changePost,
  createPost,
  deletePost,
  findPost,
  listPosts,
  lockPost,
  Post,
  postFields,
  postList,
} from '#src/resources/posts.ts'

const { title: Title, body: Body, department: Department } = postFields

const NewPost = Type.Object(
  { title: Title, body: Body, department: Type.Optional(Department) },
  { title: 'NewPost', additionalProperties: false },
)

const PostChange = Type.Object(
  { title: Type.Optional(Title), body: Type.Optional(Body) },
  { title: 'PostChange', additionalProperties: false, minProperties: 1 },
)

const PostQuery = Type.Object(
  {
    ...PageQuery.properties,
    ...CreatedRange,
    authorId: IdFilter('Written by this user'),
    department: Type.Optional(Department),
    sort: SortBy('createdAt'),
  },
  { additionalProperties: false },
)

const tags = ['posts']

/** Posts belong to a tenant: every query has the id and the tenant of the credential. */
const posts: FastifyPluginAsyncTypebox = async function posts(app) {
  app.get(
    '/posts',
    {
      config: { access: { resource: 'post', action: 'read' } },
      schema: {
        operationId: 'listPosts',
        tags,
        summary: 'List the posts of your tenant, newest first',
        querystring: PostQuery,
        response: { 200: PageOf(Post) },
      },
    },
    async (request) => {
      const { page, filter } = readList(request.query, postList)
      return app.db.read(request.tenantPrincipalEntry, (tx, caller) =>
        listPosts(tx, caller, page, filter),
      )
    },
  )

  app.post(
    '/posts',
    {
      config: {
        versioned: Post,
        idempotencyKey: true,
        access: { resource: 'post', action: 'create' },
      },
      schema: {
        operationId: 'createPost',
        tags,
        summary: 'Create a post in your tenant',
        description: 'Without `department` the post has yours.',
        body: NewPost,
        response: { 201: Post, ...problems('quota-exceeded') },
      },
    },
    async (request, reply) => {
      const { body } = request
      const now = app.clock.now()
      const post = await app.db.write(request.tenantPrincipalEntry, (tx, author) =>
        createPost(tx, author, body, now),
      )
      return reply.code(201).header('location', `/posts/${post.id}`).send(post)
    },
  )

  app.get(
    '/posts/:id',
    {
      config: { versioned: Post, access: { resource: 'post', action: 'read' } },
      schema: {
        operationId: 'getPost',
        tags,
        summary: 'Read a post of your tenant',
        params: IdParams,
        response: { 200: Post },
      },
    },
    async (request) => {
      const id = readId(request.params.id)
      return found(await app.db.read(request.tenantPrincipalEntry, findPost(id)))
    },
  )

  app.patch(
    '/posts/:id',
    {
      config: { versioned: Post, access: { resource: 'post', action: 'update' } },
      schema: {
        operationId: 'updatePost',
        tags,
        summary: 'Change a post of your tenant',
        description:
          'An editor may change posts of their own department, from 09:00:00 until before 17:00:00 UTC; otherwise 403.',
        params: IdParams,
        body: PostChange,
        response: { 200: Post, ...problems('quota-exceeded') },
      },
    },
    async (request, reply) => {
      const { body } = request
      const id = readId(request.params.id)
      const now = app.clock.now()
      const change = await app.db.write(request.tenantPrincipalEntry, async (tx, caller) => {
        await reply.ifMatch(() => lockPost(tx, caller, id))
        return changePost(tx, caller, id, body, now)
      })
      if (change.outcome === 'missing') throw new Problem('not-found')
      if (change.outcome === 'changed') return change.post
      request.log.info({ reason: change.reason, userId: request.enteredCaller?.userId }, 'refused')
      throw toProblem(change.reason)
    },
  )

  app.delete(
    '/posts/:id',
    {
      config: { versioned: Post, access: { resource: 'post', action: 'delete' } },
      schema: {
        operationId: 'deletePost',
        tags,
        summary: 'Delete a post of your tenant',
        params: IdParams,
        response: { 204: NoContent('The post is deleted') },
      },
    },
    async (request, reply) => {
      const id = readId(request.params.id)
      const now = app.clock.now()
      const deleted = await app.db.write(request.tenantPrincipalEntry, async (tx, caller) => {
        await reply.ifMatch(() => lockPost(tx, caller, id))
        return deletePost(tx, caller, id, now)
      })
      if (!deleted) throw new Problem('not-found')
      return reply.code(204).send(null)
    },
  )
}

export default posts
