import t from 'tap'
import { createUser, signIn } from '#dev/testing/people.ts'
import { receive } from '#test/billing/received.ts'
import { build } from '#test/support/app/app.ts'
import { addIdentity } from '#test/support/callers/account.ts'

t.test(
  'an operator sees backlogs, queues, providers and processes; nobody else does',
  async (t) => {
    const test = await build(t, { OPERATORS: 'demo:olga' })
    const user = await createUser(test.database, { role: 'viewer' })
    await addIdentity(test, user.userId, 'olga')
    const { cookie } = await signIn(test, user)
    const open = async (who: string) =>
      test.app.inject({ url: '/app/operations', headers: { accept: 'text/html', cookie: who } })

    t.match((await open(cookie)).body, /Nothing waits, is retried, has failed/)
    await receive(test.database, { id: 'a', status: 'dead' })
    await receive(test.database, { id: 'b' })
    const { admin: db } = test.database
    await db.query(
      `INSERT INTO running_processes (id, role, encryption_keys, session_secrets, base_url, clock_offset_ms)
     VALUES (gen_random_uuid(), 'worker', '{}', '{}', 'https://a.example/<i>', 45000)`,
    )
    const { statusCode, body } = await open(cookie)
    t.equal(statusCode, 200)
    t.match(body, /<a class="stat bad" href="\/app\/billing\?status=dead">.*?class="figure">1</s)
    t.match(body, /href="\/app\/billing\?status=recorded">.*?class="figure">1</s)
    t.match(body, /<code>billing-event<\/code>.*?data-label="Due">\d</s)
    t.match(body, 'https://a.example/&lt;i&gt;')
    t.match(body, /badge bad">\+45\.0 s/, 'a clock that is wrong')
    t.match(body, 'Responding')
    t.match(body, /Last 24 hours.*?No data yet/s)
    t.equal(body.match(/No data|None/g)?.length, 1, 'one sentence, not one for each chart')
    t.match(body, /other queues are empty/)
    t.notMatch(body, '<i>')
    t.match((await open(cookie)).body, /Responses.*?data-label="Count">[1-9]/s, 'own counts')

    const admin = await createUser(test.database, { role: 'admin' })
    const theirs = (await signIn(test, admin)).cookie
    t.equal((await open(theirs)).statusCode, 403)
    t.notMatch(
      (await test.app.inject({ url: '/', headers: { cookie: theirs } })).body,
      '/app/operations',
    )
  },
)

t.test('the page says so when the database cannot be measured', async (t) => {
  const test = await build(t, { OPERATORS: 'demo:olga' })
  const user = await createUser(test.database)
  await addIdentity(test, user.userId, 'olga')
  const { cookie } = await signIn(test, user)
  await test.database.admin.query('ALTER TABLE ledger_checks RENAME TO away')
  const { body, statusCode } = await test.app.inject({
    url: '/app/operations',
    headers: { cookie },
  })
  t.equal(statusCode, 200)
  t.match(body, 'could not be measured')
})
