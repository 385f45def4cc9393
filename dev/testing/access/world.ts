import type { FastifyInstance } from 'fastify'
import type pg from 'pg'
import { createUser, signIn } from '#dev/testing/people.ts'
import type { Config } from '#src/config/config.ts'
import { randomApiToken } from '#src/crypto/api-token.ts'
import { sha256 } from '#src/crypto/hash.ts'
import { type Actor, limitOf } from './actors.ts'
import type { Person } from './expected.ts'
import type { Contract } from './rules.ts'

/** The app in this process, and a superuser's connections to its database. */
export type Running = {
  readonly app: FastifyInstance
  readonly config: Config
  readonly database: { readonly admin: pg.Pool }
}

/** Two tenants with a member each, which actors join. */
export type World<T extends Running = Running> = {
  test: T
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

/** @param role of the member of each tenant */
export async function createWorld<T extends Running>(test: T, role = 'admin'): Promise<World<T>> {
  const facts = { role, department: 'press' }
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

/** A member of a tenant in which the actor's credential does nothing. */
export function foreignOf(world: World, actor: Actor): Member {
  return actor.in === 'elsewhere' ? world.colleague : world.stranger
}

/**
 * Creates the user, membership and session or token of an actor who is nobody, a person or a service.
 * @param prepare runs before the person signs in
 */
export async function createCaller(
  contract: Contract,
  world: World,
  actor: Actor,
  prepare: (person: Member) => Promise<void> = async () => {},
): Promise<Caller> {
  const foreign = foreignOf(world, actor)
  if (actor.by === 'anonymous') {
    const nobody = { userId: null, tenantId: null, memberOf: [] }
    return { ...actor, foreign, ...nobody, headersFor: async () => ({}) }
  }
  if (actor.by === 'service') return { ...(await createService(contract, world, actor)), foreign }
  const person = await createPerson(world, actor)
  await prepare(person)
  const { test } = world
  const { admin } = test.database
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
  const limited = perLimit((limit) => createTokenOf(world, person, limit))

  async function headersFor(needed: string | undefined): Promise<Record<string, string>> {
    if (actor.by === 'session') return { ...headers, cookie }
    const limit = limitOf(contract, actor, needed)
    return { authorization: `Bearer ${limit === null ? token : await limited(limit)}` }
  }
  return { ...actor, ...person, ...left, foreign, headersFor }
}

/** One token for each limit. */
export function perLimit(create: (limit: readonly string[]) => Promise<string>) {
  const made = new Map<string, Promise<string>>()
  return (limit: readonly string[]): Promise<string> => {
    const key = limit.join()
    const token = made.get(key) ?? create(limit)
    made.set(key, token)
    return token
  }
}

/** A service is no person: it has its tenant, and a token for each of its limits. */
async function createService(contract: Contract, { test, home, elsewhere }: World, actor: Actor) {
  const tenantId = actor.in === 'home' ? home : elsewhere
  const limited = perLimit(async (limit) => {
    const token = randomApiToken('service')
    if (actor.state === 'ended') return token
    await test.database.admin.query(
      `INSERT INTO service_tokens (last_four, tenant_id, hash, name, permissions, expires_at)
       VALUES ('test', $1, $2, 'an actor', $3, now() + make_interval(secs => $4))`,
      [tenantId, sha256(sha256(token)), limit, actor.state === 'live' ? 86_400 : -1],
    )
    return token
  })
  const headersFor = async (needed: string | undefined) => ({
    authorization: `Bearer ${await limited(limitOf(contract, actor, needed) ?? [])}`,
  })
  return { ...actor, userId: null, tenantId, memberOf: [], headersFor }
}

/** Headers of a browser for a request that a page of another site makes. */
export const otherSite = { 'sec-fetch-site': 'cross-site', origin: 'https://elsewhere.example' }

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
