import t, { type Test } from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { testConfig } from '#dev/testing/settings.ts'
import { createLogger } from '#src/observability/logger.ts'
import { startWorker } from '#src/worker.ts'
import { addJob } from '#test/db/credentials.ts'
import { bodiesOf } from '#test/support/receiver/mail-bodies.ts'
import { type MailServer, startMailServer } from '#test/support/receiver/mail-server.ts'
import { allowing, createOutbox, type Outbox, openReceiver } from '#test/support/receiver/outbox.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

const hourMs = 3_600_000
const day = 86_400_000
const ada = 'ada@example.com'

type Scene = {
  outbox: Outbox
  endpointId: string
  log: string[]
  /** Sets the status of the receiver's responses. */
  answer(status: number): void
  /** Publishes one event and waits for the outcome of its delivery. */
  deliver(): Promise<void>
  /** Advances the worker's clock. */
  pass(ms: number): void
  notifications(): Promise<{ kind: string; message: string; mailed_at: Date | null }[]>
}

/** A tenant with an endpoint, an administrator and a worker whose schedule is one attempt. */
async function setScene(t: Test, mail: MailServer | null, settings: Record<string, string> = {}) {
  const outbox = await createOutbox(t)
  const { database, tenant } = outbox
  let status = 500
  const receiver = await openReceiver(t, (_request, response) => {
    response.writeHead(status).end()
  })
  await createUser(database, {
    tenantId: tenant.tenantId,
    role: 'admin',
    email: ada,
    emailVerified: true,
  })
  const endpointId = await createEndpoint(database, tenant, {
    url: `${receiver.url}/a-secret-path?token=secret-token`,
  })
  let passed = 0
  const config = testConfig(database, {
    ...allowing(receiver),
    OUTBOUND_RETRY_SECONDS: '0',
    ...(mail && { SMTP_URL: mail.url, ALERT_FROM: 'Gatehouse <alerts@example.com>' }),
    ...settings,
  })
  const log: string[] = []
  const logger = createLogger('trace', { write: (line) => void log.push(line) })
  const clock = { now: () => new Date(Date.now() + passed) }
  const worker = await startWorker({ ...config, clock }, logger)
  t.teardown(() => worker.stop())
  const scene: Scene = {
    outbox,
    endpointId,
    log,
    answer: (next) => {
      status = next
    },
    async deliver() {
      const eventId = await outbox.publish()
      await outbox.until(
        `SELECT FROM deliveries WHERE event_id = '${eventId}' AND status <> 'pending'`,
      )
    },
    pass: (ms) => {
      passed += ms
    },
    async notifications() {
      const { rows } = await database.admin.query(
        'SELECT kind, message, mailed_at FROM notifications ORDER BY id',
      )
      return rows
    },
  }
  return scene
}

const mailed = (outbox: Outbox, count: number) =>
  outbox.until(`SELECT FROM notifications WHERE mailed_at IS NOT NULL HAVING count(*) = ${count}`)

t.test('after the last failure the owner is alerted, once per endpoint and hour', async (t) => {
  const mail = await startMailServer(t)
  const scene = await setScene(t, mail)
  await scene.deliver()
  const first = await mail.next()
  t.same(first.to, [ada])
  t.match(first.text, /^Subject: A webhook endpoint is failing\r$/m)
  t.match(first.text, /The webhook endpoint at 127\.0\.0\.1:\d+ is failing/)
  const { text, html } = bodiesOf(first.text)
  t.match(text, new RegExp(`^Endpoint: ${scene.endpointId}$`, 'm'))
  t.match(text, /^Time: \d+ \w+ \d{4} at \d\d:\d\d UTC$/m)
  t.match(text, /^Tenant: \u2068Tenant \w+\u2069$/m)
  const page = `/app/webhooks/${scene.endpointId}`
  t.match(text, new RegExp(`^View the endpoint:\nhttp\\S+${page}$`, 'm'), 'a link to the endpoint')
  t.match(html, new RegExp(`href="http[^"]+${page}"[^>]*>View the endpoint</a>`))
  await mailed(scene.outbox, 1)
  await scene.deliver()
  scene.pass(hourMs - 60_000)
  await scene.deliver()
  t.match(await scene.notifications(), [{ kind: 'endpoint.failing' }])
  scene.pass(60_000 + 1_000)
  await scene.deliver()
  await mail.next()
  await mailed(scene.outbox, 2)
  t.equal(mail.mails.length, 2)
  t.same(
    (await scene.notifications()).map(({ kind }) => kind),
    ['endpoint.failing', 'endpoint.failing'],
  )
})

t.test('owners are also alerted when it recovers and when it is disabled', async (t) => {
  const mail = await startMailServer(t)
  const scene = await setScene(t, mail)
  await scene.deliver()
  t.match((await mail.next()).text, /^Subject: A webhook endpoint is failing\r$/m)
  scene.answer(204)
  await scene.deliver()
  // The second follows at once: one worker may send both, in any order.
  const recovery = (await mail.next()).text + (await mail.next()).text
  t.match(recovery, /^Subject: A webhook endpoint is recovering\r$/m)
  t.match(recovery, /^Subject: A webhook endpoint has recovered\r$/m)
  scene.answer(500)
  scene.pass(2 * hourMs)
  await scene.deliver()
  t.match((await mail.next()).text, /^Subject: A webhook endpoint is failing\r$/m)
  scene.pass(5 * day)
  for (let delivery = 0; delivery < 9; delivery += 1) await scene.deliver()
  // At the same time, so in any order.
  const both = (await mail.next()).text + (await mail.next()).text
  t.match(both, /^Subject: A webhook endpoint is failing\r$/m)
  t.match(both, /^Subject: A webhook endpoint was disabled\r$/m)
  await mailed(scene.outbox, 6)
  t.equal(mail.mails.length, 6)
})

