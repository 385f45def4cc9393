import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { LightMyRequestResponse } from 'fastify'
import t, { type Test } from 'tap'
import { createUser, signIn } from '#dev/testing/people.ts'
import { buildApp } from '#src/app.ts'
import { createLogger } from '#src/observability/logger.ts'
import { build, type TestApp } from '#test/support/app/app.ts'
import { until } from '#test/support/database/until.ts'
import { chosenSeed } from '#test/support/models/seeded.ts'

const runs = Number(process.env.MODEL_RUNS ?? 40)
const seed = chosenSeed()

// Steps of the clock are multiples of 50 s, so that no sum of them is near a limit.
const idleSeconds = 625
const absoluteSeconds = 3_625
/** The last use of a session is stored if the one before is older. */
const touchSeconds = 60

/** What a session is, if the program is right. */
type Session = {
  cookie: string
  user: number
  tenant: number
  idle: number
  age: number
  ended: boolean
}
/** Roles by user and tenant; without one the user is no member. */
type Model = { sessions: Session[]; roles: Map<string, string> }
type World = {
  test: TestApp
  processes: readonly TestApp['app'][]
  users: readonly number[]
  tenants: readonly string[]
}
type Step = fc.AsyncCommand<Model, World>

const nameOf = (user: number, tenant: number) => `${user} ${tenant}`
const isLive = ({ roles }: Model, { user, tenant, idle, age, ended }: Session) =>
  !ended && idle < idleSeconds && age < absoluteSeconds && roles.has(nameOf(user, tenant))

/** A command of a session, by its number; with no session there is nothing to do. */
function ofSession(
  label: string,
  index: number,
  run: (model: Model, world: World, session: Session) => Promise<void>,
): Step {
  const pick = ({ sessions }: Model) => sessions[index % Math.max(sessions.length, 1)]
  return {
    check: (model) => pick(model) !== undefined,
    async run(model, world) {
      const session = pick(model)
      if (session !== undefined) await run(model, world, session)
    },
    toString: () => `${label} (session ${index})`,
  }
}

type Method = 'GET' | 'POST' | 'DELETE'

function send(
  { processes }: World,
  process: number,
  { cookie }: Session,
  [method, url, payload]: readonly [Method, string, object?],
): Promise<LightMyRequestResponse> {
  const app = processes[process]
  if (app === undefined) throw new Error('no such process')
  return app.inject({ method, url, headers: { cookie }, ...(payload && { payload }) })
}

/** A request as the model expects it; it keeps a live session from becoming idle. */
async function visit(
  model: Model,
  world: World,
  process: number,
  session: Session,
): Promise<boolean> {
  const { test, users, tenants } = world
  const live = isLive(model, session)
  const answer = await send(world, process, session, ['GET', '/me'])
  assert.equal(answer.statusCode, live ? 200 : 401)
  if (!live) return false
  const { user, tenant, role } = answer.json()
  assert.deepEqual(
    { user: user.id, tenant: tenant.id, role },
    {
      user: users[session.user],
      tenant: tenants[session.tenant],
      role: model.roles.get(nameOf(session.user, session.tenant)),
    },
  )
  if (session.idle > touchSeconds) {
    const id = decodeURIComponent(session.cookie.slice(4)).split('.')[0]
    await until(
      test.database,
      `SELECT FROM sessions WHERE id_hash = sha256(sha256('${id}'))
         AND last_seen_at > now() - interval '40 s'`,
    )
    session.idle = 0
  }
  return true
}

const visits = (process: number, index: number) =>
  ofSession(`visit at ${process}`, index, async (model, world, session) => {
    await visit(model, world, process, session)
  })

const signsOut = (process: number, index: number) =>
  ofSession(`sign out at ${process}`, index, async (model, world, session) => {
    const live = await visit(model, world, process, session)
    const answer = await send(world, process, session, ['POST', '/auth/logout'])
    assert.equal(answer.statusCode, live ? 204 : 401)
    session.ended ||= live
  })

const endsOthers = (process: number, index: number) =>
  ofSession(`end the others at ${process}`, index, async (model, world, session) => {
    const live = await visit(model, world, process, session)
    const answer = await send(world, process, session, ['DELETE', '/auth/sessions'])
    assert.equal(answer.statusCode, live ? 204 : 401)
    if (!live) return
    for (const other of model.sessions) {
      if (other !== session && other.user === session.user) other.ended = true
    }
  })

const lists = (process: number, index: number) =>
  ofSession(`list at ${process}`, index, async (model, world, session) => {
    const live = await visit(model, world, process, session)
    const answer = await send(world, process, session, ['GET', '/auth/sessions?limit=100'])
    assert.equal(answer.statusCode, live ? 200 : 401)
    if (!live) return
    // A removal from a tenant ends the sessions there; elsewhere they stay.
    const own = model.sessions.filter((one) => one.user === session.user && isLive(model, one))
    assert.equal(answer.json().data.length, own.length)
  })

const switches = (process: number, index: number, tenant: number) =>
  ofSession(`switch to tenant ${tenant} at ${process}`, index, async (model, world, session) => {
    const live = await visit(model, world, process, session)
    const tenantId = world.tenants[tenant]
    const answer = await send(world, process, session, ['POST', '/session/tenant', { tenantId }])
    const isMember = model.roles.has(nameOf(session.user, tenant))
    assert.equal(answer.statusCode, live ? (isMember ? 204 : 404) : 401)
    if (answer.statusCode !== 204) return
    session.ended = true
    const cookie = String(answer.headers['set-cookie']).split(';')[0] ?? ''
    model.sessions.push({ ...session, cookie, tenant, ended: false })
  })

