import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import type { Entry } from '#dev/testing/access/entries.ts'
import type { Placed } from '#dev/testing/access/kind.ts'
import { placeFor } from '#dev/testing/access/objects.ts'
import { comparable, isSafe } from '#dev/testing/access/request.ts'
import type { Caller } from '#dev/testing/access/world.ts'
import { createUser } from '#dev/testing/people.ts'
import { actors } from '#test/access/matrix/actors.ts'
import { rules } from '#test/access/matrix/contract.ts'
import { entriesOf, isWhole } from '#test/access/matrix/entries.ts'
import { openProgram, type Setup } from '#test/access/matrix/matrix.ts'
import { kinds } from '#test/access/matrix/objects.ts'
import { send } from '#test/access/matrix/request.ts'
import { type Revocation, revocationsOf } from '#test/access/matrix/revocations.ts'
import { currentTransaction, digestOf } from '#test/access/matrix/trace.ts'
import { createCaller, createWorld } from '#test/access/matrix/world.ts'
import { build, type TestApp } from '#test/support/app/app.ts'
import { appCaller } from '#test/support/callers/app-caller.ts'
import { createFolder, createTeam } from '#test/support/callers/chain.ts'
import { createTestPost } from '#test/support/callers/objects.ts'
import { serviceOwner } from '#test/support/callers/service-owner.ts'
import { owner } from '#test/support/callers/token-owner.ts'
import { createDatabase } from '#test/support/database/database.ts'

/*
 * A request that carries a body is looked at twice: early, which refuses before the body is read, and
 * in the transaction that writes. Here the right is taken away between the two.
 */

const bothLocks = { queryScope: true, rowLevelSecurity: true }

// Without a provider these fail before they write, with and without the right.
const withoutWrite = (entry: Entry) => entry.row.answer === 503

t.test('the digest shows each kind of write, also of rows from before', async (t) => {
  const database = await createDatabase(t)
  const { userId } = await createUser(database)
  const since = await currentTransaction(database)
  const writes = {
    insert: 'INSERT INTO users DEFAULT VALUES',
    update: `UPDATE users SET name = 'x' WHERE id = ${userId}`,
    delete: `DELETE FROM users WHERE id = ${userId}`,
  }
  for (const [name, sql] of Object.entries(writes)) {
    const before = await digestOf(database, since)
    t.equal(await digestOf(database, since), before, `${name}: nothing is written`)
    await database.admin.query(sql)
    t.not(await digestOf(database, since), before, name)
  }
})

t.test('a right that is taken away after the early check is not used', async (t) => {
  const { setup, routes } = await openProgram(t, bothLocks)
  const { test } = setup
  const writes = entriesOf(routes).filter((entry) => {
    return !isSafe(entry.method) && entry.row.who.includes(':') && !withoutWrite(entry)
  })
  let cases = 0
  for (const entry of writes) {
    for (const revocation of revocationsOf(entry)) {
      cases += 1
      const since = await currentTransaction(test.database)
      const { caller, object } = await prepare(setup, entry, revocation)
      const { answer, before, after } = await revokeMeanwhile(caller, revocation, since, () =>
        send(test, entry, caller, object),
      )
      const name = `${entry.name}, ${revocation.actor}: ${revocation.name}`
      if (!revocation.refusals.includes(answer.statusCode)) {
        t.fail(`${name}: ${answer.statusCode} ${answer.body}`)
      }
      if (before !== after) t.fail(`${name}: something was written: ${difference(before, after)}`)
      const fresh = await send(test, entry, caller, object)
      t.strictSame(comparable(answer), comparable(fresh), name)
    }
  }
  t.ok(cases > (isWhole ? 200 : 0), `${writes.length} routes, ${cases} cases`)

  /** Takes the right away when the early check has passed. */
  async function revokeMeanwhile<Answer>(
    caller: Caller,
    { sql }: Revocation,
    since: string,
    run: () => Promise<Answer>,
  ) {
    const { read } = test.app.db
    let before: string | undefined
    const revoking: typeof read = async (entry, work) => {
      const facts = await read(entry, work)
      if (work === undefined && before === undefined) {
        await test.database.admin.query(sql, [idOf(caller)])
        before = await digestOf(test.database, since)
      }
      return facts
    }
    Object.assign(test.app.db, { read: revoking })
    const answer = await run().finally(() => Object.assign(test.app.db, { read }))
    if (before === undefined) throw new Error('The request was not looked at early.')
    return { answer, before, after: await digestOf(test.database, since) }
  }
})

