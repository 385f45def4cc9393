import t, { type Test } from 'tap'
import { createUser, type TestUser } from '#dev/testing/people.ts'
import { testConfig } from '#dev/testing/settings.ts'
import { completeSignIn } from '#src/auth/sign-in/complete.ts'
import { sqlOver } from '#src/db/sql.ts'
import { openSystemDatabase, type SystemDatabase } from '#src/db/system-database.ts'
import { createLogger } from '#src/observability/logger.ts'
import { openQueue } from '#src/queue/queue.ts'
import { startWorker } from '#src/worker.ts'
import {
  addJob,
  addSession,
  connect,
  enterSession,
  isHeldUp,
  randomCredential,
} from '#test/db/credentials.ts'
import { build } from '#test/support/app/app.ts'
import { addIdentity } from '#test/support/callers/account.ts'
import { owner } from '#test/support/callers/token-owner.ts'
import { createDatabase, type TestDatabase } from '#test/support/database/database.ts'
import { patient } from '#test/support/database/open.ts'
import { untilBlocked } from '#test/support/database/until.ts'
import { createDelivery } from '#test/support/receiver/delivery.ts'
import { startCallers } from '#test/support/receiver/endpoint-calls.ts'
import { allowing, createOutbox, openReceiver } from '#test/support/receiver/outbox.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'
import { eraseAll, findTables } from './support.ts'

/*
 * What is under way when an account or a tenant is deleted: either it is finished first and then
 * deleted too, or it finds nothing any more.
 */

const insertPost = ({ tenantId, userId }: TestUser) => ({
  text: `INSERT INTO posts (tenant_id, author_id, title, body) VALUES ($1, $2, 'x', 'x')`,
  values: [tenantId, userId],
})

const deletions = {
  'an account': (credential: Buffer, _tenantId: string) => ({
    text: 'SELECT outcome FROM erase_account($1)',
    values: [credential],
    outcome: 'erased',
  }),
  'a tenant': (credential: Buffer, tenantId: string) => ({
    text: 'SELECT outcome FROM delete_tenant($1, $2, $3)',
    values: [credential, randomCredential(), `Tenant ${tenantId.slice(0, 8)}`],
    outcome: 'ended',
  }),
}

for (const [name, deletion] of Object.entries(deletions)) {
  t.test(`deleting ${name} waits for a write of the person in another session`, async (t) => {
    const { database, user, web, other } = await setUp(t)
    const { text, values, outcome } = deletion(await addSession(database, user), user.tenantId)
    await web.query('BEGIN')
    t.ok(await enterSession(web, await addSession(database, user), true))
    await web.query(insertPost(user))
    const deleting = other.query(text, values)
    await isHeldUp(database, other)
    await web.query('COMMIT')
    t.strictSame((await deleting).rows, [{ outcome }])
    await eraseAll(database)
    t.strictSame(await findTables(database, [user.tenantId]), [], 'the post is gone too')
  })

  t.test(`a write that enters while ${name} is deleted finds no session`, async (t) => {
    const { database, user, web, other } = await setUp(t)
    const { text, values } = deletion(await addSession(database, user), user.tenantId)
    const writing = await addSession(database, user)
    await other.query('BEGIN')
    await other.query(text, values)
    await web.query('BEGIN')
    const entering = enterSession(web, writing, true)
    await isHeldUp(database, web)
    await other.query('COMMIT')
    t.equal(await entering, undefined)
    await web.query('ROLLBACK')
  })
}

t.test('of two last admins who delete their accounts at once the second is refused', async (t) => {
  const { database, user, web, other } = await setUp(t)
  const second = await createUser(database, { role: 'admin', tenantId: user.tenantId })
  await createUser(database, { tenantId: user.tenantId })
  const [first, last] = [await addSession(database, user), await addSession(database, second)]
  const text = 'SELECT outcome FROM erase_account($1)'
  await web.query('BEGIN')
  t.strictSame((await web.query(text, [first])).rows, [{ outcome: 'erased' }])
  const erasing = other.query(text, [last])
  await isHeldUp(database, other)
  await web.query('COMMIT')
  t.strictSame((await erasing).rows, [{ outcome: 'last-admin' }])
})

t.test('a sign-in at the same moment does not bring a deleted account back', async (t) => {
  const { database, user, web } = await setUp(t)
  await addIdentity({ database }, user.userId, 'ada')
  const [cookie, state, ticket] = [randomCredential(), randomCredential(), randomCredential()]
  await web.query(`SELECT start_attempt($1, $2, 'sign-in', 'demo', '', '', NULL, NULL, 60)`, [
    cookie,
    state,
  ])
  await web.query('SELECT take_attempt($1, $2, $3)', [cookie, state, ticket])
  const credential = await addSession(database, user)
  let erased = 0
  const systemDb = openSystemDatabase(database.url, 2, patient)
  const queue = openQueue(database.url, 'web', () => {})
  t.teardown(() => Promise.all([systemDb.close(), queue.stop({ graceful: false })]))
  const outcome = await completeSignIn(
    before(systemDb, 'start_session', async () => {
      if (erased > 0) return
      const { rowCount } = await web.query('SELECT * FROM erase_account($1)', [credential])
      erased = rowCount ?? 0
    }),
    queue,
    {
      identity: {
        ...{ provider: 'demo', subject: 'ada', issuer: 'http://127.0.0.1:1' },
        ...{ email: null, emailTrusted: false, name: null, locale: null, authenticatedAt: null },
      },
      providerSession: null,
      mappedRole: null,
      state: { purpose: { kind: 'sign-in', userId: null }, ticket, ageSeconds: 1 },
      newCookieId: 'a cookie id',
      absoluteSeconds: 60,
      operators: new Set(),
      clientInfo: { userAgent: null, ip: null },
      nowSeconds: 0,
      signUp: 'open',
      invitationLink: null,
      grant: null,
    },
  )
  t.equal(erased, 1)
  t.match(outcome, { outcome: 'signed-in' })
  t.not((outcome as { userId?: number }).userId, user.userId, 'it is another, empty account')
  const { rows } = await database.admin.query('SELECT FROM sessions WHERE user_id = $1', [
    user.userId,
  ])
  t.equal(rows.length, 0)
})