const signsIn = (user: number, tenant: number): Step => ({
  check: ({ roles }) => roles.has(nameOf(user, tenant)),
  async run(model, { test, users, tenants }) {
    const who = { userId: users[user] ?? 0, tenantId: tenants[tenant] ?? null }
    const { cookie } = await signIn(test, who)
    model.sessions.push({ cookie, user, tenant, idle: 0, age: 0, ended: false })
  },
  toString: () => `sign in user ${user} to tenant ${tenant}`,
})

/** Time passes for the sessions of this run: what the database knows of them gets older. */
async function wait(model: Model, { test, users }: World, seconds: number): Promise<void> {
  await test.database.admin.query(
    `UPDATE sessions SET last_seen_at = last_seen_at - make_interval(secs => $1),
         expires_at = expires_at - make_interval(secs => $1) WHERE user_id = ANY ($2)`,
    [seconds, users],
  )
  for (const session of model.sessions) {
    session.idle += seconds
    session.age += seconds
  }
}

const waits = (seconds: number): Step => ({
  check: () => true,
  run: (model, world) => wait(model, world, seconds),
  toString: () => `wait ${seconds} s`,
})

/** Without this a session hardly ever lives until its absolute limit. */
const staysInUse = (process: number, index: number) =>
  ofSession(`stay in use for an hour at ${process}`, index, async (model, world, session) => {
    for (let times = 0; times < 6; times += 1) {
      await wait(model, world, 600)
      await visit(model, world, process, session)
    }
  })

const becomes = (user: number, tenant: number, role: string | null): Step => ({
  check: ({ roles }) => roles.has(nameOf(user, tenant)),
  async run(model, { test, users, tenants }) {
    const values = [users[user], tenants[tenant]]
    const where = 'WHERE user_id = $1 AND tenant_id = $2'
    if (role === null) {
      await test.database.admin.query(`DELETE FROM memberships ${where}`, values)
      model.roles.delete(nameOf(user, tenant))
      for (const session of model.sessions) {
        if (session.user === user && session.tenant === tenant) session.ended = true
      }
    } else {
      await test.database.admin.query(`UPDATE memberships SET role = '${role}' ${where}`, values)
      model.roles.set(nameOf(user, tenant), role)
    }
  },
  toString: () => `user ${user} in tenant ${tenant} becomes ${role ?? 'no member'}`,
})

const process_ = fc.nat(1)
const index = fc.nat(20)
const two = fc.nat(1)
const anyCommands = fc.commands(
  [
    fc.tuple(two, two).map((args) => signsIn(...args)),
    fc.tuple(process_, index).map((args) => visits(...args)),
    fc.tuple(process_, index).map((args) => visits(...args)),
    fc.tuple(process_, index).map((args) => signsOut(...args)),
    fc.tuple(process_, index).map((args) => endsOthers(...args)),
    fc.tuple(process_, index).map((args) => lists(...args)),
    fc.tuple(process_, index, two).map((args) => switches(...args)),
    fc.constantFrom(50, 600, 600, 650).map(waits),
    fc.tuple(process_, index).map((args) => staysInUse(...args)),
    fc.tuple(two, two, fc.constantFrom('viewer', 'admin', null)).map((args) => becomes(...args)),
  ],
  { maxCommands: 40, size: 'max' },
)

async function setUp(t: Test) {
  const limits = {
    SESSION_IDLE_SECONDS: String(idleSeconds),
    SESSION_ABSOLUTE_SECONDS: String(absoluteSeconds),
  }
  const test = await build(t, limits)
  const second = await buildApp(test.config, createLogger('silent'))
  t.teardown(() => second.close())
  return { test, processes: [test.app, second] }
}

/** Two people who are both in two tenants. */
async function createWorld({ test, processes }: Pick<World, 'test' | 'processes'>) {
  const { database } = test
  const people = [await createUser(database), await createUser(database)]
  const users = people.map(({ userId }) => userId)
  const tenants = people.map(({ tenantId }) => tenantId)
  await database.admin.query(
    `INSERT INTO memberships (tenant_id, user_id, role)
     VALUES ($1, $2, 'viewer'), ($3, $4, 'viewer')`,
    [tenants[0], users[1], tenants[1], users[0]],
  )
  const roles = new Map(
    [0, 1].flatMap((user) => [0, 1].map((tenant) => [nameOf(user, tenant), 'viewer'] as const)),
  )
  const model: Model = { sessions: [], roles }
  return { model, real: { test, processes, users, tenants } }
}

t.test('sessions are as in the model, after any commands at two processes', async (t) => {
  t.comment(`TEST_SEED=${seed} MODEL_RUNS=${runs}`)
  const processes = await setUp(t)
  let executed = 0
  await fc.assert(
    fc.asyncProperty(anyCommands, async (commands) => {
      const world = await createWorld(processes)
      await fc.asyncModelRun(() => world, commands)
      executed += world.model.sessions.length
    }),
    { numRuns: runs, seed },
  )
  t.ok(executed > runs, `${executed} sessions`)
})