t.test('a right that another process has taken away is not used', async (t) => {
  const { setup, routes } = await openProgram(t, bothLocks)
  const { test } = setup
  const onHint = new Set(
    routes.filter((one) => one.decidesInWrite).map(({ method, url }) => `${method} ${url}`),
  )
  const writes = entriesOf(routes).filter(({ name }) => onHint.has(name))
  let cases = 0
  for (const entry of writes) {
    for (const revocation of revocationsOf(entry)) {
      cases += 1
      const since = await currentTransaction(test.database)
      const { caller, object } = await prepare(setup, entry, revocation)
      // This process has seen the credential, and what it has seen would let the request through.
      const seen = await caller.headersFor(rules[entry.row.who]?.token)
      await test.app.inject({ url: '/me', headers: seen })
      await test.database.admin.query(revocation.sql, [idOf(caller)])
      const before = await digestOf(test.database, since)
      const { answer, wasLetThrough } = await watchWrites(() => send(test, entry, caller, object))
      const name = `${entry.name}, ${revocation.actor}: ${revocation.name}`
      if (!wasLetThrough) t.fail(`${name}: the handler was not reached`)
      if (!revocation.refusals.includes(answer.statusCode)) {
        t.fail(`${name}: ${answer.statusCode} ${answer.body}`)
      }
      const after = await digestOf(test.database, since)
      if (before !== after) t.fail(`${name}: something was written: ${difference(before, after)}`)
      const fresh = await send(test, entry, caller, object)
      t.strictSame(comparable(answer), comparable(fresh), name)
    }
  }
  t.ok(cases > (isWhole ? 30 : 0), `${writes.length} routes, ${cases} cases`)

  async function watchWrites<Answer>(run: () => Promise<Answer>) {
    const { write } = test.app.db
    let wasLetThrough = false
    const watched: typeof write = (entry, work) => {
      wasLetThrough = true
      return write(entry, work)
    }
    Object.assign(test.app.db, { write: watched })
    const answer = await run().finally(() => Object.assign(test.app.db, { write }))
    return { answer, wasLetThrough }
  }
})

/** Whose right the SQL of a revocation takes away: a person, or in the portal a tenant. */
function idOf({ userId, tenantId }: Caller): number | string | null {
  return userId ?? tenantId
}

async function prepare(setup: Setup, entry: Entry, revocation: Revocation) {
  const { test } = setup
  const world = await createWorld(test)
  const actor = actors.find(({ name }) => name === revocation.actor)
  if (actor === undefined) throw new Error(`There is no actor ${revocation.actor}.`)
  setup.setTime(actor.time)
  const caller = await createCaller(world, actor, setup.operators)
  const object = await ownObject(entry, world, caller)
  return { caller, object }
}

async function ownObject(
  { row }: Entry,
  world: Awaited<ReturnType<typeof createWorld>>,
  caller: Caller,
): Promise<Placed | null> {
  const kind = row.object === undefined ? undefined : kinds[row.object]
  if (kind === undefined) return null
  // Somebody in the portal has nothing of their own, but reaches what is in the tenant.
  return placeFor(kind, world, caller, caller.userId === null ? 'a colleague’s' : 'own')
}

/** The tables of two digests that are not equal. */
function difference(before: string, after: string): string {
  const lines = before.split('\n')
  const changed = after.split('\n').filter((line) => !lines.includes(line))
  return changed.map((line) => line.split(' ')[0]).join(', ')
}