t.test('an attempt that is being sent while its tenant is deleted is not recorded', async (t) => {
  const outbox = await createOutbox(t)
  const { database, tenant } = outbox
  const answer = Promise.withResolvers<void>()
  const receiver = await openReceiver(t, (_request, response) => {
    answer.promise.then(() => response.writeHead(500).end('no'))
  })
  await createEndpoint(database, tenant, { url: receiver.url })
  const logged = Promise.withResolvers<void>()
  const logger = createLogger('info', {
    write(line) {
      if (line.includes('no longer ours when attempts were recorded')) logged.resolve()
    },
  })
  const worker = await startWorker(
    testConfig(database, { ...allowing(receiver), OUTBOUND_TIMEOUT_MS: '30000' }),
    logger,
  )
  t.teardown(() => worker.stop())
  await outbox.publish()
  await receiver.next()
  const ownerClient = await connect(t, database.ownerUrl)
  await ownerClient.query('SELECT close_tenant($1)', [tenant.tenantId])
  await eraseAll(database)
  answer.resolve()
  await logged.promise
  t.strictSame(await findTables(database, [tenant.tenantId]), [])
})

t.test('the next attempt that a worker is recording goes with its deleted tenant', async (t) => {
  const { database, user } = await setUp(t)
  const endpointId = await createEndpoint(database, user, { url: 'https://8.8.8.8/' })
  const deliveryId = await createDelivery(database, {
    ...{ tenantId: user.tenantId, endpointId, status: 'pending', attempts: 0 },
  })
  const job = { tenantId: user.tenantId, deliveryId, series: 0, number: 1 }
  const id = await addJob(database, 'deliver', job)
  const recording = await connect(t, database.workerUrl)
  await recording.query('BEGIN')
  await recording.query(`SELECT enter_job('deliver', $1)`, [id])
  await recording.query('UPDATE deliveries SET attempts = 1 WHERE id = $1', [deliveryId])
  await database.admin.query('SELECT close_tenant($1)', [user.tenantId])
  const erasure = await database.admin.query<{ id: string }>('SELECT id FROM erasures')
  const purging = await connect(t, database.workerUrl)
  const work = () =>
    purging.query('SELECT finished FROM work_erasure($1, 100)', [erasure.rows[0]?.id])
  t.strictSame((await work()).rows, [{ finished: false }], 'first the members')
  const purged = work()
  await isHeldUp(database, purging)
  await recording.query(`INSERT INTO pgboss.job (name, data) VALUES ('deliver', $1)`, [
    JSON.stringify({ ...job, number: 2 }),
  ])
  await recording.query('COMMIT')
  t.strictSame((await purged).rows, [{ finished: true }])
  t.strictSame(await findTables(database, [user.tenantId]), [])
})

t.test('an open tenant is never purged, whatever asks for it', async (t) => {
  const { database, user } = await setUp(t)
  await database.admin.query(`INSERT INTO erasures (kind, tenant_id) VALUES ('tenant', $1)`, [
    user.tenantId,
  ])
  await eraseAll(database)
  const { rows } = await database.admin.query('SELECT FROM tenants WHERE id = $1', [user.tenantId])
  t.equal(rows.length, 1)
})

/** Runs `work` each time before a statement that contains `text`. */
function before(systemDb: SystemDatabase, text: string, work: () => Promise<void>): SystemDatabase {
  return {
    ...systemDb,
    transaction: (limits, inside) =>
      systemDb.transaction(limits, (connection) =>
        inside({
          ...connection,
          sql: sqlOver(async (statement) => {
            if (statement.text.includes(text)) await work()
            return connection.sql(statement)
          }),
        }),
      ),
  }
}

/** An admin who is alone in a tenant, and two connections of the web role. */
async function setUp(t: Test) {
  const database: TestDatabase = await createDatabase(t)
  const user = await createUser(database, { role: 'admin' })
  const web = await connect(t, database.url)
  const other = await connect(t, database.url)
  return { database, user, web, other }
}

t.test('a test event of an endpoint that is deleted meanwhile leaves nothing', async (t) => {
  const receiver = await openReceiver(t)
  const test = await build(t, allowing(receiver))
  await startCallers(t, test)
  const { admin } = test.database
  const { user, send } = await owner(test, { role: 'admin' })
  const id = await createEndpoint(test.database, user, { url: receiver.url })
  const deletion = await admin.connect()
  t.teardown(() => deletion.release())
  receiver.respond(async (_request, response) => {
    await deletion.query('BEGIN')
    await deletion.query('DELETE FROM webhook_endpoints WHERE id = $1', [id])
    response.writeHead(204).end()
  })
  const sending = send('POST', `/webhook-endpoints/${id}/test`)
  await Promise.race([sending, untilBlocked(test.database)])
  await deletion.query('COMMIT')
  t.equal((await sending).statusCode, 404)
  t.equal((await admin.query('SELECT FROM deliveries')).rowCount, 0)
})
