import t, { type Test } from 'tap'
import {
  type InvitationMailDeps,
  mailInvitation,
  maxMailsPerDay,
  maxMailsToAddress,
} from '#src/auth/members/invitation-mail.ts'
import type { Mail } from '#src/mail/mailer.ts'
import { enterJobs } from '#src/queue/enter-jobs.ts'
import { addJob } from '#test/db/credentials.ts'
import { build } from '#test/support/app/app.ts'
import { awayFromMidnight } from '#test/support/app/at-time.ts'
import { owner } from '#test/support/callers/token-owner.ts'
import { openPatiently } from '#test/support/database/open.ts'

/** Admins who invite, and the worker's part of each invitation without its queue. */
async function setUp(t: Test) {
  await awayFromMidnight()
  const test = await build(t)
  const { database } = test
  const db = openPatiently(t, database.workerUrl, 2)
  const sent: Mail[] = []
  let fails = false
  const deps = {
    ...{ db, baseUrl: test.config.baseUrl, clock: test.app.clock },
    keys: test.config.encryptionKeys,
    mailer: {
      async send(mail: Mail) {
        if (fails) throw new Error('The mail server is away.')
        sent.push(mail)
      },
    } as InvitationMailDeps['mailer'],
  }
  const admin = () => owner(test, { role: 'admin' })
  /** Invites, and mails the invitation. */
  const invite = async ({ user, send }: Awaited<ReturnType<typeof admin>>, email: string) => {
    const answer = await send('POST', '/users', { email, role: 'viewer' })
    const { id, createdAt, expiresAt, ...shown } = answer.json()
    const work = async () => {
      const job = { tenantId: user.tenantId, invitationId: id }
      const jobId = await addJob(database, 'invitation-mail', job)
      return mailInvitation(enterJobs('invitation-mail', [jobId]), id, deps)
    }
    const outcome = await work().catch((error) => error.message)
    return { id, status: answer.statusCode, shown, outcome, work }
  }
  const nextDay = () => database.admin.query('UPDATE invitation_mails SET day = day - 1')
  const setFails = (value: boolean) => {
    fails = value
  }
  return { test, database, sent, admin, invite, nextDay, setFails }
}

t.test('an address gets one mail a day from a tenant, within a total from all', async (t) => {
  const { database, sent, admin, invite, nextDay } = await setUp(t)
  const admins = await Promise.all(Array.from({ length: maxMailsToAddress + 2 }, admin))
  const answers: Awaited<ReturnType<typeof invite>>[] = []
  // A stranger's invitations, however many, leave the address its mails of others.
  for (const _ of [1, 2, 3]) {
    for (const one of admins.slice(0, 1)) answers.push(await invite(one, 'Ada@example.com'))
  }
  t.strictSame(
    answers.map(({ outcome }) => outcome),
    ['mailed', 'held-back', 'held-back'],
  )
  for (const one of admins.slice(1)) answers.push(await invite(one, 'Ada@example.com'))
  t.strictSame(
    answers.slice(3).map(({ outcome }) => outcome),
    [...Array(maxMailsToAddress - 1).fill('mailed'), 'held-back', 'held-back'],
  )
  const [first] = answers
  for (const { status, shown } of answers) {
    t.strictSame([status, Object.keys(shown)], [first?.status, Object.keys(first?.shown)])
  }
  for (const one of admins) await invite(one, 'ADA@example.com')
  t.equal(sent.length, maxMailsToAddress, 'inviting again changes nothing')
  await nextDay()
  for (const one of admins) await invite(one, 'ada@example.com')
  t.equal(sent.length, 2 * maxMailsToAddress, 'the same the next day')
  const { rows } = await database.admin.query(
    'SELECT invitation_mails::text AS row FROM invitation_mails',
  )
  t.notMatch(JSON.stringify(rows), '@', 'addresses are hashed')
})

t.test('an invitation that is sent again counts, and has the same link', async (t) => {
  const { test, database, sent, admin, invite, nextDay } = await setUp(t)
  const one = await admin()
  const first = await invite(one, 'ada@example.com')
  const resend = async () => {
    const answer = await test.app.inject({
      ...{
        method: 'POST',
        url: '/app/tenant/invitations/resend',
        body: `id=${first.id}&role=viewer`,
      },
      headers: { cookie: one.cookie, 'content-type': 'application/x-www-form-urlencoded' },
    })
    return answer.headers.location
  }
  await database.admin.query(`UPDATE invitations SET created_at = created_at - interval '1 day'`)
  t.equal(await resend(), '/app/tenant?done=sent-today', 'it was mailed today')
  const tomorrow = async () => {
    await nextDay()
    await database.admin.query(
      `UPDATE invitations SET created_at = created_at - interval '1 day',
         mailed_at = mailed_at - interval '1 day'`,
    )
  }
  await tomorrow()
  t.equal(await resend(), '/app/tenant?done=renewed')
  t.equal(await first.work(), 'mailed')
  t.equal(await first.work(), 'mailed-before')
  t.equal(sent.length, 2)
  t.equal(sent[1]?.message.action.url, sent[0]?.message.action.url)
  await tomorrow()
  for (let n = 0; n < maxMailsToAddress; n += 1) await invite(await admin(), 'ada@example.com')
  t.equal(await resend(), '/app/tenant?done=renewed', 'the tenant learns nothing')
  t.equal(await first.work(), 'held-back')
  t.equal(sent.length, 2 + maxMailsToAddress)
})

