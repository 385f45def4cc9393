import pg from 'pg'
import t from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { recordOperators } from '#src/auth/operators/operators.ts'
import { openSystemDatabase } from '#src/db/system-database.ts'
import { addOperator } from '#test/support/app/app.ts'
import { addIdentity } from '#test/support/callers/account.ts'
import { addAppToken } from '#test/support/callers/app-caller.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { patient } from '#test/support/database/open.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'
import {
  addApp,
  addPortal,
  addService,
  addSession,
  addToken,
  connect,
  enterSession,
  inside,
  isHeldUp,
  randomCredential,
  scopeOf,
} from './credentials.ts'

const enter = (client: pg.Client, credential: Buffer, tenant: string | null, forWrite = false) =>
  client.query('SELECT * FROM enter_app_token($1, $2, $3)', [credential, tenant, forWrite])

const denied = '42501'

/** The number of rows, or the code of the refusal. */
async function outcomeOf(client: pg.Client, sql: string, values: unknown[] = []) {
  await client.query('SAVEPOINT attempt')
  try {
    return (await client.query(sql, values)).rowCount
  } catch (error) {
    if (error instanceof pg.DatabaseError) return error.code
    throw error
  } finally {
    await client.query('ROLLBACK TO SAVEPOINT attempt')
  }
}

t.test('an app is sealed to the tenant that it names, for one transaction', async (t) => {
  const database = await createDatabase(t)
  const [ada, eve] = [await createUser(database), await createUser(database)]
  for (const { tenantId } of [ada, eve]) {
    await database.admin.query(
      `INSERT INTO outbound_events (tenant_id, id, type, body) VALUES ($1, 'e', 'x', '{}')`,
      [tenantId],
    )
  }
  const credential = await addApp(database)
  const web = await connect(t, database.url)
  const insert = `INSERT INTO outbound_events (tenant_id, id, type, body) VALUES ($1, 'new', 'x', '{}')`
  const insertEndpoint = `INSERT INTO webhook_endpoints (tenant_id, id, url, all_event_types, event_types, signature, secret)
    VALUES ($1, gen_random_uuid(), 'https://8.8.8.8/new', true, '{}', 'spec', 'x')`
  const [own, foreign] = [
    await createEndpoint(database, ada, { url: 'https://8.8.8.8/' }),
    await createEndpoint(database, eve, { url: 'https://8.8.8.8/' }),
  ]
  const member = `'${ada.tenantId}', ${ada.userId}`
  await inside(web, async () => {
    const { rows } = await enter(web, credential, ada.tenantId)
    t.match(rows, [{ name: 'the app', permissions: ['event:publish'], tenant_id: ada.tenantId }])
    t.strictSame(await scopeOf(web), { userId: null, tenantId: ada.tenantId })
    t.strictSame((await web.query('SELECT current_service_name() AS name')).rows, [
      { name: 'the app' },
    ])
    t.equal(await outcomeOf(web, 'SELECT FROM outbound_events'), 1)
    t.equal(await outcomeOf(web, insert, [ada.tenantId]), 1)
    t.equal(await outcomeOf(web, insert, [eve.tenantId]), denied, 'nothing of another tenant')
    t.strictSame((await web.query('SELECT id FROM webhook_endpoints')).rows, [{ id: own }])
    t.equal(await outcomeOf(web, insertEndpoint, [ada.tenantId]), 1)
    t.equal(await outcomeOf(web, insertEndpoint, [eve.tenantId]), denied)
    const deleted = (tenantId: string, id: string) =>
      web.query('SELECT delete_endpoint($1, $2) AS deleted', [tenantId, id])
    t.match((await deleted(eve.tenantId, foreign)).rows, [{ deleted: false }])
    t.match((await deleted(ada.tenantId, own)).rows, [{ deleted: true }])
    for (const people of ['SELECT user_id AS id FROM memberships', 'SELECT id FROM users']) {
      t.strictSame((await web.query(people)).rows, [{ id: String(ada.userId) }], people)
    }
    for (const [sql, expected] of [
      ['SELECT FROM orders', 0],
      ['SELECT id FROM sessions', 0],
      ['SELECT FROM oauth_identities', 0],
      ['SELECT name FROM app_tokens', 0],
      ['DELETE FROM app_tokens', 0],
      [`UPDATE app_tokens SET permissions = '{event-type:update}'`, 0],
      ['DELETE FROM service_tokens', 0],
      [`UPDATE memberships SET role = 'admin'`, 0],
      ['DELETE FROM memberships', 0],
      ['UPDATE invitations SET role = role', 0],
      [`SELECT FROM change_member(${member}, 'admin', NULL)`, 0],
      [`SELECT FROM lock_members(${member})`, 0],
      [`SELECT FROM remove_member(${ada.userId})`, denied],
    ] as const) {
      t.equal(await outcomeOf(web, sql), expected, sql)
    }
    const token = `INSERT INTO app_tokens (last_four, hash, name, permissions, expires_at)
      VALUES ('test', sha256('mine'), 'x', '{event:publish}', now())`
    t.equal(await outcomeOf(web, token), denied)
  })
  t.strictSame(await scopeOf(web), { userId: null, tenantId: null }, 'then it is over')
})

