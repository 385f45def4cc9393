import { createUser, signIn } from '#dev/testing/people.ts'
import { randomApiToken } from '#src/crypto/api-token.ts'
import { randomToken, sha256 } from '#src/crypto/hash.ts'
import { portalCookie } from '#src/http/headers/portal-cookie.ts'
import { addOperator, type TestApp } from '#test/support/app/app.ts'
import { addIdentity } from '#test/support/callers/account.ts'
import { addAppToken } from '#test/support/callers/app-caller.ts'
import { formTokenOf } from '#test/support/callers/portal.ts'
import { type Actor, limitOf } from './actors.ts'
import type { Person } from './expected.ts'
import { addPortalApp, portalAppOf } from './portal-app.ts'

/** Two tenants with a member each, which actors join. */
export type World = {
  test: TestApp
  home: string
  elsewhere: string
  colleague: Member
  stranger: Member
}

export type Member = Person & { userId: number; department: string | null }

/** An actor who has joined a world. */
export type Caller = Actor &
  Person & {
    /** A member of a tenant in which the caller's credential does nothing. */
    foreign: Member
    /** What every form contains that they send. */
    formFields?: object
    /** The headers of their request. @param needed the permission a limited token must name */
    headersFor(needed: string | undefined): Promise<Record<string, string>>
  }

export async function createWorld(test: TestApp): Promise<World> {
  const facts = { role: 'admin', department: 'press' }
  await test.database.admin.query(
    `INSERT INTO app_event_types (name, description) VALUES ('demo', 'x') ON CONFLICT DO NOTHING`,
  )
  const [colleague, stranger] = await Promise.all([
    createUser(test.database, facts),
    createUser(test.database, facts),
  ])
  const member = ({ userId, tenantId }: { userId: number; tenantId: string }): Member => ({
    userId,
    tenantId,
    memberOf: [tenantId],
    department: 'press',
  })
  return {
    test,
    home: colleague.tenantId,
    elsewhere: stranger.tenantId,
    colleague: member(colleague),
    stranger: member(stranger),
  }
}

/**
 * Creates the user, membership and session or token of an actor.
 * @param operators the running program's set of operators
 */
export async function createCaller(
  world: World,
  actor: Actor,
  operators: Set<string>,
): Promise<Caller> {
  const foreign = actor.in === 'elsewhere' ? world.colleague : world.stranger
  if (actor.by === 'anonymous') {
    return {
      ...actor,
      foreign,
      userId: null,
      tenantId: null,
      memberOf: [],
      headersFor: async () => ({}),
    }
  }
  if (actor.by === 'app') return { ...(await createApp(world, actor)), foreign }
  if (actor.by === 'portal') return { ...(await createPortal(world, actor)), foreign }
  if (actor.by === 'service') return { ...(await createService(world, actor)), foreign }
  const person = await createPerson(world, actor)
  const { test } = world
  const { admin } = test.database
  if (actor.operator) {
    await addIdentity(test, person.userId, `operator-${person.userId}`)
    operators.add(`demo:operator-${person.userId}`)
    await addOperator(test.database, `demo:operator-${person.userId}`)
  }
  const headers: Record<string, string> = actor.fromAnotherSite ? otherSite : {}
  await admin.query('UPDATE users SET plan = $1 WHERE id = $2', [actor.plan, person.userId])
  const { cookie } = await signIn(test, person)
  const token = await createTokenOf(world, person, null)
  // The others stay recent, however long the matrix takes.
  const authenticated = actor.authenticatedLongAgo ? '-301 seconds' : '1 day'
  await admin.query(
    'UPDATE sessions SET authenticated_at = now() + $2::interval WHERE user_id = $1',
    [person.userId, authenticated],
  )
  const left = await applyState(world, actor, person)

  const made = new Map<string, Promise<string>>()
  async function headersFor(needed: string | undefined): Promise<Record<string, string>> {
    if (actor.by === 'session') return { ...headers, cookie }
    const limit = limitOf(actor, needed)
    if (limit === null) return { ...headers, authorization: `Bearer ${token}` }
    const key = limit.join()
    const limited = made.get(key) ?? createTokenOf(world, person, limit)
    made.set(key, limited)
    return { ...headers, authorization: `Bearer ${await limited}` }
  }
  return { ...actor, ...person, ...left, foreign, headersFor }
}

/** A service is no person: it has its tenant, and a token for each of its limits. */
async function createService({ test, home, elsewhere }: World, actor: Actor) {
  const tenantId = actor.in === 'home' ? home : elsewhere
  const made = new Map<string, Promise<string>>()
  async function create(limit: readonly string[]): Promise<string> {
    const token = randomApiToken('service')
    if (actor.state === 'ended') return token
    await test.database.admin.query(
      `INSERT INTO service_tokens (last_four, tenant_id, hash, name, permissions, expires_at)
       VALUES ('test', $1, $2, 'an actor', $3, now() + make_interval(secs => $4))`,
      [tenantId, sha256(sha256(token)), limit, actor.state === 'live' ? 86_400 : -1],
    )
    return token
  }
  async function headersFor(needed: string | undefined) {
    const limit = limitOf(actor, needed) ?? []
    const key = limit.join()
    const token = made.get(key) ?? create(limit)
    made.set(key, token)
    return { authorization: `Bearer ${await token}` }
  }
  return { ...actor, userId: null, tenantId, memberOf: [], headersFor }
}

