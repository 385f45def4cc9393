import { AssertionError } from 'node:assert'
import { managingRole, roles } from '#src/access/roles.ts'
import type { Resource } from '#src/resources/kit/define.ts'
import { rulesOf } from '#src/resources/kit/derived.ts'
import { referencesOf } from '#src/resources/kit/fields/keys/reference.ts'
import { pagePathOf, pathOf } from '#src/resources/kit/names.ts'
import { app } from '#src/resources/running-app.ts'
import { answerOf, createWith } from '../answers.ts'
import { as, signIn } from '../people.ts'
import { runningOf, type TestApp, type TestPerson } from '../test-app.ts'
import { type Actor, actor } from './actors.ts'
import type { CollectedRoute } from './collected-routes.ts'
import { entriesOf, gaps, lockedEntries } from './entries.ts'
import { fieldGaps, refuseGuarded, valuesOf, writersOf, writesOfFields } from './guarded-fields.ts'
import { type Kind, numbered, type Owner } from './kind.ts'
import { type Locks, switchLocks } from './locks.ts'
import { runMatrix, type Setup } from './matrix.ts'
import { routesOfResource } from './resource-routes.ts'
import type { RouteRow, RouteRows } from './route-row.ts'
import type { Contract } from './rules.ts'
import {
  type AccessTable,
  checkNames,
  contractOf,
  type ResourceAccess,
  reachesOf,
  type WholeTable,
  withNestedLists,
} from './table.ts'
import { isRefusedInsert, wrongOf } from './verdicts.ts'
import { type Caller, createCaller, createWorld, type Running } from './world.ts'

const lockings: readonly (Locks & { words: string })[] = [
  { words: '', queryScope: true, rowLevelSecurity: true },
  { words: ' (the query scope alone)', queryScope: true, rowLevelSecurity: false },
  { words: ' (row-level security alone)', queryScope: false, rowLevelSecurity: true },
]

const mostLines = 40

/**
 * Asks every route of the app's resources, and its own routes about them, as every kind of caller: nobody, each role,
 * members of another tenant, ended sessions, tokens and service tokens with and without the permission; about what is
 * their own, a colleague's, another tenant's and missing. Every answer must be that of the table, with both locks and,
 * for what the scope decides, with each lock alone. No other test may use the app at the same time.
 * @throws AssertionError with one sentence for each difference, such as `viewer may DELETE /tasks/:id, a colleague’s:
 *   expected 403, got 204`
 */
export async function expectAccess(testApp: TestApp, table: AccessTable): Promise<void> {
  checkNames(table, roles)
  const { running, routes } = runningOf(testApp)
  const own = routesOfApp(routes, table)
  const whole = withNestedLists(table, own)
  const contract = contractOf(whole, own)
  const bodies = new WeakMap<object, Map<string, object>>()
  const rows = rowsOf(whole, own, bodies)
  const ruled = rulesOf(app.resources).map(({ resource, action }) => `${resource}:${action}`)
  const different = [
    ...gaps(contract, own, [...ruled, ...Object.keys(whole.routes ?? {})], rows),
    ...fieldGaps(table),
  ]
  if (different.length > 0) fail(different)
  const wrong: string[] = []
  for (const { words, ...locks } of lockings) {
    const restore = await switchLocks(running, locks)
    try {
      const setup = await setupOf(running, contract, whole, { locks, bodies })
      wrong.push(...(await faultsOf(setup, own, rows, table)).map((one) => one + words))
    } finally {
      await restore()
    }
  }
  if (wrong.length > 0) fail(wrong)
}

function fail(lines: readonly string[]): never {
  const more = lines.length > mostLines ? [`and ${lines.length - mostLines} more`] : []
  throw new AssertionError({
    message: ['The app and the table differ:', ...lines.slice(0, mostLines), ...more].join('\n  '),
  })
}

