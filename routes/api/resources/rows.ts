import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import Type, { type TSchema } from 'typebox'
import { decideWithoutObject, type Subject, toProblem } from '#src/access/policy.ts'
import type { ShortStatement } from '#src/db/database.ts'
import { type Entry, refine } from '#src/db/entry.ts'
import { OwnId } from '#src/http/fields.ts'
import { readList } from '#src/http/lists/pagination.ts'
import { found, readId } from '#src/http/params.ts'
import { explained, means, NoContent, Nullable, problems } from '#src/http/schemas.ts'
import type { Action, Scope } from '#src/resources/kit/define.ts'
import type { Asking } from '#src/resources/kit/fields/field.ts'
import { membersOf } from '#src/resources/kit/fields/keys/member.ts'
import { linksOf } from '#src/resources/kit/links.ts'
import { aWord, pathOf, tagOf, wordOf } from '#src/resources/kit/names.ts'
import { resources } from '#src/resources/running-app.ts'
import { actionsOf } from '#src/rows/actions.ts'
import type { Act } from '#src/rows/before-change.ts'
import { CountedPageOf, furtherOf, queryOf } from '#src/rows/query.ts'
import { isLimited } from '#src/rows/room.ts'
import { bodyFieldOf, paramsOf, routedActionsOf } from '#src/rows/routed-actions.ts'
import { seenBy } from '#src/rows/seen.ts'
import type { Declared, Values } from '#src/rows/table.ts'

type Options = {
  readonly resources: readonly Declared[]
  /** The currency of a new row whose body names none: the setting CURRENCY. */
  readonly currency: string
}
type OfList = { Querystring: Record<string, string> }
type OfOne = { Params: { id: string } }
type OfBody = { Body: Values }

/** The API of the declared resources (src/resources): an action that is not declared has no route. */
const declared: FastifyPluginAsync<Options> = async function declared(app, options) {
  const { resources, currency } = options
  for (const resource of resources) {
    const { create, update, delete: removal } = resource.actions
    list(app, resource)
    listBelow(app, resource)
    if (create !== undefined) post(app, resource, create, currency)
    get(app, resource)
    if (update !== undefined) patch(app, resource, update)
    if (removal !== undefined) remove(app, resource, removal)
    for (const { name, action } of routedActionsOf(resource)) {
      const path = `${pathOf(resource)}/:id/${name}` as `/${string}`
      app.api(`POST ${path}`, action, {
        entryOf: (request) => entryOf(request, resource),
      })
    }
  }
}

function list(app: FastifyInstance, resource: Declared) {
  const { listingBy, list: listRows } = actionsOf(resource)
  const expansion = expansionFor(resource)
  app.get<OfList>(
    pathOf(resource),
    {
      config: { access: { resource: resource.name, action: 'read' } },
      schema: {
        operationId: `list${titled(resource.plural)}`,
        summary: `List ${inWords(resource).all}, newest first`,
        ...described(resource, resource.actions.read),
        querystring: queryOf(resource, expansion.query),
        response: { 200: CountedPageOf(expansion.shape) },
      },
    },
    async (request) => {
      const { expand, count, ...query } = request.query
      const wanted = expansion.read(expand)
      const { page, filter } = readList(query, listingBy(query.sort))
      return app.db.read(expansion.entry(entryOf(request, resource), wanted), (tx, caller) =>
        listRows(tx, caller, page, filter, furtherOf(request.query, wanted)),
      )
    },
  )
}