/** The app is in no tenant: its requests name one. */
async function createApp({ test }: World, actor: Actor) {
  const made = new Map<string, Promise<string>>()
  async function create(permissions: readonly string[]): Promise<string> {
    if (actor.state === 'ended') return randomApiToken('app')
    const seconds = actor.state === 'live' ? 86_400 : -1
    return (await addAppToken(test.database, { permissions, seconds })).token
  }
  async function headersFor(needed: string | undefined) {
    const limit = limitOf(actor, needed) ?? []
    const key = limit.join()
    const token = made.get(key) ?? create(limit)
    made.set(key, token)
    return { authorization: `Bearer ${await token}` }
  }
  return { ...actor, userId: null, tenantId: null, memberOf: [], headersFor }
}

/** Somebody who has opened a link; who is to lose the session has it from an app token of their own. */
async function createPortal({ test, home, elsewhere }: World, actor: Actor) {
  const { database } = test
  const tenantId = actor.in === 'home' ? home : elsewhere
  const app = await (actor.state === 'ended' ? addPortalApp(test) : portalAppOf(test))
  const secret = randomToken()
  await database.admin.query(
    `INSERT INTO portal_sessions (hash, tenant_id, app_token_id, opened_at, expires_at)
     VALUES ($1, $2, $3, now(), now() + make_interval(secs => $4))`,
    [sha256(sha256(secret)), tenantId, app.id, actor.state === 'past-its-limit' ? -1 : 3_600],
  )
  if (actor.state === 'ended') {
    await database.admin.query('DELETE FROM app_tokens WHERE id = $1', [app.id])
  }
  const cookie = `${portalCookie}=${secret}`
  const headers = { cookie, ...(actor.fromAnotherSite && otherSite) }
  const formFields = { token: formTokenOf(secret) }
  const headersFor = async () => headers
  return { ...actor, userId: null, tenantId, memberOf: [], headersFor, formFields }
}

const otherSite = { 'sec-fetch-site': 'cross-site', origin: 'https://elsewhere.example' }

async function createPerson(world: World, actor: Actor): Promise<Member> {
  const { home, elsewhere } = world
  const { database } = world.test
  const { role, department } = actor
  if (actor.in === 'nowhere') {
    const { rows } = await database.admin.query<{ id: string }>(
      'INSERT INTO users DEFAULT VALUES RETURNING id',
    )
    return { userId: Number(rows[0]?.id), tenantId: null, memberOf: [], department }
  }
  const tenantId = actor.in === 'home' ? home : elsewhere
  const { userId } = await createUser(database, {
    role,
    ...(department === null ? {} : { department }),
    tenantId,
  })
  if (!actor.memberOfBoth) return { userId, tenantId, memberOf: [tenantId], department }
  await database.admin.query(
    'INSERT INTO memberships (tenant_id, user_id, role, department) VALUES ($1, $2, $3, $4)',
    [tenantId === home ? elsewhere : home, userId, role, department],
  )
  return { userId, tenantId, memberOf: [home, elsewhere], department }
}

async function createTokenOf(
  { test }: World,
  { userId, tenantId }: Member,
  limit: readonly string[] | null,
): Promise<string> {
  const token = randomApiToken()
  if (tenantId === null) return token
  await test.database.admin.query(
    `INSERT INTO api_tokens (last_four, hash, user_id, tenant_id, name, all_permissions, permissions, expires_at)
     VALUES ('test', $1, $2, $3, 'an actor', $4, $5, now() + interval '1 day')`,
    [sha256(sha256(token)), userId, tenantId, limit === null, limit ?? []],
  )
  return token
}

/** Applies the state of the actor at the time of the request. */
async function applyState(
  { test }: World,
  { state }: Actor,
  { userId }: Member,
): Promise<Partial<Person>> {
  const { admin } = test.database
  if (state === 'removed') {
    await admin.query('DELETE FROM memberships WHERE user_id = $1', [userId])
    return { tenantId: null, memberOf: [] }
  }
  const changes = {
    live: [],
    ended: ['DELETE FROM sessions', 'DELETE FROM api_tokens'],
    'past-its-limit': [
      "UPDATE sessions SET expires_at = now() - interval '1 second'",
      "UPDATE api_tokens SET expires_at = now() - interval '1 second'",
    ],
  }
  for (const change of changes[state]) await admin.query(`${change} WHERE user_id = $1`, [userId])
  return {}
}
