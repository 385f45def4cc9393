import t, { type Test } from 'tap'
import { testConfig } from '#dev/testing/settings.ts'
import { createLogger } from '#src/observability/logger.ts'
import { startWorker } from '#src/worker.ts'
import { build } from '#test/support/app/app.ts'
import { owner } from '#test/support/callers/token-owner.ts'
import { until } from '#test/support/database/until.ts'
import { bodiesOf } from '#test/support/receiver/mail-bodies.ts'
import { type MailServer, startMailServer } from '#test/support/receiver/mail-server.ts'

/** An admin who invites, and a worker that mails. */
async function setUp(t: Test, mail: MailServer | null) {
  const settings = mail && { SMTP_URL: mail.url, ALERT_FROM: 'Gatehouse <hello@example.com>' }
  const test = await build(t, settings ?? {})
  const admin = await owner(test, { role: 'admin', email: 'boss@example.com' })
  const invite = async (email: string): Promise<string> =>
    (await admin.send('POST', '/users', { email, role: 'viewer' })).json().id
  const log: string[] = []
  const start = async () => {
    const logger = createLogger('trace', { write: (line) => void log.push(line) })
    const worker = await startWorker(testConfig(test.database, settings ?? {}), logger)
    t.teardown(() => worker.stop())
  }
  const handled = (count: number) =>
    until(
      test.database,
      `SELECT FROM pgboss.job WHERE name = 'invitation-mail' AND state = 'completed'
       HAVING count(*) = ${count}`,
    )
  return { test, admin, invite, start, handled, log }
}

t.test('an invitation is mailed to the invited address, with its link', async (t) => {
  const mail = await startMailServer(t)
  const { test, admin, invite, start } = await setUp(t, mail)
  await start()
  const { tenantId } = admin.user
  await test.database.admin.query(
    `UPDATE tenants SET name = E'Acme\r\nBcc: all@example.com' WHERE id = $1`,
    [tenantId],
  )
  const id = await invite('Ada@example.com')
  const received = await mail.next()
  t.same(received.to, ['ada@example.com'])
  t.match(received.text, 'Subject: You have been invited')
  t.notMatch(received.text, /^Bcc:/m)
  const { text, html } = bodiesOf(received.text)
  const page = `${test.config.baseUrl}/app/invitations/${id}`
  t.match(text, `View the invitation:\n${page}`)
  t.match(
    text,
    '\u2068boss@example.com\u2069 has invited you to join “\u2068Acme Bcc: all@example.com\u2069” as viewer.',
  )
  t.match(text, /^Expires: \d+ \w+ \d{4} at \d\d:\d\d UTC$/m)
  t.match(html, `href="${page}`)
  t.match(
    html,
    '<bdi>boss@example.com</bdi> has invited you to join “<bdi>Acme Bcc: all@example.com</bdi>”',
  )
  await until(test.database, 'SELECT FROM invitations WHERE mailed_at IS NOT NULL')
})

t.test('names in the mail change the order of no text around them', async (t) => {
  const mail = await startMailServer(t)
  const { test, admin, invite, start } = await setUp(t, mail)
  await test.database.admin.query('UPDATE tenants SET name = $1 WHERE id = $2', [
    'Acme\u202E\u2069 moc.elpmaxe',
    admin.user.tenantId,
  ])
  await invite('ada@example.com')
  await start()
  const { text, html } = bodiesOf((await mail.next()).text)
  t.match(text, '“\u2068Acme moc.elpmaxe\u2069”')
  t.match(html, '“<bdi>Acme moc.elpmaxe</bdi>”')
})

t.test('a withdrawn, replaced or answered invitation is not mailed', async (t) => {
  const mail = await startMailServer(t)
  const { test, admin, invite, start, handled, log } = await setUp(t, mail)
  await admin.send('DELETE', `/invitations/${await invite('withdrawn@example.com')}`)
  await invite('declined@example.com')
  await test.database.admin.query('UPDATE invitations SET declined_at = now()')
  await invite('ada@example.com')
  const last = await invite('ada@example.com')
  await start()
  await handled(4)
  t.equal(mail.mails.length, 1)
  t.match(mail.mails[0]?.text, last)
  t.notMatch(log.join(''), /example\.com/, 'no address in the log')
})

t.test('without a mail server nothing is sent', async (t) => {
  const { invite, start, handled, log } = await setUp(t, null)
  await invite('ada@example.com')
  await start()
  await handled(1)
  t.match(log.join(''), '"outcome":"no-mailer"')
})