/** The routes about the app's resources, and those of the table; a route of the app's own states itself. */
function routesOfApp(routes: readonly CollectedRoute[], { routes: named = {} }: AccessTable) {
  const names = app.resources.map(({ name }) => name)
  const derived = new Set(
    app.resources.flatMap((one) => {
      const forms = one.page === null ? undefined : { create: {}, change: {} }
      const every = { read: {}, create: {}, update: {}, delete: {} } as never
      return Object.keys(
        routesOfResource({
          ...{ name: one.name, path: pathOf(one), rules: every, ...(forms && { forms }) },
          own: Object.fromEntries(Object.keys(one.own).map((action) => [action, {}])),
        }),
      )
    }),
  )
  return routes.flatMap((route) => {
    const name = `${route.method === 'HEAD' ? 'GET' : route.method} ${route.url}`
    const stated = Object(route.access).resource
    if (!names.includes(stated) && !Object.hasOwn(named, name)) return []
    if (derived.has(name) && !Object.hasOwn(named, name)) return [route]
    return [{ ...route, access: name, of: `${stated}:${Object(route.access).action}` }]
  })
}

type OwnRoute = ReturnType<typeof routesOfApp>[number]

/** What the matrix knows of each route. */
function rowsOf(
  { resources = {}, routes = {} }: WholeTable,
  own: readonly OwnRoute[],
  bodies: WeakMap<object, Map<string, object>>,
): RouteRows {
  const rows: Record<string, RouteRow> = {}
  for (const resource of app.resources) {
    const access = resources[resource.name]
    if (access === undefined) continue
    const { change } = access
    const example = (caller: Caller) => bodies.get(caller)?.get(resource.name) ?? {}
    const path = pathOf(resource)
    const page = pagePathOf(resource)
    const { actions } = resource
    Object.assign(rows, rowsOfResource(resource, access))
    for (const [route, body] of [
      [`POST ${path}`, example],
      [`PATCH ${path}/:id`, (caller: Caller) => change ?? example(caller)],
      [
        `POST ${page}/new`,
        (caller: Caller) => ({
          ...formOf(resource, actions.create, example(caller)),
          ...submission(),
        }),
      ],
      [
        `POST ${page}/:id`,
        (caller: Caller) => formOf(resource, actions.update, { ...example(caller), ...change }),
      ],
    ] as const) {
      const row = rows[route]
      if (row !== undefined) rows[route] = { ...row, body: (_params, caller) => body(caller) }
    }
  }
  for (const route of own.filter(({ access }) => Object.hasOwn(routes, String(access)))) {
    const name = String(route.access)
    const object = app.resources.find((one) =>
      [pathOf(one), pagePathOf(one)].some((path) => route.url.startsWith(`${path}/:id`)),
    )
    rows[name] = {
      ...{ who: name as RouteRow['who'], answer: 200, body: () => routes[name]?.body ?? {} },
      ...(object && { object: object.name }),
      ...(routes[name]?.shows !== undefined && { shows: routes[name].shows }),
    }
  }
  return Object.fromEntries(
    Object.entries(rows).map(([name, row]) => [name, { ...row, passes: true }]),
  )
}

/** A row in a folder is created with the folder of the example. */
function rowsOfResource(resource: Resource, access: ResourceAccess): RouteRows {
  const { name, page, actions } = resource
  const given = ['read', 'create', 'update', 'delete'].filter(
    (action) => access[action as 'read'] !== undefined,
  )
  const reach = access.reach === 'owner' ? 'owner' : 'tenant'
  const forms = {
    create: actions.create === undefined ? null : {},
    change: actions.update === undefined ? null : {},
  }
  const routes = routesOfResource({
    ...{ name, path: pathOf(resource), ...(page !== null && { forms }) },
    rules: Object.fromEntries(given.map((action) => [action, { reach }])),
    own: Object.fromEntries(
      Object.entries(access.own ?? {}).map(([action, { body = {} }]) => [
        action,
        { body, form: formOf(resource, resource.own[action], body) },
      ]),
    ),
  })
  const bodies: Record<string, object> = {
    [`PATCH ${pathOf(resource)}/:id`]: access.change ?? {},
    ...Object.fromEntries(
      Object.entries(access.own ?? {}).map(([action, { body = {} }]) => [
        `POST ${pathOf(resource)}/:id/${action}`,
        body,
      ]),
    ),
  }
  return Object.fromEntries(
    Object.entries(routes).map(([route, row]) => [
      route,
      { ...row, shows: name, writes: Object.keys(bodies[route] ?? {}) },
    ]),
  )
}

