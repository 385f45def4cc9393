import {
  errorCodes,
  type FastifyInstance,
  type FastifyPluginAsync,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify'
import Type, { type TSchema } from 'typebox'
import type { Caller } from '#src/access/caller.ts'
import type { Tx } from '#src/db/database.ts'
import type { Entry } from '#src/db/entry.ts'
import { oneStatement } from '#src/db/sql.ts'
import { idFilterPattern } from '#src/http/lists/query.ts'
import { found, readId } from '#src/http/params.ts'
import { Problem } from '#src/http/problems.ts'
import { IdParams } from '#src/http/schemas.ts'
import { confirmedField } from '#src/pages/kit/components.ts'
import { html } from '#src/pages/kit/html.ts'
import { doneQuery } from '#src/pages/kit/layout.ts'
import { listPageOf } from '#src/pages/kit/list-page.ts'
import { newRowPage } from '#src/pages/resources/new-row.ts'
import { type Below, belowSection, rowListPage } from '#src/pages/resources/row-list.ts'
import {
  type Choices,
  changeFormOf,
  createFormOf,
  initialTexts,
  type Notice,
  ownFormOf,
  type Paged,
  rowPage,
} from '#src/pages/resources/rows.ts'
import { refusalText } from '#src/pages/sign-in/problem.ts'
import { linksOf } from '#src/resources/kit/links.ts'
import { pagePathOf, wordOf } from '#src/resources/kit/names.ts'
import { resources } from '#src/resources/running-app.ts'
import { actionsOf } from '#src/rows/actions.ts'
import type { Act } from '#src/rows/before-change.ts'
import { mayRead } from '#src/rows/named.ts'
import { findOwnTeams } from '#src/rows/own-teams.ts'
import { queryOf } from '#src/rows/query.ts'
import { memberChoices } from '#src/rows/reads.ts'
import { refusalByPlan } from '#src/rows/room.ts'
import { asksTeams, openActions, routedActionsOf } from '#src/rows/routed-actions.ts'
import type { Declared } from '#src/rows/table.ts'
import { listFoldersInReach } from '#src/teams/folders.ts'

type Options = { readonly resources: readonly Declared[] }
type OfOne = { Params: { id: string } }
type OfForm = { Body: Record<string, string | undefined> }
type OfNotice = { Querystring: { done?: string } }
type PagedResource = Declared & Paged
type ListBelow = { readonly resource: PagedResource; readonly key: string }
type Asked = { readonly accepts?: readonly string[] }
/** A resource with what the page of its rows reads beside the row. */
type ShownRow = {
  readonly resource: PagedResource
  readonly asked: Asked
  readonly lists: readonly ListBelow[]
}

const pageSize = '25'
const folderChoices = 100
const rowChoices = 200
const rowsBelow = 10
const hide = true
const DoneQuery = Type.Object(doneQuery, { additionalProperties: false })
const DeleteForm = Type.Object(confirmedField, { additionalProperties: false })

/** Pages of the declared resources, under the same rules as their API. */
const declared: FastifyPluginAsync<Options> = async function declared(app, { resources }) {
  for (const resource of resources) {
    if (!isPaged(resource)) continue
    list(app, resource)
    create(app, resource)
    const shown = { resource, asked: askedOn(resource), lists: listsBelow(resource) }
    read(app, shown)
    change(app, shown)
    remove(app, resource)
    own(app, resource)
  }
}

function isPaged(resource: Declared): resource is PagedResource {
  return resource.page !== null
}

function list(app: FastifyInstance, resource: PagedResource) {
  const { listWithNames, listingBy } = actionsOf(resource)
  const { parameters, read } = listPageOf(queryOf(resource, null), pageSize)
  const querystring = Type.Object({ ...parameters, ...doneQuery }, { additionalProperties: false })
  app.get<{ Querystring: Record<string, string | undefined> }>(
    pagePathOf(resource),
    { config: accessTo(resource, 'read'), schema: { hide, querystring } },
    async (request, reply) => {
      const { done, ...given } = request.query
      const { page, filter: wanted, used: filter } = read(given, listingBy)
      const [listed, choices] = await app.db.read(entryOf(request, resource), (tx, caller) =>
        Promise.all([
          listWithNames(tx, caller, page, wanted, { sort: filter.sort, count: true }),
          filterChoicesFor(tx, caller, resource, filter),
        ]),
      )
      const { data, count, ...cursors } = listed
      const { viewer } = request
      return reply.sendPage(
        rowListPage(resource, {
          ...{ viewer, cursors, count, filter, choices, done },
          rows: data.map(({ item, names }) => ({ row: Object(item), names })),
        }),
      )
    },
  )
}

/** The folders to choose from; the API takes the others too. */
async function foldersFor(tx: Tx, { userId, tenantId }: Caller, { scope }: PagedResource) {
  if (scope !== 'chain' || tenantId === null) return []
  return listFoldersInReach(tx, { userId, tenantId }, folderChoices)
}

/** Whether an action asks for a row of another resource, or for a member. */
function hasChoices({ fields }: PagedResource, { accepts = [] }: Asked = {}): boolean {
  return accepts.some((key) => ['rows', 'members'].includes(fields[key]?.control?.offers ?? ''))
}

/**
 * The rows and members to choose from, by field; the API takes the others too.
 * @param chosen ids that are offered if they are in reach, by field
 */
async function choicesFor(
  tx: Tx,
  caller: Caller,
  resource: PagedResource,
  { accepts = [] }: Asked = {},
  chosen: Readonly<Record<string, string>> = {},
): Promise<Choices> {
  const chosenIn = (...keys: string[]) =>
    keys.flatMap((key) => (chosen[key] === undefined ? [] : [Number(chosen[key])]))
  const links = linksOf(resources).filter(
    ({ from, key }) => from.name === resource.name && accepts.includes(key),
  )
  const rows = links.map(async ({ key, to }) => {
    return [key, await actionsOf(to).choices(tx, caller, rowChoices, chosenIn(key))]
  })
  const people = accepts.filter((key) => resource.fields[key]?.isPerson)
  const [members, ...others] = await Promise.all([
    people.length === 0 ? [] : memberChoices(tx, caller, rowChoices, chosenIn(...people)),
    ...rows,
  ])
  return Object.fromEntries([...others, ...people.map((key) => [key, members])])
}

/** What the filters of a list offer, with what they are set to. */
async function filterChoicesFor(
  tx: Tx,
  caller: Caller,
  resource: PagedResource,
  used: Readonly<Record<string, string>>,
): Promise<Choices> {
  const { filters } = resource
  const folder = filters.find((key) => resource.fields[key]?.control?.offers === 'folders')
  const [choices, folders] = await Promise.all([
    choicesFor(tx, caller, resource, { accepts: filters }, used),
    folder === undefined ? [] : foldersFor(tx, caller, resource),
  ])
  const named = folders.map(({ id, name, team }) => ({ id, heading: `${name} (${team})` }))
  return folder === undefined ? choices : { ...choices, [folder]: named }
}

function create(app: FastifyInstance, resource: PagedResource) {
  const { create: createRow } = actionsOf(resource)
  const form = createFormOf(resource)
  if (form === null) return
  const path = pagePathOf(resource)
  const opening = {
    config: accessTo(resource, 'create'),
    schema: { hide, querystring: chosenQueryOf(resource) },
  }
  type OfChosen = { Querystring: Record<string, string> }
  app.get<OfChosen>(`${path}/new`, opening, async (request, reply) => {
    const { query } = request
    const read = await app.db.read(entryOf(request, resource), (tx, caller) =>
      Promise.all([
        foldersFor(tx, caller, resource),
        choicesFor(tx, caller, resource, resource.actions.create, query),
        refusalByPlan(tx, resource, caller),
        initialTexts(resource, caller, app.clock.now()),
      ]),
    )
    const [folders, choices, refused, initial] = read
    const { viewer } = request
    const refusal = refused && refusalText(refused)
    const values = { ...initial, ...query }
    return reply.sendPage(newRowPage(resource, form, { viewer, folders, choices, values, refusal }))
  })
  app.post<OfForm>(
    `${path}/new`,
    { config: accessTo(resource, 'create'), schema: { hide, body: form.schema } },
    async (request, reply) => {
      const values = valuesOf(resource, request.body, 'create')
      const location = await app.db.write(entryOf(request, resource), (tx, caller) =>
        request.submitOnce(tx, caller, async () => {
          const row = await createRow(actOf(request, tx, caller), values)
          return { path: noticePath(`${path}/${Object(row).id}`, 'created') }
        }),
      )
      return reply.redirect(location, 303)
    },
  )
}

/** A link to the form can choose the rows that the new one refers to. */
function chosenQueryOf({ fields, actions }: PagedResource) {
  const keys = actions.create?.accepts?.filter((key) => fields[key]?.refersTo !== undefined) ?? []
  const ids = keys.map((key) => [key, Type.Optional(Type.String({ pattern: idFilterPattern }))])
  return Type.Object(Object.fromEntries(ids), { additionalProperties: false })
}

function read(app: FastifyInstance, shown: ShownRow) {
  const { resource } = shown
  app.get<OfOne & OfNotice>(
    `${pagePathOf(resource)}/:id`,
    {
      config: accessTo(resource, 'read'),
      schema: { hide, params: IdParams, querystring: DoneQuery },
    },
    async (request, reply) => sendRow(request, reply, shown, request.query.done),
  )
}

function change(app: FastifyInstance, shown: ShownRow) {
  const { resource } = shown
  const { change: changeRow } = actionsOf(resource)
  const form = changeFormOf(resource)
  if (form === null) return
  app.post<OfOne & OfForm>(
    `${pagePathOf(resource)}/:id`,
    { config: accessTo(resource, 'update'), schema: { hide, params: IdParams, body: form.schema } },
    async (request, reply) => {
      const id = readId(request.params.id)
      const { version, ...entered } = request.body
      const values = valuesOf(resource, entered, 'update')
      try {
        await app.db.write(entryOf(request, resource), (tx, caller) =>
          changeRow(actOf(request, tx, caller), id, values, async (lock) => {
            if (isNewer(await lock(), version)) throw new Problem('precondition-failed')
          }),
        )
      } catch (error) {
        const refusal = refusalOf(error, resource)
        if (refusal === null) throw error
        request.showAgain(textsOf(entered), { reason: refusal.reason })
        return sendRow(request, reply.code(refusal.status), shown, undefined)
      }
      return reply.redirect(noticePath(`${pagePathOf(resource)}/${id}`, 'changed'), 303)
    },
  )
}

function remove(app: FastifyInstance, resource: PagedResource) {
  const { delete: deleteRow } = actionsOf(resource)
  if (resource.actions.delete === undefined) return
  const path = pagePathOf(resource)
  app.post<OfOne>(
    `${path}/:id/delete`,
    { config: accessTo(resource, 'delete'), schema: { hide, params: IdParams, body: DeleteForm } },
    async (request, reply) => {
      const id = readId(request.params.id)
      await app.db.write(entryOf(request, resource), (tx, caller) =>
        deleteRow(actOf(request, tx, caller), id),
      )
      return reply.redirect(noticePath(path, 'deleted'), 303)
    },
  )
}

/** The forms of the app's own actions. */
function own(app: FastifyInstance, resource: PagedResource) {
  for (const { name, action } of routedActionsOf(resource)) {
    const path = pagePathOf(resource) as `/${string}`
    app.form<Caller, typeof IdParams, TSchema, TSchema>(`${path}/:id/${name}`, action, {
      entryOf: (request) => entryOf(request, resource),
      fields: ownFormOf(resource, name).schema,
      params: IdParams,
      read: ({ fields }) => valuesOf(resource, Object(fields), 'update'),
      to: `${path}/:id`,
      notice: 'changed',
    })
  }
}

async function sendRow(
  request: FastifyRequest<OfOne>,
  reply: FastifyReply,
  { resource, asked, lists }: ShownRow,
  done: string | undefined,
) {
  const { findWithNames } = actionsOf(resource)
  const { statement, read } = findWithNames(readId(request.params.id))
  const now = request.server.clock.now()
  const shown = (rows: object[], caller: Caller, teams: readonly number[]) => {
    const row = read(rows, caller)
    return row && { ...row, open: openActions(resource, caller, Object(row.item), { now, teams }) }
  }
  const find = oneStatement(statement, (rows: object[], caller: Caller) => shown(rows, caller, []))
  const entry = entryOf(request, resource)
  const { db } = request.server
  const ofTeams = asksTeams(resource)
  const [row, choices, belows] =
    ofTeams || hasChoices(resource, asked) || lists.length > 0
      ? await db.read(entry, async (tx, caller) => {
          const teams = ofTeams ? findOwnTeams(tx, caller) : []
          const read = async () => shown(await tx.sql(statement), caller, await teams)
          return Promise.all([
            read(),
            choicesFor(tx, caller, resource, asked),
            Promise.all(lists.map((one) => readBelow(tx, caller, one, readId(request.params.id)))),
          ])
        })
      : [await db.read(entry, find), {}, []]
  const { item, names, open } = found(row)
  const { viewer } = request
  const below = html`${belows.flat().map((one) => belowSection(one, viewer))}`
  return reply.sendPage(
    rowPage(resource, { viewer, row: Object(item), names, choices, open, done, below }),
  )
}

/** The resources with pages whose rows refer to those of this one, by a field that is a filter. */
function listsBelow({ name }: PagedResource): ListBelow[] {
  return linksOf(resources).flatMap(({ from, to, key }) =>
    to.name === name && from !== to && from.filters.includes(key) && isPaged(from)
      ? [{ resource: from, key }]
      : [],
  )
}

/** Nothing for a caller who may not read them. */
async function readBelow(
  tx: Tx,
  caller: Caller,
  { resource, key }: ListBelow,
  id: number,
): Promise<Below[]> {
  if (!mayRead(caller, resource)) return []
  const { listWithNames } = actionsOf(resource)
  const page = { limit: rowsBelow, after: null }
  const { data, nextCursor } = await listWithNames(tx, caller, page, { [key]: String(id) })
  const rows = data.map(({ item, names }) => ({ row: Object(item), names }))
  return [{ resource, key, id, rows, isMore: nextCursor !== null }]
}

/** The fields that the forms on the page of a row ask for. */
function askedOn({ actions, own }: PagedResource): Asked {
  const acts = [actions.update, ...Object.values(own)]
  return { accepts: [...new Set(acts.flatMap((action) => action?.accepts ?? []))] }
}

function accessTo({ name }: PagedResource, action: 'read' | 'create' | 'update' | 'delete') {
  return { access: { resource: name, action } } as const
}

/** Pages are for people, in their tenant unless the rows are their own. */
function entryOf(request: FastifyRequest, { scope }: PagedResource): Entry<Caller> {
  return scope === 'owner' ? request.entry : request.tenantEntry
}

function actOf({ server, log }: FastifyRequest, tx: Tx, caller: Caller): Act {
  const refused = (reason: string) => log.info({ reason, userId: caller.userId }, 'refused')
  return { tx, caller, now: server.clock.now(), refused }
}

/** Whether the row changed after the form was rendered. */
function isNewer(row: unknown, version: string | undefined): boolean {
  return row !== null && version !== undefined && Object(row).updatedAt !== version
}

/** Why an edit was not saved, if the person can do something about it; null for any other error. */
function refusalOf(error: unknown, resource: PagedResource) {
  if (!(error instanceof Problem)) return null
  if (error.code === 'precondition-failed') {
    const reason = `Somebody has changed this ${wordOf(resource)} in the meantime. Compare it with your text below, then save again.`
    return { status: 412, reason }
  }
  if (error.code === 'conflict') return { status: 409, reason: error.detail ?? error.message }
  if (error.code !== 'forbidden') return null
  return { status: 403, reason: error.detail ?? 'Your role does not allow this.' }
}

/** What a form has entered, as the API takes it: an empty field is left out, or null in a change. */
function valuesOf(
  { fields }: PagedResource,
  entered: Readonly<Record<string, string | undefined>>,
  action: 'create' | 'update',
): Record<string, unknown> {
  const values = Object.entries(entered).flatMap(([key, text = '']): [string, unknown][] => {
    const { control = null, isNullable } = fields[key] ?? {}
    if (control === null) return []
    if (text.trim() === '') {
      if (isNullable) return action === 'update' ? [[key, null]] : []
      return control.empty === undefined ? [] : [[key, control.empty]]
    }
    const value = control.read(text)
    if (value === undefined) throw refusedValue(key)
    return [[key, value]]
  })
  return Object.fromEntries(values)
}

/** A validation error like those of the schema, so the form shows the rule beside the field. */
function refusedValue(key: string): Error {
  const fault = { keyword: 'refused', instancePath: `/${key}`, schemaPath: '', params: {} }
  const error = new errorCodes.FST_ERR_VALIDATION('')
  return Object.assign(error, { validation: [fault], validationContext: 'body' })
}

/** What was entered, for the form to show again. */
function textsOf(entered: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const pairs = Object.entries(entered).map(([key, text = '']) => [key, text])
  return Object.fromEntries(pairs)
}

function noticePath(path: string, notice: Notice): string {
  return `${path}?done=${notice}`
}

export default declared