/** Adds the list of the rows that refer to one, such as `/projects/:id/tasks`, for each reference that is a filter. */
function listBelow(app: FastifyInstance, resource: Declared) {
  const own = linksOf(resources).filter(
    ({ from, to, key }) => from.name === resource.name && to !== from && from.filters.includes(key),
  )
  const firsts = own.filter(({ to }, index) => own.findIndex((one) => one.to === to) === index)
  for (const { key, to } of firsts) {
    const { listingBy, list: listRows } = actionsOf(resource)
    const expansion = expansionFor(resource)
    const { [key]: _, ...rest } = queryOf(resource, expansion.query).properties as Record<
      string,
      TSchema
    >
    delete rest[`${key}[in]`]
    app.get<OfOne & OfList>(
      `${pathOf(to)}/:id${pathOf(resource)}`,
      {
        config: { access: { resource: resource.name, action: 'read' } },
        schema: {
          operationId: `list${to.title}${titled(resource.plural)}`,
          summary: `List the ${resource.plural.replaceAll('_', ' ')} of ${aWord(to)}, newest first`,
          ...described(resource, resource.actions.read),
          params: paramsOf(to),
          querystring: Type.Object(rest, { additionalProperties: false }),
          response: { 200: CountedPageOf(expansion.shape) },
        },
      },
      async (request) => {
        const { expand, count, ...query } = request.query
        const wanted = expansion.read(expand)
        const id = readId(request.params.id)
        const { page, filter } = readList({ ...query, [key]: String(id) }, listingBy(query.sort))
        const parent = actionsOf(to).find(id)
        const entry = mayReadAll(expansion.entry(entryOf(request, resource), wanted), [to.name])
        return app.db.read(entry, async (tx, caller) => {
          const [parents, rows] = await Promise.all([
            tx.sql(parent.statement),
            listRows(tx, caller, page, filter, furtherOf(request.query, wanted)),
          ])
          found(parents[0] ?? null)
          return rows
        })
      },
    )
  }
}

function post(app: FastifyInstance, resource: Declared, action: Action, currency: string) {
  const currencies = Object.keys(resource.fields).filter((key) => resource.fields[key]?.isCurrency)
  const initial = Object.fromEntries(currencies.map((key) => [key, currency]))
  const actions = actionsOf(resource)
  const path = pathOf(resource)
  const expected = {
    ...(resource.scope === 'chain' && problems(404)),
    ...problems('quota-exceeded', ...repeatable(resource), ...refusable(action)),
    ...(isLimited(resource) && problems('limit-reached')),
  }
  app.post<OfBody>(
    path,
    {
      config: {
        ...versioned(resource),
        idempotencyKey: true,
        decidesInWrite: true,
        access: { resource: resource.name, action: 'create' },
      },
      schema: {
        operationId: `create${resource.title}`,
        summary: `Create ${inWords(resource).created}`,
        ...described(resource, action),
        body: newBody(resource, action),
        response: { 201: resource.shape, ...expected },
      },
    },
    async (request, reply) => {
      const body = { ...initial, ...request.body }
      const item = await write(request, resource, {
        short: (caller, now) => actions.short.create(caller, body, now),
        whole: (act) => actions.create(act, body),
      })
      return reply
        .code(201)
        .header('location', `${path}/${Object(item).id}`)
        .send(item)
    },
  )
}

function get(app: FastifyInstance, resource: Declared) {
  const { find } = actionsOf(resource)
  const expansion = expansionFor(resource)
  app.get<OfOne & { Querystring: { expand?: string } }>(
    `${pathOf(resource)}/:id`,
    {
      config: { ...versioned(resource), access: { resource: resource.name, action: 'read' } },
      schema: {
        operationId: `get${resource.title}`,
        summary: `Read ${inWords(resource).one}`,
        ...described(resource, resource.actions.read),
        params: paramsOf(resource),
        ...(expansion.query !== null && {
          querystring: Type.Object(expansion.query, { additionalProperties: false }),
        }),
        response: { 200: expansion.shape },
      },
    },
    async (request) => {
      const expand = expansion.read(request.query.expand)
      const entry = expansion.entry(entryOf(request, resource), expand)
      return found(await app.db.read(entry, find(readId(request.params.id), { expand })))
    },
  )
}

function patch(app: FastifyInstance, resource: Declared, action: Action) {
  const actions = actionsOf(resource)
  app.patch<OfOne & OfBody>(
    `${pathOf(resource)}/:id`,
    {
      config: {
        ...versioned(resource),
        decidesInWrite: true,
        idempotencyKey: true,
        access: { resource: resource.name, action: 'update' },
      },
      schema: {
        operationId: `update${resource.title}`,
        summary: `Change ${inWords(resource).one}`,
        ...described(resource, action),
        params: paramsOf(resource),
        body: changeBody(resource, action),
        response: {
          200: resource.shape,
          ...problems('quota-exceeded', ...repeatable(resource), ...refusable(action)),
        },
      },
    },
    async (request, reply) => {
      const id = readId(request.params.id)
      const { body } = request
      return write(request, resource, {
        short: (caller, now) => actions.short.change(caller, id, body, now, reply.takeIfMatch()),
        whole: (act) =>
          actions.change(act, id, body, (lock) => ifMatch(reply, resource, act, lock)),
      })
    },
  )
}

