import type { LightMyRequestResponse } from 'fastify'
import type pg from 'pg'
import t, { type Test } from 'tap'
import type { Entry } from '#dev/testing/access/entries.ts'
import { placeFor } from '#dev/testing/access/objects.ts'
import { isSafe } from '#dev/testing/access/request.ts'
import { as, createUser, signIn } from '#dev/testing/people.ts'
import { endingRules } from '#src/access/policy.ts'
import { requestLockMs } from '#src/db/connections/pool-options.ts'
import { actors } from '#test/access/matrix/actors.ts'
import { entriesOf, isWhole } from '#test/access/matrix/entries.ts'
import { reachOf } from '#test/access/matrix/expected.ts'
import { openProgram, type Setup } from '#test/access/matrix/matrix.ts'
import { kinds } from '#test/access/matrix/objects.ts'
import { requestOf } from '#test/access/matrix/request.ts'
import { createCaller, createWorld, type World } from '#test/access/matrix/world.ts'
import { build, type TestApp } from '#test/support/app/app.ts'
import { createTeam } from '#test/support/callers/chain.ts'
import type { TestDatabase } from '#test/support/database/database.ts'
import { until, untilBlocked } from '#test/support/database/until.ts'

/*
 * Ending a right waits for the writes that use it, which hold its rows. It must win: it is not refused
 * after the time that any other request waits for a lock. The limits are those of production.
 */

const limits = { lockMs: requestLockMs }

/** What gives a right, a line each: a line that is gone is a right that has ended or become narrower. */
const rights = `
  SELECT concat_ws(' ', 'session', id, id_hash, tenant_id) AS line FROM sessions
  UNION ALL SELECT concat_ws(' ', 'token', id, hash, permissions) FROM api_tokens
  UNION ALL SELECT concat_ws(' ', 'service', id, hash, permissions, expires_at) FROM service_tokens
  UNION ALL SELECT concat_ws(' ', 'app', id, hash, permissions, expires_at) FROM app_tokens
  UNION ALL SELECT concat_ws(' ', 'portal', id) FROM portal_sessions
  UNION ALL SELECT concat_ws(' ', 'member', tenant_id, user_id, role, department) FROM memberships
  UNION ALL SELECT concat_ws(' ', 'team', tenant_id, team_id, user_id) FROM team_members
  UNION ALL SELECT concat_ws(' ', 'identity', provider, provider_user_id) FROM oauth_identities
  UNION ALL SELECT concat_ws(' ', 'user', id) FROM users
  UNION ALL SELECT concat_ws(' ', 'tenant', id) FROM tenants WHERE closed_at IS NULL`

/** The locks of a write that has entered, with every credential there is (credentials.sql). */
const inFlight = [
  'app_tokens FOR KEY SHARE',
  'tenants FOR KEY SHARE',
  'memberships FOR SHARE',
  'users FOR KEY SHARE',
  'sessions FOR KEY SHARE',
  'api_tokens FOR KEY SHARE',
  'service_tokens FOR KEY SHARE',
  'portal_sessions FOR KEY SHARE',
]

// Twice as long as any other request waits.
const waitsLong = `
  SELECT FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event_type = 'Lock'
    AND clock_timestamp() - query_start > make_interval(secs => ${(2 * requestLockMs) / 1_000})`

t.test('whatever ends a right waits for the writes that use it', async (t) => {
  const { setup, routes } = await openProgram(
    t,
    { queryScope: true, rowLevelSecurity: true },
    limits,
  )
  const { test } = setup
  const changes = entriesOf(routes).filter((entry) => {
    return !isSafe(entry.method) && entry.row.who.includes(':') && answerOf(entry) < 400
  })
  const waited: string[] = []
  for (const entry of changes) {
    const ends = endingRules.has(entry.row.who)
    const send = await prepare(setup, entry)
    const before = await linesOf(test.database)
    const write = await holdWrite(test.database, ends)
    const answering = send()
    const first = ends
      ? await Promise.race([answering, until(test.database, waitsLong).then(() => 'waits')])
      : await answering
    if (first === 'waits') waited.push(entry.name)
    await write.commit()
    const answer = await answering
    t.equal(answer.statusCode, answerOf(entry), `${entry.name} ${answer.body.slice(0, 200)}`)
    const after = new Set(await linesOf(test.database))
    const gone = before.filter((line) => !after.has(line))
    if (gone.length > 0) {
      t.ok(
        ends,
        `${entry.name} ends a right: ${gone[0]?.split(' ')[0]}, so endingRules needs its rule`,
      )
      if (entry.row.who !== withoutUse)
        t.equal(first, 'waits', `${entry.name}: it waited for the write`)
    }
    if (endsOwn.includes(entry.name)) {
      const next = await test.app.inject({ url: '/me', headers: send.headers })
      t.equal(next.statusCode, 401, `${entry.name}: the next request is refused`)
    }
  }
  t.comment(`${changes.length} changes, ${waited.length} waited: ${waited.join(', ')}`)
  t.ok(waited.length > (isWhole ? 30 : 0), `${waited.length} of ${changes.length} waited`)
})