t.test('the same with half of the body under way', async (t) => {
  const test = await build(t)
  const address = await test.app.listen({ host: '127.0.0.1', port: 0 })
  const early = watchEarlyChecks(test)
  const { admin } = test.database
  const editor = { role: 'editor', department: 'press' }
  const invitation = { email: 'me@example.com', role: 'admin' }
  const post = { title: 'x', body: 'x' }
  const cases: [string, Case][] = [
    [
      'POST /users, by an admin who is removed',
      async () => {
        const { user, cookie } = await owner(test, { role: 'admin' })
        return {
          ...{ method: 'POST', path: '/users', headers: { cookie }, body: invitation, status: 401 },
          revoke: ['DELETE FROM memberships WHERE user_id = $1', [user.userId]],
        }
      },
    ],
    [
      'POST /users, by an admin who is demoted',
      async () => {
        const { user, cookie } = await owner(test, { role: 'admin' })
        return {
          ...{ method: 'POST', path: '/users', headers: { cookie }, body: invitation, status: 403 },
          revoke: [`UPDATE memberships SET role = 'editor' WHERE user_id = $1`, [user.userId]],
        }
      },
    ],
    [
      'POST /posts, by an editor who is demoted',
      async () => {
        const { user, cookie } = await owner(test, editor)
        return {
          ...{ method: 'POST', path: '/posts', headers: { cookie }, body: post, status: 403 },
          revoke: [`UPDATE memberships SET role = 'viewer' WHERE user_id = $1`, [user.userId]],
        }
      },
    ],
    [
      'PATCH /posts/:id, by an editor who is moved to another department',
      async () => {
        const { user, cookie } = await owner(test, editor)
        const id = await createTestPost(test.database, user.tenantId, 'press')
        return {
          ...{
            method: 'PATCH',
            path: `/posts/${id}`,
            headers: { cookie },
            body: post,
            status: 403,
          },
          revoke: [`UPDATE memberships SET department = 'sales' WHERE user_id = $1`, [user.userId]],
        }
      },
    ],
    [
      'POST /auth/tokens, in a session that is ended',
      async () => {
        const { user, cookie } = await owner(test)
        const body = { name: 'ci', permissions: null }
        return {
          ...{ method: 'POST', path: '/auth/tokens', headers: { cookie }, body, status: 401 },
          revoke: ['DELETE FROM sessions WHERE user_id = $1', [user.userId]],
        }
      },
    ],
    [
      'POST /orders, with a token that is revoked',
      async () => {
        const { make } = await owner(test)
        const { id, token } = await make()
        const headers = { authorization: `Bearer ${token}` }
        return {
          ...{ method: 'POST', path: '/orders', headers, body: order, status: 401 },
          revoke: ['DELETE FROM api_tokens WHERE id = $1', [id]],
        }
      },
    ],
    ...Object.entries(endedServices).map(([name, [status, sql]]): [string, Case] => [
      `POST /posts, by a service ${name}`,
      async () => {
        const { make } = await serviceOwner(test)
        const { id, token } = await make(['post:create'])
        const headers = { authorization: `Bearer ${token}` }
        return {
          ...{ method: 'POST', path: '/posts', headers, body: post, status },
          revoke: [sql, [id]],
        }
      },
    ]),
    ...Object.entries(endedApps).map(([name, [status, sql]]): [string, Case] => [
      `POST /tenants/:id/events, by an app ${name}`,
      async () => {
        const { tenantId } = await createUser(test.database, { role: 'admin' })
        await (await appCaller(test)).use('PUT', '/event-types/done', { description: 'x' })
        const app = await appCaller(test) // which the process has not seen
        const headers = { authorization: `Bearer ${app.token}` }
        const body = { type: 'done', data: { text: 'x' } }
        return {
          ...{ method: 'POST', path: `/tenants/${tenantId}/events`, headers, body, status },
          revoke: [sql, [sql.includes('close_tenant') ? tenantId : app.id]],
        }
      },
    ]),
    [
      'POST /documents, by a person who leaves the team',
      async () => {
        const { user, cookie } = await owner(test, editor)
        const teamId = await createTeam(test.database, user.tenantId, [user.userId])
        const folderId = await createFolder(test.database, user.tenantId, teamId)
        const body = { title: 'x', body: 'x', folderId }
        return {
          ...{ method: 'POST', path: '/documents', headers: { cookie }, body, status: 404 },
          revoke: ['DELETE FROM team_members WHERE user_id = $1', [user.userId]],
        }
      },
    ],
  ]
  for (const [name, prepare] of cases) {
    const { revoke, status, ...request } = await prepare()
    const checked = early()
    const socket = await sendHalf(address, request)
    await checked
    await admin.query(...revoke)
    const before = await digestOf(test.database)
    socket.write(socket.rest)
    const response = await text(socket)
    t.match(response, new RegExp(`^HTTP/1\\.1 ${status} `), name)
    t.equal(await digestOf(test.database), before, `${name}: nothing is written`)
  }
})