t.test('an endpoint of another tenant stays, whatever row-level security says', async (t) => {
  const database = await createDatabase(t)
  const [ada, eve] = [await createUser(database), await createUser(database)]
  const foreign = await createEndpoint(database, eve, { url: 'https://8.8.8.8/' })
  await database.admin.query('ALTER TABLE webhook_endpoints NO FORCE ROW LEVEL SECURITY')
  const web = await connect(t, database.url)
  await inside(web, async () => {
    await enter(web, await addApp(database), ada.tenantId)
    const { rows } = await web.query('SELECT delete_endpoint($1, $2) AS deleted', [
      eve.tenantId,
      foreign,
    ])
    t.strictSame(rows, [{ deleted: false }])
  })
})

t.test('keys of the app are seen in the tenant of their request alone', async (t) => {
  const database = await createDatabase(t)
  const [ada, eve] = [await createUser(database), await createUser(database)]
  const credential = await addApp(database)
  const web = await connect(t, database.url)
  await web.query('BEGIN')
  await enter(web, credential, ada.tenantId, true)
  await web.query(
    `INSERT INTO idempotency_keys (holder, tenant_id, key_hash, request_hash)
     VALUES (concat_ws(' ', 'service', current_service_id(), $1::uuid), $1, sha256('k'), sha256('r'))`,
    [ada.tenantId],
  )
  await web.query('COMMIT')
  for (const [tenantId, seen] of [
    [ada.tenantId, 1],
    [eve.tenantId, 0],
  ] as const) {
    await inside(web, async () => {
      await enter(web, credential, tenantId)
      t.equal(await outcomeOf(web, 'SELECT FROM idempotency_keys'), seen)
    })
  }
})

t.test(
  'no tenant is entered with a token that is not live, nor one that is not there',
  async (t) => {
    const database = await createDatabase(t)
    const { tenantId } = await createUser(database)
    const [live, expired] = [await addApp(database), await addApp(database, { expired: true })]
    const { tenantId: closed } = await createUser(database)
    await database.admin.query('SELECT close_tenant($1)', [closed])
    const [web, worker] = [await connect(t, database.url), await connect(t, database.workerUrl)]
    for (const forWrite of [false, true]) {
      for (const [credential, tenant, found] of [
        [randomCredential(), tenantId, 0],
        [expired, tenantId, 0],
        [live, crypto.randomUUID(), 1],
        [live, closed, 1],
        [live, null, 1],
      ] as const) {
        await inside(web, async () => {
          const { rows } = await enter(web, credential, tenant, forWrite)
          t.equal(rows.length, found)
          t.ok(rows.every((row) => row.tenant_id === null))
          t.strictSame(await scopeOf(web), { userId: null, tenantId: null })
        })
      }
    }
    await t.rejects(enter(worker, live, tenantId), { code: denied }, 'nor by a worker')
    const prune = async () => (await worker.query('SELECT tokens FROM prune_dead(1, 30, 10)')).rows
    t.strictSame(await prune(), [{ tokens: 0 }])
    await database.admin.query(
      `UPDATE app_tokens SET expires_at = now() - interval '31 days' WHERE expires_at < now()`,
    )
    t.strictSame(await prune(), [{ tokens: 1 }])
  },
)