/**
 * A team is deleted only without folders, by a foreign key, and a write as its member has a document in one of
 * its folders: what ends is a right that no write can be using.
 */
const withoutUse = 'team:delete'

/** Operations after which the caller's own credential is no longer live. */
const endsOwn = [
  'POST /auth/logout',
  'POST /auth/account/delete',
  'POST /app/account/delete',
  'POST /session/tenant',
  'POST /session/tenant/delete',
  'POST /app/tenant/delete',
  'DELETE /tenants/:id/membership',
]

/** The matrix confirms the end of a tenant with another name. */
const deletions: Record<string, number> = {
  'POST /session/tenant/delete': 204,
  'POST /app/tenant/delete': 303,
}

function answerOf({ name, row }: Entry): number {
  return deletions[name] ?? row.answer
}

type Send = (() => Promise<LightMyRequestResponse>) & { headers: Record<string, string> }

async function prepare({ test, operators, setTime }: Setup, entry: Entry): Promise<Send> {
  const world = await createWorld(test)
  const actor = actors.find(({ name }) => name === actorOf(entry))
  if (actor === undefined) throw new Error('There is no such actor.')
  setTime(actor.time)
  const caller = await createCaller(world, actor, operators)
  const kind = entry.row.object === undefined ? undefined : kinds[entry.row.object]
  // Members are ended by somebody else; what belongs to a person, by that person.
  const isOwn = caller.userId !== null && entry.row.object !== 'user'
  const object = kind && (await placeFor(kind, world, caller, isOwn ? 'own' : 'a colleague’s'))
  const request = await requestOf(entry, caller, object ?? null)
  const named = entry.name in deletions ? { payload: { name: await nameOf(world) } } : {}
  const { headers } = request
  const send = () => test.app.inject({ ...request, ...named })
  return Object.assign(send, { headers })
}

function actorOf({ url, row }: Entry): string {
  if (url.startsWith('/portal/')) return 'portal session'
  const names: Record<string, string> = { app: 'app that may do everything', operator: 'operator' }
  return names[reachOf(row)] ?? 'admin, at night'
}

async function nameOf({ test, home }: World): Promise<string> {
  const { rows } = await test.database.admin.query('SELECT name FROM tenants WHERE id = $1', [home])
  return rows[0]?.name
}

async function linesOf({ admin }: TestDatabase): Promise<string[]> {
  const { rows } = await admin.query<{ line: string }>(rights)
  return rows.map(({ line }) => line)
}

/** A write in flight with every right there is. */
async function holdWrite({ admin }: TestDatabase, holds = true) {
  const client: pg.PoolClient = await admin.connect()
  await client.query('BEGIN')
  for (const rows of holds ? inFlight : []) await client.query(`SELECT FROM ${rows}`)
  return {
    async commit() {
      await client.query('COMMIT')
      client.release()
    },
  }
}

t.test('signing out wins over writes without a gap', async (t) => {
  const test = await build(t, {}, { limits })
  const user = await createUser(test.database, { role: 'admin' })
  const session = await signIn(test, user)
  const send = as(test, session)
  let isOut = false
  const statuses = new Set<number>()
  const write = async () => {
    while (!isOut)
      statuses.add((await send('POST', '/posts', { title: 'a', body: 'b' })).statusCode)
  }
  const writing = Promise.all(Array.from({ length: 6 }, write))
  await until(test.database, 'SELECT FROM posts OFFSET 20')
  const out = await send('POST', '/auth/logout')
  isOut = true
  t.equal(out.statusCode, 204)
  t.equal((await send('GET', '/me')).statusCode, 401)
  await writing
  t.strictSame(
    [...statuses].filter((status) => ![201, 401, 503].includes(status)),
    [],
  )
})