const submission = () => ({ submission: crypto.randomUUID() })

/** What a browser sends for a body: every field of a form that each role gets, as a text. */
function formOf(
  { fields }: Resource,
  { accepts = [] }: { readonly accepts?: readonly string[] } = {},
  body: object = {},
): object {
  const keys = accepts.filter((key) => fields[key]?.permission === undefined)
  return Object.fromEntries(
    keys.map((key) => {
      const value = Object(body)[key] ?? null
      return [key, value === null ? '' : (fields[key]?.control?.text(value) ?? '')]
    }),
  )
}

async function faultsOf(
  setup: Setup,
  own: readonly OwnRoute[],
  rows: RouteRows,
  table: AccessTable,
): Promise<string[]> {
  const all = entriesOf(own, rows)
  const { queryScope, rowLevelSecurity } = setup.locks
  const isWhole = queryScope && rowLevelSecurity
  const locked = () => lockedEntries(setup.contract, all).filter(({ method }) => method !== 'HEAD')
  const entries = isWhole ? [...all, ...writesOfFields(all, table)] : locked()
  // What one lock hides depends on nothing but whose the caller is.
  const callers = actorsOf(table.plan ?? null).filter(
    ({ by, state, fromAnotherSite, limit }) =>
      isWhole ||
      (by !== 'anonymous' && state === 'live' && !fromAnotherSite && !limit.startsWith('all')),
  )
  const { verdicts, before, after } = await runMatrix(setup, entries, { callers })
  const counted = queryScope ? verdicts : verdicts.filter((one) => !isRefusedInsert(one))
  const changed = Object.keys(after).filter((table) => before[table] !== after[table])
  return [...wrongOf(counted), ...changed.map((table) => `a refused request changed ${table}`)]
}

/** The most privileged callers come first: they find a leak soonest. */
function actorsOf(plan: string | null): Actor[] {
  const manager = (name: string, facts: Partial<Actor>) =>
    actor(`${managingRole}${name}`, { role: managingRole, plan, ...facts })
  const token = (name: string, facts: Partial<Actor>) => manager(name, { by: 'token', ...facts })
  const service = (name: string, facts: Partial<Actor>) =>
    actor(`service${name}`, {
      ...{ by: 'service', role: 'none', department: null, limit: 'everything', ...facts },
    })
  return [
    manager('', {}),
    manager(' of another tenant', { in: 'elsewhere' }),
    actor('someone without a session', { by: 'anonymous' }),
    ...roles.filter((role) => role !== managingRole).map((role) => actor(role, { role, plan })),
    manager(' of both tenants, in the other one', { in: 'elsewhere', memberOfBoth: true }),
    manager(' who was removed', { state: 'removed' }),
    manager(' whose session has ended', { state: 'ended' }),
    manager(', from a page of another site,', { fromAnotherSite: true }),
    token('’s token', {}),
    token('’s token limited to what is needed', { limit: 'what is needed' }),
    token('’s token limited to all but what is needed', { limit: 'all but what is needed' }),
    token('’s token of another tenant', { in: 'elsewhere' }),
    service(' token', {}),
    service(' token with all but what is needed', { limit: 'all but what is needed' }),
    service(' token of another tenant', { in: 'elsewhere' }),
  ]
}

async function setupOf(
  running: Running,
  contract: Contract,
  table: AccessTable,
  { locks, bodies }: { locks: Locks; bodies: WeakMap<object, Map<string, object>> },
): Promise<Setup> {
  const create = () => createWorld(running, managingRole)
  const kinds = Object.fromEntries(
    Object.keys(table.resources ?? {}).map((name) => [name, kindOf(name, table)]),
  )
  return {
    ...{ contract, kinds, test: running, locks },
    world: await create(),
    createWorld: create,
    async createCaller(world, actor) {
      const caller = await createCaller(contract, world, actor)
      const { userId, tenantId, memberOf } = caller
      const isMember = userId !== null && tenantId !== null && memberOf.includes(tenantId)
      const stranger = { ...world.stranger, tenantId: world.elsewhere }
      const colleague = { ...world.colleague, tenantId: world.home }
      const other = tenantId === world.elsewhere ? stranger : colleague
      const person = isMember ? { userId, tenantId } : other
      const made = new Map<string, object>()
      for (const [name, access] of Object.entries(table.resources ?? {})) {
        if (access.create === undefined) continue
        const creators = creatorsOf(access)
        made.set(
          name,
          await asCreator(running, creators, person, (one) => exampleOf(running, table, name, one)),
        )
      }
      bodies.set(caller, made)
      return caller
    },
    setTime() {},
  }
}