function remove(app: FastifyInstance, resource: Declared, action: Action) {
  const actions = actionsOf(resource)
  app.delete<OfOne>(
    `${pathOf(resource)}/:id`,
    {
      config: {
        ...versioned(resource),
        decidesInWrite: true,
        access: { resource: resource.name, action: 'delete' },
      },
      schema: {
        operationId: `delete${resource.title}`,
        summary: `Delete ${inWords(resource).one}`,
        ...described(resource, action),
        params: paramsOf(resource),
        response: {
          204: NoContent(`The ${wordOf(resource)} is deleted`),
          ...((isHeld(resource) || action.run !== undefined) && problems('conflict')),
        },
      },
    },
    async (request, reply) => {
      const id = readId(request.params.id)
      await write<unknown>(request, resource, {
        short: (caller, now) => actions.short.delete(caller, id, now, reply.takeIfMatch()),
        whole: (act) => actions.delete(act, id, (lock) => ifMatch(reply, resource, act, lock)),
      })
      return reply.code(204).send(null)
    },
  )
}

/** The code of a repeated key, if the resource has unique keys. */
function repeatable({ unique }: Declared): 'already-exists'[] {
  return unique.length === 0 ? [] : ['already-exists']
}

/** The code of a refusal by its override, if it has one. */
function refusable({ run }: Action): 'conflict'[] {
  return run === undefined ? [] : ['conflict']
}

/** Whether rows that refer to one of the resource keep it from being deleted. */
function isHeld({ name }: Declared): boolean {
  return linksOf(resources).some(({ to, onDelete }) => to.name === name && onDelete === 'restrict')
}

/** `?expand=` of a resource: the rows and members that its rows refer to, in the same response. */
function expansionFor(resource: Declared) {
  const links = linksOf(resources).filter(({ from }) => from.name === resource.name)
  const properties = [
    ...links.map(({ name, to }) => [name, to.shape] as const),
    ...membersOf(resource.fields).map(({ name }) => [name, NamedMember] as const),
  ].map(([name, shape]) => {
    const words = `What \`${name}Id\` names, with \`?expand=${name}\`; null if that is null`
    return [name, Type.Optional(Nullable(means(shape, words)))] as const
  })
  const names = properties.map(([name]) => name)
  const pattern = `^(${names.join('|')})(,(${names.join('|')}))*$`
  const words = `must be one or more of ${names.join(', ')}, separated by commas`
  return {
    query:
      names.length === 0
        ? null
        : {
            expand: Type.Optional(
              Type.String({
                pattern: explained(pattern, words),
                maxLength: 500,
                examples: [names[0]],
                description: `The rows and members it refers to, in the same response: ${names.join(', ')}`,
              }),
            ),
          },
    shape:
      names.length === 0
        ? resource.shape
        : Type.Object(
            { ...resource.shape.properties, ...Object.fromEntries(properties) },
            { title: `Expanded${resource.title}` },
          ),
    read: (text: string | undefined) => (text === undefined ? [] : [...new Set(text.split(','))]),
    /** @throws Problem of its decision for a caller who may not read one of the other rows */
    entry(entry: Entry<Asking>, wanted: readonly string[]): Entry<Asking> {
      if (wanted.length === 0) return entry
      const targets = links.filter(({ name }) => wanted.includes(name)).map(({ to }) => to.name)
      return mayReadAll(entry, targets)
    },
  }
}

const NamedMember = Type.Object(
  {
    id: OwnId,
    name: Nullable(
      Type.String({ description: 'Or the address; null once the person has left the tenant' }),
    ),
  },
  { title: 'NamedMember' },
)

