import t from 'tap'
import { readMail } from '#src/config/parse.ts'

const from = 'Gatehouse <alerts@example.com>'
const read = (url?: string, sender: string | undefined = from) => {
  const faults: string[] = []
  return { setup: readMail(url, sender, faults), faults }
}

t.test('without SMTP_URL there is no mail', async (t) => {
  t.same(readMail(undefined, undefined, []), null)
  t.match(read(undefined).faults, [/^ALERT_FROM: has no effect/])
})

t.test('a mail server and a sender are read', async (t) => {
  t.same(read('smtp://mail.example.com').setup, {
    host: 'mail.example.com',
    port: 587,
    secure: false,
    requireTls: false,
    auth: null,
    from: { name: 'Gatehouse', address: 'alerts@example.com' },
  })
  t.match(read('smtps://us%40er:p%3Aw@mail.example.com:4650/').setup, {
    port: 4650,
    secure: true,
    auth: { user: 'us@er', pass: 'p:w' },
  })
  t.match(read('smtps://mail.example.com').setup, { port: 465 })
  t.match(read('smtp://[::1]:25').setup, { host: '::1', port: 25 })
  t.match(read('smtp://mail.example.com', 'alerts@example.com').setup, {
    from: { name: '', address: 'alerts@example.com' },
  })
})

t.test('a password is not sent over a network in clear', async (t) => {
  t.match(read('smtp://user:secret@mail.example.com').setup, { requireTls: true })
  t.match(read('smtp://user:secret@127.0.0.1:2525').setup, { requireTls: false })
})

t.test('any other value is a fault that does not repeat the password', async (t) => {
  for (const url of [
    'mail.example.com',
    'http://user:secret@mail.example.com',
    'smtp://',
    'smtp://user:secret@mail.example.com/path',
    'smtp://user:secret@mail.example.com?tls.rejectUnauthorized=false',
    'smtp://user:secret@mail.example.com#a',
    'smtp://user:secret%@mail.example.com',
  ]) {
    const { faults } = read(url)
    t.match(faults, [/^SMTP_URL: must be/], url)
    t.notMatch(faults.join(), /secret/)
  }
  for (const sender of [
    '',
    'nobody',
    'a@b.example, c@d.example',
    'A <a@b.example> <c@d.example>',
    'A <a@b.example>\r\nBcc: c@d.example',
    'a@b.example\nBcc: c@d.example',
    'A "quoted" <a@b.example>',
  ]) {
    t.match(read('smtp://mail.example.com', sender).faults, [/^ALERT_FROM: must be/], sender)
  }
})