t.test('a crowd that ends rights leaves connections to others', async (t) => {
  const test = await build(t, { DATABASE_POOL_SIZE: '4' }, { limits })
  const { database } = test
  const user = await createUser(database, { role: 'admin' })
  const colleague = as(
    test,
    await signIn(test, await createUser(database, { ...user, role: 'admin' })),
  )
  const other = as(test, await signIn(test, await createUser(database, { role: 'admin' })))
  const sessions = await Promise.all(Array.from({ length: 30 }, () => signIn(test, user)))
  const write = await holdWrite(database)
  const ending = Promise.all(sessions.map((session) => as(test, session)('POST', '/auth/logout')))
  await untilBlocked(database)
  const statuses: number[] = []
  for (let round = 0; round < 5; round += 1) {
    const answers = await Promise.all(
      [colleague, other].flatMap((send) => [
        send('GET', '/posts'),
        send('POST', '/posts', { title: 'a', body: 'b' }),
        send('POST', '/teams', { name: `team ${round}` }),
      ]),
    )
    statuses.push(...answers.map(({ statusCode }) => statusCode))
  }
  t.strictSame([...new Set(statuses)].toSorted(), [200, 201], 'others go on')
  await write.commit()
  const ended = new Set((await ending).map(({ statusCode }) => statusCode))
  t.strictSame([...ended], [204])
  const { rows } = await database.admin.query('SELECT FROM sessions WHERE user_id = $1', [
    user.userId,
  ])
  t.equal(rows.length, 0)
})

/** Two requests that end each other's rights; both must be answered, none with 503. */
const circles: Record<
  string,
  (test: TestApp) => Promise<(() => Promise<LightMyRequestResponse>)[]>
> = {
  'two sessions of one person end each other': async (test) => {
    const user = await createUser(test.database)
    const sessions = [await signIn(test, user), await signIn(test, user)]
    return sessions.map((session) => () => as(test, session)('DELETE', '/auth/sessions'))
  },
  'two admins remove each other': async (test) => {
    const [one, two, sendOne, sendTwo] = await twoAdmins(test)
    return [
      () => sendOne('DELETE', `/users/${two.userId}`),
      () => sendTwo('DELETE', `/users/${one.userId}`),
    ]
  },
  'two admins demote each other': async (test) => {
    const [one, two, sendOne, sendTwo] = await twoAdmins(test)
    return [
      () => sendOne('PATCH', `/users/${two.userId}`, { role: 'viewer' }),
      () => sendTwo('PATCH', `/users/${one.userId}`, { role: 'viewer' }),
    ]
  },
  'two admins remove each other from a team': async (test) => {
    const [one, two, sendOne, sendTwo] = await twoAdmins(test)
    const team = await createTeam(test.database, one.tenantId, [one.userId, two.userId])
    return [
      () => sendOne('DELETE', `/teams/${team}/members/${two.userId}`),
      () => sendTwo('DELETE', `/teams/${team}/members/${one.userId}`),
    ]
  },
  'one session leaves a tenant while another switches to it': async (test) => {
    const { database } = test
    const user = await createUser(database, { role: 'admin' })
    const host = await createUser(database, { role: 'admin' })
    await database.admin.query(
      `INSERT INTO memberships (tenant_id, user_id, role) VALUES ($1, $2, 'viewer')`,
      [host.tenantId, user.userId],
    )
    const sessions = [await signIn(test, user), await signIn(test, user)].map((one) =>
      as(test, one),
    )
    return [
      async () => (sessions[0] as Sender)('DELETE', `/tenants/${host.tenantId}/membership`),
      async () => (sessions[1] as Sender)('POST', '/session/tenant', { tenantId: host.tenantId }),
      async () => (sessions[1] as Sender)('DELETE', '/auth/sessions'),
    ]
  },
}

type Sender = ReturnType<typeof as>

async function twoAdmins(test: TestApp) {
  const one = await createUser(test.database, { role: 'admin' })
  const two = await createUser(test.database, { role: 'admin', tenantId: one.tenantId })
  const [sendOne, sendTwo] = [as(test, await signIn(test, one)), as(test, await signIn(test, two))]
  return [one, two, sendOne, sendTwo] as const
}

t.test('two that end each other’s rights are both answered', async (t: Test) => {
  const test = await build(t, {}, { limits })
  for (const [name, prepare] of Object.entries(circles)) {
    for (let round = 0; round < 3; round += 1) {
      const requests = await prepare(test)
      const answers = await Promise.all(requests.map((send) => send()))
      const statuses = answers.map(({ statusCode }) => statusCode)
      t.ok(
        statuses.some((status) => status < 300),
        `${name}: ${statuses}`,
      )
      t.notOk(
        statuses.some((status) => status >= 500),
        `${name}: ${statuses}`,
      )
    }
  }
})