t.test('a tenant sends a limited number of mails a day', async (t) => {
  const { sent, admin, invite, nextDay } = await setUp(t)
  const [one, other] = [await admin(), await admin()]
  for (let n = 0; n < maxMailsPerDay + 3; n += 1) await invite(one, `person-${n}@example.com`)
  t.equal(sent.length, maxMailsPerDay)
  t.equal((await invite(other, 'ada@example.com')).outcome, 'mailed', 'another tenant goes on')
  await nextDay()
  t.equal((await invite(one, 'eve@example.com')).outcome, 'mailed')
})

t.test('who has declined gets no mail of any tenant until they accept an invitation', async (t) => {
  const { test, sent, admin, invite, nextDay } = await setUp(t)
  const [one, other] = [await admin(), await admin()]
  const facts = { role: 'admin', email: 'ada@example.com', emailVerified: true }
  const ada = await owner(test, facts)
  const { id } = await invite(one, 'ada@example.com')
  t.equal((await ada.send('POST', `/invitations/${id}/decline`)).statusCode, 204)
  for (const _ of [1, 2]) {
    await nextDay()
    for (const from of [one, other]) {
      t.equal((await invite(from, 'ada@example.com')).outcome, 'held-back')
    }
  }
  t.equal(sent.length, 1)
  const { id: accepted } = await invite(other, 'ada@example.com')
  t.equal((await ada.send('POST', `/invitations/${accepted}/accept`)).statusCode, 204)
  await nextDay()
  t.equal((await invite(one, 'ada@example.com')).outcome, 'mailed')
})

t.test('who sends an invitation again is its inviter', async (t) => {
  const { test, database, sent, admin, invite, nextDay } = await setUp(t)
  const one = await admin()
  const { tenantId } = one.user
  const other = await owner(test, { role: 'admin', tenantId, email: 'other@example.com' })
  const { id, work } = await invite(one, 'ada@example.com')
  await nextDay()
  await database.admin.query(
    `UPDATE invitations SET created_at = created_at - interval '15 days',
       mailed_at = mailed_at - interval '15 days', expires_at = expires_at - interval '15 days'`,
  )
  const demoted = await other.send('PATCH', `/users/${one.user.userId}`, { role: 'editor' })
  t.equal(demoted.statusCode, 200)
  const resent = await test.app.inject({
    ...{ method: 'POST', url: '/app/tenant/invitations/resend', body: `id=${id}&role=viewer` },
    headers: { cookie: other.cookie, 'content-type': 'application/x-www-form-urlencoded' },
  })
  t.equal(resent.headers.location, '/app/tenant?done=renewed')
  t.match((await other.send('GET', '/invitations')).json().data, [
    { id, invitedBy: other.user.userId },
  ])
  t.equal(await work(), 'mailed')
  const [, mail] = sent
  t.match(JSON.stringify(mail?.message.paragraphs), 'other@example.com')
  const link = new URL(mail?.message.action.url ?? '').searchParams.get('link')
  const guest = await owner(test, { email: 'ada@example.com' })
  t.equal((await guest.send('POST', `/invitations/${id}/accept`, { link })).statusCode, 204)
})

t.test('mails that are tried again in turns count once each', async (t) => {
  const { database, sent, admin, invite, setFails } = await setUp(t)
  const one = await admin()
  setFails(true)
  const first = await invite(one, 'ada@example.com')
  await database.admin.query(
    `UPDATE invitation_mails SET count = $1 WHERE key_hash = mail_key('tenant', $2)`,
    [maxMailsPerDay - 1, one.user.tenantId],
  )
  const second = await invite(one, 'eve@example.com')
  for (const { work } of [first, second]) {
    t.equal(await work().catch((error) => error.message), 'The mail server is away.')
  }
  setFails(false)
  for (const { work } of [first, second]) t.equal(await work(), 'mailed')
  t.equal((await invite(one, 'kim@example.com')).outcome, 'held-back', 'the day is used up')
  t.equal(sent.length, 2)
})

t.test('a mail that fails is tried again, and counts once', async (t) => {
  const { sent, admin, invite, setFails } = await setUp(t)
  const one = await admin()
  setFails(true)
  const { outcome, work } = await invite(one, 'ada@example.com')
  t.equal(outcome, 'The mail server is away.')
  setFails(false)
  t.equal(await work(), 'mailed')
  t.equal(await work(), 'mailed-before')
  t.equal(sent.length, 1)
})
