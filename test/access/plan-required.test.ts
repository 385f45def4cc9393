import t from 'tap'
import { as, createUser, signIn } from '#dev/testing/people.ts'
import { policy } from '#src/access/policy.ts'
import { build } from '#test/support/app/app.ts'

// No rule of the program asks for a plan, so one does here, as a declaration with `plan: 'pro'` would.
const rule = policy.find(({ resource, action }) => resource === 'post' && action === 'read')
if (rule === undefined) throw new Error('there is no rule for posts')
Object.assign(rule, { plans: ['pro'] })

t.test('without the plan of the rule everything about it is 403, with it nothing is', async (t) => {
  const test = await build(t)
  const user = await createUser(test.database, { role: 'admin' })
  const send = as(test, await signIn(test, user))
  const set = (plan: string | null, cancelsAt: string | null = null) =>
    test.database.admin.query(
      'UPDATE users SET plan = $2, subscription_cancels_at = $3 WHERE id = $1',
      [user.userId, plan, cancelsAt],
    )
  const refused = {
    statusCode: 403,
    headers: { 'content-type': /^application\/problem\+json/ },
  }
  const past = new Date(Date.now() - 60_000).toISOString()
  const later = new Date(Date.now() + 3_600_000).toISOString()
  for (const [plan, cancelsAt] of [
    [null, null],
    ['team', null],
    ['pro', past],
  ] as const) {
    await set(plan, cancelsAt)
    const answer = await send('GET', '/posts')
    t.match(answer, refused, `${plan} until ${cancelsAt}`)
    t.match(answer.json(), {
      type: '/docs/errors/plan-required',
      title: 'You need another plan',
      detail: 'You need the plan pro. Open /app/account#plan to see your plan and the others.',
    })
    t.match(await send('GET', '/posts/987654321987'), refused, 'before the row is looked for')
  }
  for (const cancelsAt of [null, later]) {
    await set('pro', cancelsAt)
    t.equal((await send('GET', '/posts')).statusCode, 200)
    t.equal((await send('GET', '/posts/987654321987')).statusCode, 404)
  }
})

t.test('the page says so and leads to the plans', async (t) => {
  const test = await build(t)
  const user = await createUser(test.database, { role: 'admin' })
  const { cookie } = await signIn(test, user)
  const page = await test.app.inject({
    url: '/app/posts',
    headers: { cookie, accept: 'text/html' },
  })
  t.equal(page.statusCode, 403)
  t.match(page.body, 'You need the plan pro.')
  t.match(page.body, '<a class="button" href="/app/account#plan">View the plans</a>')
})