t.test('a right of an app that the process has seen is not used', async (t) => {
  const test = await build(t)
  const { admin } = test.database
  for (const [name, [status, sql]] of Object.entries(endedApps)) {
    const { tenantId } = await createUser(test.database, { role: 'admin' })
    const app = await appCaller(test)
    await app.use('PUT', '/event-types/done', { description: 'x' })
    const publish = () =>
      app.use('POST', `/tenants/${tenantId}/events`, { type: 'done', data: { text: 'x' } })
    t.equal((await publish()).statusCode, 201, name)
    t.equal((await publish()).statusCode, 201, `${name}: in one packet`)
    await admin.query(sql, [sql.includes('close_tenant') ? tenantId : app.id])
    const before = await digestOf(test.database)
    t.equal((await publish()).statusCode, status, name)
    t.equal(await digestOf(test.database), before, `${name}: nothing is written`)
  }
})

/** How a service can stop being allowed, the status of the refusal, and the change with its id as $1. */
const endedServices: Readonly<Record<string, readonly [number, string]>> = {
  'whose token is revoked': [401, 'DELETE FROM service_tokens WHERE id = $1'],
  'whose token expires': [
    401,
    `UPDATE service_tokens SET expires_at = now() - interval '1 second' WHERE id = $1`,
  ],
  'whose secret is rotated': [
    401,
    `UPDATE service_tokens SET hash = sha256('another') WHERE id = $1`,
  ],
  'that loses the permission': [
    403,
    `UPDATE service_tokens SET permissions = '{post:read}' WHERE id = $1`,
  ],
  'whose tenant is deleted': [
    401,
    `SELECT close_tenant((SELECT tenant_id FROM service_tokens WHERE id = $1))`,
  ],
}

/** The same for the app; the tenant that it names is $1 of the last one. */
const endedApps: Readonly<Record<string, readonly [number, string]>> = {
  'whose token is revoked': [401, 'DELETE FROM app_tokens WHERE id = $1'],
  'whose token expires': [
    401,
    `UPDATE app_tokens SET expires_at = now() - interval '1 second' WHERE id = $1`,
  ],
  'whose secret is rotated': [401, `UPDATE app_tokens SET hash = sha256('another') WHERE id = $1`],
  'that loses the permission': [
    403,
    `UPDATE app_tokens SET permissions = '{event-type:update}' WHERE id = $1`,
  ],
  'that names a tenant which is deleted': [404, 'SELECT close_tenant($1)'],
}

type Prepared = {
  method: string
  path: string
  headers: Record<string, string>
  body: object
  status: number
  revoke: [string, unknown[]]
}
type Case = () => Promise<Prepared>

const order = {
  lineItems: [{ sku: 'GATE', quantity: 1, unitPrice: 900 }],
  shippingAddress: {
    name: 'Ada',
    line1: '2 Quay',
    city: 'Porto',
    postalCode: '4000-001',
    country: 'PT',
  },
  cardLast4: '4242',
}

/** Returns a function whose promise resolves when the next early check has passed. */
function watchEarlyChecks({ app }: TestApp): () => Promise<void> {
  const { read } = app.db
  let passed = () => {}
  const watched: typeof read = async (entry, work) => {
    const facts = await read(entry, work)
    if (work === undefined) passed()
    return facts
  }
  Object.assign(app.db, { read: watched })
  return () =>
    new Promise((resolve) => {
      passed = resolve
    })
}

/** Sends the head and the first half of the body; the other half is `rest`. */
async function sendHalf(
  address: string,
  { method, path, headers, body }: Omit<Prepared, 'status' | 'revoke'>,
): Promise<Socket & { rest: string }> {
  const { hostname, port, host } = new URL(address)
  const content = JSON.stringify(body)
  const half = Math.floor(content.length / 2)
  const lines = Object.entries({
    host,
    'content-type': 'application/json',
    'content-length': String(content.length),
    connection: 'close',
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  socket.write(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${content.slice(0, half)}`)
  return Object.assign(socket, { rest: content.slice(half) })
}