/** The same entry for a caller who may read these resources too. */
function mayReadAll(entry: Entry<Asking>, names: readonly string[]): Entry<Asking> {
  return refine(entry, (caller) => {
    for (const name of names) {
      const question = { caller: caller as Asking & Subject, resource: name }
      const decision = decideWithoutObject({ ...question, action: 'read' })
      if (decision.effect === 'deny') throw toProblem(decision.reason, decision)
    }
    return caller
  })
}

/** The transaction of the caller: an owner's is in no tenant, and a service enters only where it may. */
function entryOf(request: FastifyRequest, { scope, forServices }: Declared): Entry<Asking> {
  if (scope === 'owner') return request.entry
  return forServices ? request.tenantPrincipalEntry : request.tenantEntry
}

type Writing<T> = {
  short(caller: Asking, now: Date): Promise<ShortStatement<T> | null>
  whole(act: Act): Promise<T>
}

function write<T>(request: FastifyRequest, resource: Declared, { short, whole }: Writing<T>) {
  const { server, log } = request
  const now = server.clock.now()
  return server.db.write(entryOf(request, resource), {
    short: (caller) => short(caller, now),
    whole(tx, caller) {
      const refused = (reason: string) => log.info({ reason, userId: caller.userId }, 'refused')
      return whole({ tx, caller, now, refused })
    },
  })
}

/** Compares `If-Match` with the version of the row as the caller sees it. */
async function ifMatch(
  reply: FastifyReply,
  resource: Declared,
  { caller }: Act,
  lock: () => Promise<unknown>,
): Promise<void> {
  await reply.ifMatch(async () => {
    const row = await lock()
    return row === null ? null : Object(seenBy(resource, caller, row))
  })
}

/** A row that nothing changes has no version. */
function versioned({ actions, own, shape }: Declared): { versioned?: TSchema } {
  const { update, delete: removal } = actions
  const changes = [update, removal, ...Object.values(own)].filter((one) => one !== undefined)
  return changes.length === 0 ? {} : { versioned: shape }
}

function described(resource: Declared, { summary, description }: Partial<Action> = {}) {
  const { visible } = resource
  const seen = visible && `A row is seen by ${visible.words}; for others it does not exist.`
  const sentences = [description, seen].filter((one) => one !== undefined)
  return {
    tags: [tagOf(resource)],
    ...(summary !== undefined && { summary }),
    ...(sentences.length > 0 && { description: sentences.join(' ') }),
  }
}

function newBody(resource: Declared, { accepts = [] }: Action) {
  const properties = accepts.map((key) => {
    const { written, initial, isNullable } = bodyFieldOf(resource, key)
    return [key, initial !== undefined || isNullable ? Type.Optional(written) : written]
  })
  return Type.Object(Object.fromEntries(properties), {
    title: `New${resource.title}`,
    additionalProperties: false,
  })
}

/** The body of a change: at least one of the fields that the action accepts. */
function changeBody(resource: Declared, { accepts = [] }: Action) {
  const isOnly = accepts.length === 1
  const properties = accepts.map((key) => {
    const { written, isNullable } = bodyFieldOf(resource, key)
    const value = isNullable ? Type.Union([written, Type.Null()]) : written
    return [key, isOnly ? value : Type.Optional(value)]
  })
  return Type.Object(Object.fromEntries(properties), {
    title: `${resource.title}Change`,
    additionalProperties: false,
    ...(!isOnly && { minProperties: 1 }),
  })
}

/** `BlogPosts` of `blog_posts`. */
function titled(plural: string): string {
  return plural.replaceAll(/(?:^|_)(\w)/g, (_all, letter: string) => letter.toUpperCase())
}

/** Rows in the words of a summary. */
function inWords(resource: Declared): { all: string; one: string; created: string } {
  const plural = resource.plural.replaceAll('_', ' ')
  const a = aWord(resource)
  const words: Record<Scope, { all: string; one: string; created: string }> = {
    owner: {
      all: `your ${plural} in all your tenants`,
      one: `one of your ${plural}`,
      created: `${a} of your own`,
    },
    tenant: {
      all: `the ${plural} of your tenant`,
      one: `${a} of your tenant`,
      created: `${a} in your tenant`,
    },
    chain: {
      all: `the ${plural} of your teams`,
      one: `${a} of one of your teams`,
      created: `${a} in a folder of one of your teams`,
    },
  }
  return words[resource.scope]
}

export default declared
