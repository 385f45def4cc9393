import t from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { createTestInvoice } from '#test/support/callers/objects.ts'
import { createDatabase, type TestDatabase } from '#test/support/database/database.ts'
import { addJob, addSession, addToken, connect, inside, nobody, scopeOf } from './credentials.ts'

t.test('a job enters its tenant, and no person', async (t) => {
  const database = await createDatabase(t)
  const { tenantId } = await createUser(database)
  const other = await createUser(database)
  for (const tenant of [tenantId, other.tenantId]) await createTestInvoice(database, tenant)
  const worker = await connect(t, database.workerUrl)
  const enter = async (queue: string, ...jobs: string[]) => {
    const { rows } = await worker.query('SELECT * FROM enter_job($1, VARIADIC $2::uuid[])', [
      queue,
      jobs,
    ])
    return rows
  }
  const job = await addJob(database, 'deliver', { tenantId })
  const sameTenant = await addJob(database, 'deliver', { tenantId })
  const done = await addJob(database, 'deliver', { tenantId }, 'completed')
  await inside(worker, async () => {
    t.strictSame(await enter('deliver', job), [{ tenant_id: tenantId }])
    t.strictSame(await scopeOf(worker), { userId: null, tenantId })
    t.strictSame((await worker.query('SELECT tenant_id FROM invoices')).rows, [
      { tenant_id: tenantId },
    ])
  })
  await inside(worker, async () => {
    t.strictSame(await enter('deliver', job, sameTenant, done), [{ tenant_id: tenantId }])
  })
  const refused: [string, string, string[]][] = [
    ['not begun', 'deliver', [await addJob(database, 'deliver', { tenantId }, 'created')]],
    ['done', 'deliver', [done]],
    ['of another queue', 'endpoint-drain', [job]],
    ['of no queue', 'nothing', [job]],
    ['missing', 'deliver', [crypto.randomUUID()]],
    ['none', 'deliver', []],
    ['without a tenant', 'revoke-grant', [await addJob(database, 'revoke-grant', {})]],
  ]
  for (const [name, queue, jobs] of refused) {
    await inside(worker, async () => {
      await enter('deliver', job)
      t.strictSame(await enter(queue, ...jobs), [], name)
      t.strictSame(await scopeOf(worker), nobody, name)
    })
  }
  const foreign = await addJob(database, 'deliver', { tenantId: other.tenantId })
  await inside(worker, async () => {
    await t.rejects(enter('deliver', job, foreign), { code: '42501' })
  })
})

t.test('a received event enters the tenant of its invoice, or of its customer', async (t) => {
  const database = await createDatabase(t)
  const user = await createUser(database, { billingCustomer: 'cus_1' })
  await createUser(database, { billingCustomer: 'cus_2', tenantId: user.tenantId })
  await database.admin.query(
    `INSERT INTO received_events (event_id, type, body, secret_index, status)
     VALUES ('evt_1', 'charge.succeeded', '{}', 0, 'recorded')`,
  )
  const worker = await connect(t, database.workerUrl)
  const enter = async (event: string, customer: string | null, payment: string | null = null) =>
    (
      await worker.query('SELECT * FROM enter_billing_event($1, $2, $3)', [
        event,
        customer,
        payment,
      ])
    ).rows
  await inside(worker, async () => {
    t.strictSame(await enter('evt_1', 'cus_1'), [
      { user_id: String(user.userId), tenant_id: user.tenantId },
    ])
    t.strictSame(await scopeOf(worker), { userId: null, tenantId: user.tenantId })
    const changed = await worker.query(`UPDATE users SET plan = 'pro' WHERE id = $1`, [user.userId])
    t.equal(changed.rowCount, 1, 'the plan of the tenant that is the user’s own')
  })
  await database.admin.query(
    `INSERT INTO billing_objects (object_id, kind, invoice_tenant)
     VALUES ('pi_1', 'payment', $1), ('pi_2', 'payment', gen_random_uuid()), ('pi_3', 'payment', NULL)`,
    [user.tenantId],
  )
  await inside(worker, async () => {
    t.strictSame(await enter('evt_1', 'cus_2', 'pi_1'), [
      { user_id: null, tenant_id: user.tenantId },
    ])
    t.strictSame(await scopeOf(worker), { userId: null, tenantId: user.tenantId })
  })
  for (const [event, customer, payment] of [
    ['evt_2', 'cus_1', null],
    ['evt_1', 'cus_3', null],
    ['evt_1', 'cus_2', null],
    ['evt_2', null, 'pi_1'],
    ['evt_1', 'cus_1', 'pi_2'],
    ['evt_1', 'cus_1', 'pi_3'],
    ['evt_1', 'cus_1', 'pi_4'],
  ] as const) {
    await inside(worker, async () => {
      t.strictSame(await enter(event, customer, payment), [])
      t.strictSame(await scopeOf(worker), nobody)
    })
  }
})

