import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import t from 'tap'
import { type MailConfig, readMail } from '#src/config/parse.ts'
import { createMailer, type Mail } from '#src/mail/mailer.ts'
import { untilTrue } from '#test/support/database/until.ts'
import { createAuthority, selfSigned } from '#test/support/processes/certificates.ts'
import { bodiesOf } from '#test/support/receiver/mail-bodies.ts'
import { startMailServer } from '#test/support/receiver/mail-server.ts'
import { startRawReceiver } from '#test/support/receiver/raw-receiver.ts'

const trusted = createAuthority('trusted by mail')
setDefaultCACertificates([...getCACertificates(), trusted.cert])
const forLocalhost = trusted.certify({ names: ['localhost'] })

const shortMs = 150
const saying = (text: string) => ({
  ...{ language: 'en' as const, heading: [text], paragraphs: [], facts: [], footer: [] },
  action: { label: '', url: '' },
})
const mail: Mail = {
  ...{ to: ['ada@example.com'], subject: 'Zoë', id: 'a@b' },
  message: saying('All is well.\n'),
}

/** A mailer whose mails say the heading of their message. */
function mailerFor(setup: MailConfig, options: { timeoutMs?: number } = {}) {
  const render = ({ heading: [text = ''] }: Mail['message']) => ({
    text: String(text),
    html: `<p>${text}</p>`,
    images: [],
  })
  return createMailer(setup, render, options)
}

function setupFor(url: string, settings: Partial<MailConfig> = {}): MailConfig {
  const setup = readMail(url, 'Gatehouse <alerts@example.com>', [])
  if (setup === null) throw new Error(`no mail server: ${url}`)
  return { ...setup, ...settings }
}

t.test('a mail arrives once, from the configured sender', async (t) => {
  const server = await startMailServer(t)
  await mailerFor(setupFor(server.url)).send({
    ...mail,
    to: ['ada@example.com', 'bo@example.com'],
  })
  t.equal(server.mails.length, 1)
  const [received] = server.mails
  t.match(received, { from: 'alerts@example.com', to: ['ada@example.com', 'bo@example.com'] })
  t.match(received?.text, /^From: Gatehouse <alerts@example\.com>\r$/m)
  t.match(received?.text, /^Message-ID: <a@b>\r$/m)
  t.match(received?.text, /^Auto-Submitted: auto-generated\r$/m)
  t.match(received?.text, /^Content-Type: multipart\/alternative;/m)
  const { text, html, types } = bodiesOf(received?.text ?? '')
  t.same(types, ['text/plain', 'text/html'], 'mail programs show the last one that they can')
  t.equal(text, 'All is well.\n')
  t.equal(html, '<p>All is well.\n</p>')
})

t.test('STARTTLS is used if it is offered, and the certificate is verified', async (t) => {
  const server = await startMailServer(t, {
    ...forLocalhost,
    onAuth: ({ username }, _session, callback) => callback(null, { user: username ?? '' }),
  })
  const auth = { user: 'gatehouse', pass: 'secret' }
  const byName = { host: 'localhost', auth, requireTls: true }
  await mailerFor(setupFor(server.url, byName)).send(mail)
  t.match(server.mails, [{ secure: true, user: 'gatehouse' }])
  const byAddress = mailerFor(setupFor(server.url, { auth }))
  await t.rejects(byAddress.send(mail), { name: 'MailError' }, 'the certificate is for a name')
  const impostor = await startMailServer(t, selfSigned({ names: ['localhost'] }))
  const mailer = mailerFor(setupFor(impostor.url, { host: 'localhost' }))
  await t.rejects(mailer.send(mail), { name: 'MailError' })
  t.equal(server.mails.length + impostor.mails.length, 1)
})

t.test('no password is sent without TLS if TLS is required', async (t) => {
  const passwords: unknown[] = []
  const server = await startMailServer(t, {
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth: ({ password }, _session, callback) => {
      passwords.push(password)
      callback(null, { user: 'gatehouse' })
    },
  })
  const auth = { user: 'gatehouse', pass: 'secret' }
  const mailer = mailerFor(setupFor(server.url, { auth, requireTls: true }))
  await t.rejects(mailer.send(mail), { name: 'MailError' })
  t.same([passwords, server.mails], [[], []])
})

t.test('no text becomes a header or another recipient', async (t) => {
  const server = await startMailServer(t)
  const to = [
    'ada@example.com',
    'bo@example.com\r\nBcc: eve@example.com',
    'cy@example.com, eve@example.com',
    'Eve <eve@example.com>',
    'group:eve@example.com;',
    '<eve@example.com>',
    '',
  ]
  const mailer = mailerFor(setupFor(server.url))
  await mailer.send({
    ...mail,
    to,
    subject: 'a\r\nBcc: eve@example.com',
    message: saying('.\r\nQUIT\r\n.\r\n'),
  })
  const [received] = server.mails
  t.same(received?.to, ['ada@example.com'])
  t.notMatch(received?.text, /^Bcc:/im)
  t.match(received?.text, /\r\n\r\n\.\r\nQUIT\r\n\.\r\n/)
  await t.rejects(
    mailer.send({ ...mail, to: ['eve'] }),
    { name: 'MailError' },
    'no valid recipient is left',
  )
})

t.test('the server’s text is not in the error', async (t) => {
  const server = await startMailServer(t, {
    disabledCommands: ['STARTTLS', 'AUTH'],
    onRcptTo(address, _session, callback) {
      const error = Object.assign(new Error(`no ${address.address} here`), { responseCode: 550 })
      callback(error)
    },
  })
  const error = await mailerFor(setupFor(server.url))
    .send(mail)
    .catch((reason: Error) => reason)
  t.match(error, { name: 'MailError', message: 'mail not accepted (EENVELOPE RCPT TO 550)' })
  t.notOk(error?.cause)
})

t.test('refusing, silent, endless and slow servers are abandoned in time', async (t) => {
  const closed = await startRawReceiver()
  await closed.close()
  const silent = await startRawReceiver()
  t.teardown(() => silent.close())
  for (const port of [closed.port, silent.port]) {
    const mailer = mailerFor(setupFor(`smtp://127.0.0.1:${port}`), { timeoutMs: shortMs })
    await t.rejects(mailer.send(mail), { name: 'MailError' })
  }
  const talk = [
    ['endless', 'x'.repeat(1_000_000)],
    ['dripping', '220-more\r\n'],
  ] as const
  for (const [name, text] of talk) {
    const server = await startRawReceiver()
    t.teardown(() => server.close())
    const attempt = mailerFor(setupFor(server.url.replace('http', 'smtp')), {
      timeoutMs: shortMs,
    }).send(mail)
    await untilTrue(() => server.connections.length > 0)
    const [socket] = server.connections
    const timer = setInterval(() => socket?.write(text), 5)
    await t.rejects(attempt, { name: 'MailError' }, name)
    clearInterval(timer)
    if (socket && !socket.closed) await new Promise((resolve) => socket.on('close', resolve))
  }
})
