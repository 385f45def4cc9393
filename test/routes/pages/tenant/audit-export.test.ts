import t from 'tap'
import { as, createUser, signIn } from '#dev/testing/people.ts'
import { build } from '#test/support/app/app.ts'
import { owner } from '#test/support/callers/token-owner.ts'
import { untilBlocked, untilTrue } from '#test/support/database/until.ts'

t.test(
  'a person has one download of the audit log at a time, and colleagues have theirs',
  async (t) => {
    const test = await build(t)
    const { user, send } = await owner(test, { role: 'admin' })
    const colleague = await createUser(test.database, { tenantId: user.tenantId, role: 'admin' })
    const sendAsColleague = as(test, await signIn(test, colleague))
    const holder = await test.database.admin.connect()
    t.teardown(() => holder.release(true))
    await holder.query('BEGIN; LOCK TABLE audit_log IN ACCESS EXCLUSIVE MODE')
    const first = send('GET', '/app/audit/export')
    await untilBlocked(test.database)
    const refused = await send('GET', '/app/audit/export')
    t.equal(refused.statusCode, 429)
    t.equal(refused.headers['retry-after'], '5')
    t.match(refused.json().detail, /Another download of the audit log/)
    const other = sendAsColleague('GET', '/app/audit/export')
    await holder.query('COMMIT')
    t.equal((await first).statusCode, 200)
    t.equal((await other).statusCode, 200)
    t.equal((await send('GET', '/app/audit/export')).statusCode, 200, 'the next one after it')
  },
)

t.test('who leaves while the first page is read can begin another download', async (t) => {
  const test = await build(t)
  const { send, cookie } = await owner(test, { role: 'admin' })
  const address = await test.app.listen({ port: 0, host: '127.0.0.1' })
  const holder = await test.database.admin.connect()
  t.teardown(() => holder.release(true))
  await holder.query('BEGIN; LOCK TABLE audit_log IN ACCESS EXCLUSIVE MODE')
  const leaving = new AbortController()
  const left = fetch(`${address}/app/audit/export`, { headers: { cookie }, signal: leaving.signal })
  await untilBlocked(test.database)
  leaving.abort()
  await t.rejects(left)
  await holder.query('COMMIT')
  const isFree = async () => (await send('GET', '/app/audit/export')).statusCode === 200
  await untilTrue(isFree)
  t.ok(await isFree())
})