t.test('old events go tenant by tenant, without a scope afterwards', async (t) => {
  const database = await createDatabase(t)
  const tenants = [(await createUser(database)).tenantId, (await createUser(database)).tenantId]
  for (const tenantId of tenants) {
    for (const age of [0, 1, 2, 3]) {
      await database.admin.query(
        `INSERT INTO outbound_events (tenant_id, id, type, body, created_at)
         VALUES ($1, 'msg_' || gen_random_uuid(), 'x', '', now() - make_interval(days => $2))`,
        [tenantId, age],
      )
    }
  }
  const worker = await connect(t, database.workerUrl)
  const purge = async (after: string) => {
    const { rows } = await worker.query(
      `SELECT tenant_id, events FROM purge_history($1, now() - interval '36 hours', '-infinity', 1)`,
      [after],
    )
    return rows
  }
  const [first = '', second = ''] = tenants.sort()
  const none = '00000000-0000-0000-0000-000000000000'
  await worker.query('BEGIN')
  t.strictSame(await purge(none), [{ tenant_id: first, events: 1 }])
  t.strictSame(await scopeOf(worker), nobody)
  await worker.query('COMMIT')
  t.strictSame(await purge(none), [{ tenant_id: first, events: 1 }])
  t.strictSame(await purge(none), [{ tenant_id: first, events: 0 }])
  t.strictSame(await purge(first), [{ tenant_id: second, events: 1 }])
  t.strictSame(await purge(second), [])
})

t.test('what is dead goes, what lives stays', async (t) => {
  const database = await createDatabase(t)
  const user = await createUser(database)
  await addSession(database, user)
  await addSession(database, user, { expired: true })
  await addSession(database, user, { idleSeconds: 1_801 })
  await addToken(database, user)
  await addToken(database, user, { expired: true })
  await database.admin.query(
    `UPDATE api_tokens SET expires_at = now() - interval '31 days' WHERE expires_at <= now()`,
  )
  const worker = await connect(t, database.workerUrl)
  const prune = () => worker.query('SELECT * FROM prune_dead(1800, 30, 1000)')
  t.strictSame((await prune()).rows, [{ sessions: 2, attempts: 0, tokens: 1 }])
  t.strictSame((await prune()).rows, [{ sessions: 0, attempts: 0, tokens: 0 }])
  const other = await connect(t, database.workerUrl)
  await inside(other, async () => {
    await other.query('SELECT * FROM prune_dead(1800, 30, 1000)')
    t.strictSame((await prune()).rows, [], 'one worker at a time')
  })
})

t.test('sealed texts are read and replaced, and nothing else of their rows', async (t) => {
  const database = await createDatabase(t)
  const users = [await createUser(database), await createUser(database)]
  for (const { tenantId } of users) {
    for (const secret of ['\\x0101aa', '\\x0102bb']) await addEndpoint(database, tenantId, secret)
  }
  const worker = await connect(t, database.workerUrl)
  const read = async (after: string[] | null, batch: number) => {
    const { rows } = await worker.query(
      `SELECT * FROM read_sealed('webhook_endpoints', '\\x0101', $1, $2)`,
      [after, batch],
    )
    return rows as { keys: string[]; texts: (Buffer | null)[] }[]
  }
  t.equal((await worker.query(`SELECT * FROM count_sealed('webhook_endpoints')`)).rowCount, 4)
  const [first] = await read(null, 1)
  t.match(first, { texts: [Buffer.from([1, 2, 0xbb]), null] })
  const rest = await read(first?.keys ?? [], 10)
  t.equal(rest.length, 1)
  t.strictSame(await read(rest[0]?.keys ?? [], 10), [])
  for (const { keys } of await read(null, 10)) {
    const { rows } = await worker.query(
      `SELECT write_sealed('webhook_endpoints', $1, $2) AS written`,
      [keys, [Buffer.from([1, 1, 0xcc]), null]],
    )
    t.strictSame(rows, [{ written: true }])
  }
  t.strictSame(await read(null, 10), [])
  t.strictSame(await scopeOf(worker), nobody)
  await t.rejects(worker.query(`SELECT * FROM count_sealed('users')`), { code: '42501' })
  for (const table of ['provider_grants', 'token_revocations']) {
    t.strictSame((await worker.query('SELECT * FROM count_sealed($1)', [table])).rows, [])
    t.strictSame(
      (await worker.query(`SELECT * FROM read_sealed($1, '\\x01', NULL, 5)`, [table])).rows,
      [],
    )
  }
})

async function addEndpoint({ admin }: TestDatabase, tenantId: string, secret: string) {
  await admin.query(
    `INSERT INTO webhook_endpoints (tenant_id, url, signature, secret)
     VALUES ($1, 'https://receiver.example', 'spec', $2)`,
    [tenantId, secret],
  )
}
