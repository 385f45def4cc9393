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
    const open = async (who: string, tab = '') =>
      test.app.inject({
        url: `/app/operations${tab}`,
        headers: { accept: 'text/html', cookie: who },
      })

    t.match((await open(cookie)).body, /Nothing waits, is retried, has failed/)
    await receive(test.database, { id: 'a', status: 'dead' })
    await receive(test.database, { id: 'b' })
    const { admin: db } = test.database
    await db.query(
      `INSERT INTO running_processes (id, role, encryption_keys, session_secrets, base_url, clock_offset_ms)
     VALUES (gen_random_uuid(), 'worker', '{}', '{}', 'https://a.example/<i>', 45000)`,
    )
    await db.query(
      `INSERT INTO pgboss.job (name, data, policy) VALUES ('billing-event-dead', '{}', NULL)`,
    )
    const { statusCode, body } = await open(cookie)
    t.equal(statusCode, 200)
    t.match(body, /<a class="stat bad" href="\/app\/billing\?status=dead">.*?class="figure">1</s)
    t.match(body, /href="\/app\/billing\?status=recorded">.*?class="figure">1</s)
    const work = (await open(cookie, '/work')).body
    t.match(work, /<code>billing-event-dead<\/code>.*?data-label="Due">1</s)
    t.match(work, 'https://a.example/&lt;i&gt;')
    t.match(work, /badge bad">\+45\.0 s/, 'a clock that is wrong')
    t.match(work, 'Responding')
    t.match(body, /Last 24 hours.*?No data yet/s)
    t.equal(body.match(/No data|None in/g)?.length, 1, 'one sentence, not one for each chart')
    t.match(work, /other queues are empty/)
    t.notMatch(work, '<i>')
    t.match(
      (await open(cookie, '/counters')).body,
      /Responses.*?data-label="Count">[1-9]/s,
      'own counts',
    )

    const admin = await createUser(test.database, { role: 'admin' })
    const theirs = (await signIn(test, admin)).cookie
    for (const tab of ['', '/work', '/counters']) {
      t.equal((await open(theirs, tab)).statusCode, 403, tab)
    }
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
  for (const url of ['/app/operations', '/app/operations/work']) {
    const { body, statusCode } = await test.app.inject({ url, headers: { cookie } })
    t.equal(statusCode, 200)
    t.match(body, 'could not be measured', url)
  }
})