t.test('only an operator with a session sees, makes and changes app tokens', async (t) => {
  const database = await createDatabase(t)
  const [operator, other] = [await createUser(database), await createUser(database)]
  await addIdentity({ database }, operator.userId, 'runs-it')
  await addIdentity({ database }, other.userId, 'does-not')
  await addOperator(database, 'demo:runs-it')
  await addAppToken(database)
  const web = await connect(t, database.url)
  const make = `INSERT INTO app_tokens (last_four, hash, name, permissions, expires_at)
    VALUES ('test', sha256('mine'), 'x', '{event:publish}', now())`
  const attempts = [
    'SELECT id FROM app_tokens',
    `UPDATE app_tokens SET name = 'x'`,
    'DELETE FROM app_tokens',
  ]
  const outcomes = async (enterAs: () => Promise<unknown>) => {
    await web.query('BEGIN')
    await enterAs()
    const found: unknown[] = []
    for (const sql of [...attempts, make]) found.push(await outcomeOf(web, sql))
    await web.query('ROLLBACK')
    return found
  }
  const [mine, theirs] = [await addSession(database, operator), await addSession(database, other)]
  t.strictSame(await outcomes(() => enterSession(web, mine)), [1, 1, 1, 1])
  t.strictSame(await outcomes(() => enterSession(web, theirs)), [0, 0, 0, denied])
  t.strictSame(await outcomes(async () => {}), [0, 0, 0, denied], 'nor without a credential')
  const token = await addToken(database, operator)
  const service = await addService(database, operator)
  const portal = await addPortal(database, operator.tenantId)
  for (const [call, credential] of [
    ['enter_token', token],
    ['enter_service', service],
    ['enter_portal_session', portal],
  ] as const) {
    const enterIt = () => web.query(`SELECT * FROM ${call}($1, false)`, [credential])
    t.strictSame(await outcomes(enterIt), [0, 0, 0, denied], call)
  }
  await database.admin.query('DELETE FROM operators')
  t.strictSame(await outcomes(() => enterSession(web, mine)), [0, 0, 0, denied], 'is none any more')
})

t.test('a worker writes down who the operators are', async (t) => {
  const database = await createDatabase(t)
  const worker = openSystemDatabase(database.workerUrl, 1, patient)
  t.teardown(() => worker.close())
  const written = async () => {
    const { rows } = await database.admin.query(
      `SELECT provider || ':' || provider_user_id AS who FROM operators ORDER BY 1`,
    )
    return rows.map(({ who }) => who)
  }
  await recordOperators(worker, new Set(['acme:1', 'demo:a:b']))
  t.strictSame(await written(), ['acme:1', 'demo:a:b'])
  await recordOperators(worker, new Set(['demo:a:b', 'demo:2']))
  t.strictSame(await written(), ['demo:2', 'demo:a:b'])
  await recordOperators(worker, new Set())
  t.strictSame(await written(), [])
})

t.test('deleting a tenant waits for a write of the app in it', async (t) => {
  const database = await createDatabase(t)
  const ada = await createUser(database, { role: 'admin' })
  await database.admin.query(`UPDATE tenants SET name = 'Ours' WHERE id = $1`, [ada.tenantId])
  const credential = await addApp(database)
  const session = await addSession(database, ada)
  const [app, person] = [await connect(t, database.url), await connect(t, database.url)]
  await app.query('BEGIN')
  await enter(app, credential, ada.tenantId, true)
  const deleted = person.query(`SELECT outcome FROM delete_tenant($1, $2, 'Ours')`, [
    session,
    randomCredential(),
  ])
  await isHeldUp(database, person)
  await app.query('COMMIT')
  t.strictSame((await deleted).rows, [{ outcome: 'ended' }])
  t.match((await enter(app, credential, ada.tenantId, true)).rows, [{ tenant_id: null }])
})

t.test('types of events are required as they were seen', async (t) => {
  const database = await createDatabase(t)
  const { rows } = await database.admin.query<{ name: string; updated_at: Date }>(
    `INSERT INTO app_event_types (name, description) VALUES ('one', 'x'), ('two', 'x')
     RETURNING name, updated_at`,
  )
  const web = await connect(t, database.url)
  const names = rows.map(({ name }) => name)
  const times = rows.map(({ updated_at }) => updated_at.toISOString())
  const [first = '', second = ''] = times
  const later = new Date(Date.parse(second) + 1).toISOString()
  for (const [given, at, expected] of [
    [names, times, 1],
    [['two'], [second], 1],
    [[], [], 1],
    [names, [first, later], 'GH001'],
    [['one', 'three'], times, 'GH001'],
    [names, [first], 'GH001'],
    [['one', null], times, 'GH001'],
    [names, [first, null], 'GH001'],
  ] as const) {
    await inside(web, async () => {
      const required = 'SELECT require_event_types($1, $2)'
      t.equal(await outcomeOf(web, required, [given, at]), expected, `${given}: ${at}`)
    })
  }
})