/** Rows are made as clients make them, by a person whose they are. */
function kindOf(name: string, table: AccessTable): Kind {
  return {
    ...numbered,
    async create({ world, tenantId, owner }) {
      if (!owner.memberOf.includes(tenantId)) return null
      return { id: String(await makeRow(world.test, table, name, { ...owner, tenantId })) }
    },
  }
}

type Maker = Pick<Owner, 'userId'> & { readonly tenantId: string }

/** Creates the row of the example. @returns its id */
async function makeRow(
  running: Running,
  table: AccessTable,
  name: string,
  maker: Maker,
): Promise<number> {
  const resource = app.resources.find((one) => one.name === name)
  const access = table.resources?.[name]
  if (resource === undefined || access === undefined) throw new Error(`No row for ${name}.`)
  const creators = creatorsOf(access)
  const writers = writersOf(access, creators)
  const may = writers.length > 0 ? writers : creators
  return asCreator(running, may, maker, async (person) => {
    const example = await exampleOf(running, table, name, person)
    const values = writers.length > 0 ? valuesOf(resource, access) : {}
    const create = (one: object) => person.send('POST', pathOf(resource), one)
    let { status, body } = await create({ ...example, ...values })
    // The table may be wrong about the fields, which the routes that write them will say.
    if (status === 403) ({ status, body } = await create(example))
    if (status === 201) return body.id
    const reason = JSON.stringify(body.errors ?? body.detail ?? body)
    throw new Error(`POST ${pathOf(resource)} with the example got ${status}: ${reason}`)
  })
}

/** The example, with a row of its own for each reference that a new row needs and the example leaves out. */
async function exampleOf(
  running: Running,
  table: AccessTable,
  name: string,
  person: TestPerson,
): Promise<object> {
  const access = table.resources?.[name]
  if (access === undefined) return {}
  const { example } = access
  const body = typeof example === 'function' ? await example(person) : example
  refuseGuarded(access, body)
  const { fields = {}, actions } = app.resources.find((one) => one.name === name) ?? {}
  const filled: Record<string, unknown> = { ...body }
  for (const { key, name: other, isNullable } of referencesOf(fields)) {
    if (isNullable || other === name || Object.hasOwn(filled, key)) continue
    if (actions?.create?.accepts?.includes(key) !== true) continue
    filled[key] = await makeRow(running, table, other, person)
  }
  return filled
}

function creatorsOf({ create = [] }: ResourceAccess): string[] {
  return [...reachesOf(create).keys()].filter((one) => one !== 'service')
}

/** Runs as the person, who meanwhile has one of the roles that may create. */
async function asCreator<T>(
  running: Running,
  may: readonly string[],
  { userId, tenantId }: Pick<Owner, 'userId'> & { tenantId: string },
  run: (person: TestPerson) => Promise<T>,
): Promise<T> {
  const { admin } = running.database
  const member = [tenantId, userId]
  const { rows } = await admin.query<{ role: string }>(
    'SELECT role FROM memberships WHERE tenant_id = $1 AND user_id = $2',
    member,
  )
  const role = rows[0]?.role ?? ''
  const become = (one: string | undefined) =>
    admin.query('UPDATE memberships SET role = $3 WHERE tenant_id = $1 AND user_id = $2', [
      ...member,
      one,
    ])
  const isLacking = !may.includes(role) && may.length > 0
  if (isLacking) await become(may.at(-1))
  const { cookie } = await signIn(running, { userId, tenantId })
  const send = as(running, { cookie })
  const ask: TestPerson['send'] = async (...request) => answerOf(await send(...request))
  const result = await run({ userId, tenantId, send: ask, create: createWith(ask) })
  if (isLacking) await become(role)
  return result
}