t.test('a flapping endpoint sends each kind of alert once an hour', async (t) => {
  const mail = await startMailServer(t)
  const scene = await setScene(t, mail)
  for (const status of [500, 204, 500, 204, 500, 204]) {
    scene.answer(status)
    await scene.deliver()
  }
  await mailed(scene.outbox, 3)
  t.same(
    (await scene.notifications()).map(({ kind }) => kind),
    ['endpoint.failing', 'endpoint.recovering', 'endpoint.recovered'],
  )
})

t.test('mail goes only to verified addresses of the tenant’s administrators', async (t) => {
  const mail = await startMailServer(t)
  const scene = await setScene(t, mail)
  const { database, tenant } = scene.outbox
  const others = [
    { tenantId: tenant.tenantId, role: 'admin', email: 'bo@example.com', emailVerified: true },
    { tenantId: tenant.tenantId, role: 'admin', email: 'unverified@example.com' },
    { tenantId: tenant.tenantId, role: 'admin' },
    { tenantId: tenant.tenantId, role: 'editor', email: 'ed@example.com', emailVerified: true },
    { role: 'admin', email: 'elsewhere@example.com', emailVerified: true },
    {
      tenantId: tenant.tenantId,
      role: 'admin',
      email: 'x@example.com\r\nBcc: eve@example.com',
      emailVerified: true,
    },
  ]
  for (const user of others) await createUser(database, user)
  await scene.deliver()
  t.same((await mail.next()).to.toSorted(), [ada, 'bo@example.com'])
})

t.test('a warning about a certificate that has been renewed is not mailed', async (t) => {
  const mail = await startMailServer(t)
  const scene = await setScene(t, mail)
  const { database, tenant } = scene.outbox
  const warn = async (days: number) => {
    const { rows } = await database.admin.query(
      `WITH expiry AS (
         UPDATE endpoint_states SET certificate_expires_at = now() + make_interval(days => $3) WHERE id = $2)
       INSERT INTO notifications (tenant_id, kind, endpoint_id, message)
       VALUES ($1, 'endpoint.certificate', $2, '') RETURNING id`,
      [tenant.tenantId, scene.endpointId, days],
    )
    const job = { tenantId: tenant.tenantId, notificationId: Number(rows[0].id) }
    await addJob(database, 'alert-mail', job, 'created')
  }
  await warn(90)
  await scene.outbox.until(
    `SELECT FROM pgboss.job WHERE name = 'alert-mail' AND state = 'completed'`,
  )
  t.match(scene.log.join(''), '"outcome":"gone"')
  await warn(9)
  t.match((await mail.next()).text, /^Subject: The certificate of a webhook endpoint expires soon/m)
  t.equal(mail.mails.length, 1)
})

t.test('neither mail nor log contains the path of the URL', async (t) => {
  const mail = await startMailServer(t)
  const scene = await setScene(t, mail, { LOG_LEVEL: 'trace' })
  await scene.deliver()
  const { text } = await mail.next()
  await mailed(scene.outbox, 1)
  const [notification] = await scene.notifications()
  for (const content of [text, notification?.message ?? '', scene.log.join('')]) {
    t.notMatch(content, /secret|example\.com.*password/)
  }
})

t.test('mail is retried after a refusal, and arrives once', async (t) => {
  let refusals = 0
  const mail = await startMailServer(t, {
    disabledCommands: ['STARTTLS', 'AUTH'],
    onMailFrom(_address, _session, callback) {
      refusals += 1
      const busy = Object.assign(new Error('a password: secret'), { responseCode: 451 })
      callback(refusals === 1 ? busy : null)
    },
  })
  const scene = await setScene(t, mail)
  const { database } = scene.outbox
  await scene.deliver()
  await scene.outbox.until(`SELECT FROM pgboss.job WHERE name = 'alert-mail' AND state = 'retry'`)
  t.match(await scene.notifications(), [{ mailed_at: null }])
  t.match(scene.log.join(''), /mail not accepted \(EENVELOPE MAIL FROM 451\)/)
  t.notMatch(scene.log.join(''), /secret/)
  await database.admin.query(`UPDATE pgboss.job SET start_after = now() WHERE state = 'retry'`)
  await mail.next()
  await mailed(scene.outbox, 1)
  t.equal(mail.mails.length, 1)
})

t.test('a notification is mailed once even if its job runs twice', async (t) => {
  const mail = await startMailServer(t)
  const scene = await setScene(t, mail)
  const { database } = scene.outbox
  await scene.deliver()
  await mailed(scene.outbox, 1)
  await scene.outbox.until(
    `SELECT FROM pgboss.job WHERE name = 'alert-mail' AND state = 'completed'`,
  )
  await database.admin.query(
    `UPDATE pgboss.job SET state = 'created', completed_on = NULL WHERE name = 'alert-mail'`,
  )
  await scene.outbox.until(
    `SELECT FROM pgboss.job WHERE name = 'alert-mail' AND state = 'completed'`,
  )
  t.equal(mail.mails.length, 1)
})

t.test('without a mail server there is a notification and a log line', async (t) => {
  const scene = await setScene(t, null)
  await scene.deliver()
  await scene.outbox.until(
    `SELECT FROM pgboss.job WHERE name = 'alert-mail' AND state = 'completed'`,
  )
  t.match(await scene.notifications(), [{ kind: 'endpoint.failing', mailed_at: null }])
  const line = scene.log.map((text) => JSON.parse(text)).find(({ outcome }) => outcome)
  t.match(line, {
    level: 'warn',
    msg: 'endpoint alert handled',
    kind: 'endpoint.failing',
    endpointId: scene.endpointId,
    outcome: 'no-mailer',
  })
})
