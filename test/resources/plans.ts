import t from 'tap'
import { as, signIn } from '#dev/testing/people.ts'
import { testConfig } from '#dev/testing/settings.ts'
import { buildAt } from '#test/support/app/at-time.ts'
import { owner } from '#test/support/callers/token-owner.ts'
import { untilBlocked } from '#test/support/database/until.ts'

/* What the plans of the office app give: features that actions ask for, and how many rows there can be. */

const test = await buildAt(t)
const { admin } = test.database
const html = { accept: 'text/html' }
const refused = { statusCode: 403, headers: { 'content-type': /^application\/problem\+json/ } }
const hint = 'Open /app/account#plan to see your plan and the others.'

// Made here, because a token needs a recent sign-in, and these tests may come minutes later.
const people = {
  booking: await member(),
  counting: await member(),
  racing: await member(),
  wishing: await member(),
  reading: await member(),
}
const token = await people.counting.make({ permissions: ['desk:use'] })

async function member() {
  const person = await owner(test, { role: 'clerk' })
  const { user } = person
  const set = (plan: string | null, cancelsAt: string | null = null) =>
    admin.query('UPDATE users SET plan = $2, subscription_cancels_at = $3 WHERE id = $1', [
      ...[user.userId, plan, cancelsAt],
    ])
  const post = (url: string, fields: Record<string, string>) =>
    test.app.inject({
      ...{ method: 'POST', url, payload: new URLSearchParams(fields).toString() },
      headers: {
        ...{ ...html, cookie: person.cookie, 'sec-fetch-site': 'same-origin' },
        'content-type': 'application/x-www-form-urlencoded',
      },
    })
  return { ...person, set, post }
}

async function rowsOf(table: string, { user }: { user: { userId: number; tenantId: string } }) {
  const scope = table === 'desks' ? 'tenant_id' : 'user_id'
  const id = table === 'desks' ? user.tenantId : user.userId
  const { rows } = await admin.query(`SELECT FROM ${table} WHERE ${scope} = $1`, [id])
  return rows.length
}

t.test('an action with a feature is for people whose plan has it', async (t) => {
  const { send, set } = people.booking
  const desk = (await send('POST', '/desks', { name: 'A' })).json()
  const wish = (await send('POST', '/wishes', { title: 'A lamp' })).json()
  const past = new Date(Date.now() - 60_000).toISOString()
  const cases = [
    [null, null, 403, 403],
    ['free', null, 403, 403],
    ['pro', null, 200, 403],
    ['team', null, 200, 200],
    ['team', past, 403, 403],
    ['unheard-of', null, 403, 403],
  ] as const
  for (const [plan, cancelsAt, booked, changed] of cases) {
    await set(plan, cancelsAt)
    const book = await send('POST', `/desks/${desk.id}/book`)
    const change = await send('PATCH', `/wishes/${wish.id}`, { title: `for ${plan}` })
    t.equal(book.statusCode, booked, `${plan} books`)
    t.equal(change.statusCode, changed, `${plan} changes`)
    const missing = await send('POST', '/desks/987654321/book')
    t.equal(missing.statusCode, booked === 200 ? 404 : 403, 'decided before the row is looked for')
    if (booked === 200) continue
    t.match(book, refused)
    t.match(book.json(), {
      type: '/docs/errors/plan-required',
      detail: `You need the feature book-ahead, which the plan pro or team has. ${hint}`,
    })
    t.equal(
      change.json().detail,
      `You need the feature second-thoughts, which the plan team has. ${hint}`,
    )
  }
})

t.test('a route with a feature is for people whose plan has it', async (t) => {
  const { send, set, user } = people.booking
  const guest = await owner(test, { role: 'guest', tenantId: user.tenantId })
  for (const [plan, status] of [
    [null, 403],
    ['free', 403],
    ['pro', 200],
    ['unheard-of', 403],
  ] as const) {
    await set(plan)
    t.equal((await send('GET', '/floor-plan')).statusCode, status, `${plan}`)
    t.equal((await send('GET', '/desks')).statusCode, 200, 'the rule alone asks for none')
  }
  t.match((await send('GET', '/floor-plan')).json(), {
    type: '/docs/errors/plan-required',
    detail: `You need the feature book-ahead, which the plan pro or team has. ${hint}`,
  })
  await admin.query(`UPDATE users SET plan = 'team' WHERE id = $1`, [guest.user.userId])
  t.match((await guest.send('GET', '/floor-plan')).json(), { type: '/docs/errors/forbidden' })
  const { paths } = (await send('GET', '/openapi.json')).json()
  const { get } = paths['/floor-plan']
  t.match(get.description, 'only with the feature book-ahead (the plan pro or team)')
  t.match(JSON.stringify(get.responses[403]), 'PlanRequired')
})

t.test('people read what their plan gives, and what of it is used', async (t) => {
  const { send, set } = people.reading
  await send('POST', '/desks', { name: 'A' })
  const read = async () => {
    const { features, limits } = (await send('GET', '/me')).json()
    return { features, limits }
  }
  const limits = (desks: number | null, wishes: number | null) => [
    { resource: 'desks', limit: desks, used: 1 },
    { resource: 'wishes', limit: wishes, used: 0 },
  ]
  t.strictSame(await read(), { features: [], limits: limits(2, 1) })
  await set('pro')
  t.strictSame(await read(), { features: ['book-ahead'], limits: limits(3, null) })
  await set('unheard-of')
  t.strictSame(await read(), { features: [], limits: limits(2, 1) })
  const guest = await owner(test, { role: 'guest', tenantId: people.reading.user.tenantId })
  t.strictSame(
    (await guest.send('GET', '/me')).json().limits,
    [{ resource: 'wishes', limit: 1, used: 0 }],
    'nothing of rows that they may not read',
  )
})

t.test('nobody creates more rows than their plan is for', async (t) => {
  const { send, post, set, user } = people.counting
  const create = (name: string, headers = {}) => send('POST', '/desks', { name }, headers)
  const key = { 'idempotency-key': crypto.randomUUID() }
  const first = await create('A', key)
  t.equal(first.statusCode, 201)
  t.equal((await create('B')).statusCode, 201)
  const full = await create('C')
  t.match(full, refused)
  t.match(full.json(), {
    type: '/docs/errors/limit-reached',
    detail: `Your plan is for 2 desks, and your tenant has 2. The plan pro or team is for more. ${hint}`,
  })
  t.strictSame(
    (await create('A', key)).json(),
    first.json(),
    'a request sent again creates nothing',
  )
  t.match(await token.use('POST', '/desks', { name: 'C' }), refused, 'with a token')
  const colleague = await owner(test, { role: 'clerk', tenantId: user.tenantId })
  t.match(await colleague.send('POST', '/desks', { name: 'C' }), refused, 'in one tenant together')
  const posted = await post('/app/desks/new', { submission: crypto.randomUUID(), name: 'C' })
  t.equal(posted.statusCode, 403, 'by the form')
  t.equal(await rowsOf('desks', people.counting), 2)

  const { id } = first.json()
  t.equal((await send('PATCH', `/desks/${id}`, { name: 'D' })).statusCode, 200, 'they may change')
  t.equal((await send('DELETE', `/desks/${id}`)).statusCode, 204)
  t.equal((await create('C')).statusCode, 201, 'there is room again')

  await set('pro')
  t.equal((await create('D')).statusCode, 201)
  t.match((await create('E')).json(), {
    detail: `Your plan is for 3 desks, and your tenant has 3. The plan team is for more. ${hint}`,
  })
  await set('team')
  for (const name of ['E', 'F']) t.equal((await create(name)).statusCode, 201)
  await set(null)
  t.match((await create('G')).json(), {
    detail: /^Your plan is for 2 desks, and your tenant has 5/,
  })
  t.equal(await rowsOf('desks', people.counting), 5, 'what is stored stays')
})

t.test('of many who create at once, as many succeed as there is room for', async (t) => {
  const { send } = people.racing
  const create = async (name: string) => (await send('POST', '/desks', { name })).statusCode
  t.equal(await create('the first of two'), 201)
  // Lets them count the desks and not insert one.
  const holder = await admin.connect()
  await holder.query('BEGIN; LOCK TABLE desks IN SHARE MODE')
  const created = Promise.all(['A', 'B', 'C', 'D', 'E', 'F', 'G'].map(create))
  try {
    await untilBlocked(test.database, 2)
  } finally {
    await holder.query('COMMIT')
    holder.release()
  }
  t.strictSame((await created).sort(), [201, 403, 403, 403, 403, 403, 403])
  t.equal(await rowsOf('desks', people.racing), 2)
})

t.test('rows of a person are counted in all their tenants', async (t) => {
  const { send, user } = people.wishing
  const two = await send('POST', '/wishes', { title: 'two' })
  t.match(two, refused, 'an override counts each row')
  t.match(two.json().detail, 'Your plan is for 1 wishes, and you have 1.')
  t.equal(await rowsOf('wishes', people.wishing), 0, 'and nothing of it is left')
  t.equal((await send('POST', '/wishes', { title: 'A lamp' })).statusCode, 201)
  const other = await owner(test, { role: 'clerk' })
  await admin.query('INSERT INTO memberships (tenant_id, user_id, role) VALUES ($1, $2, $3)', [
    ...[other.user.tenantId, user.userId, 'clerk'],
  ])
  const elsewhere = { userId: user.userId, tenantId: other.user.tenantId }
  const there = as(test, await signIn(test, elsewhere))
  t.match(await there('POST', '/wishes', { title: 'A chair' }), refused)
  const theirs = await other.send('POST', '/wishes', { title: 'A chair' })
  t.equal(theirs.statusCode, 201, 'those of others do not count')
})

t.test('a price of a plan that the app does not have is a fault at start', async (t) => {
  const url = 'postgres://a@b/c'
  const urls = { superuserUrl: url, ownerUrl: url, url, workerUrl: url }
  const configOf = (BILLING_PLANS: string) =>
    testConfig(urls, {
      ...{ BILLING_PROVIDER: 'stripe', BILLING_WEBHOOK_SECRETS: 'whsec_0123456789', BILLING_PLANS },
    })
  t.doesNotThrow(() => configOf('price_1:pro,price_2:team'))
  t.throws(() => configOf('price_1:pro,price_2:gold'), {
    message: /BILLING_PLANS: the app has no plan gold; it has free, pro, team\./,
  })
})

t.test('pages show what is used, and why there is no form', async (t) => {
  const { send, post, set } = await member()
  const page = async (path: string) => (await send('GET', path, undefined, html)).body
  const card = async () =>
    /<section[^>]*aria-labelledby="plan"[\s\S]*?<\/section>/.exec(await page('/app/account'))?.[0]
  t.match(await page('/app/desks/new'), '<button class="button">Create desk</button>')
  const desk = (await send('POST', '/desks', { name: 'A' })).json()
  await send('POST', '/desks', { name: 'B' })
  const full = await page('/app/desks/new')
  t.notMatch(full, '<button class="button">Create desk</button>')
  t.match(
    full,
    'Your plan is for 2 desks, and your tenant has 2. The plan pro or team is for more.',
  )
  t.match(full, '<a class="button" href="/app/account#plan">View the plans</a>')
  t.match(await card(), />Desks<\/dt><dd>2 of 2 <span class="badge warning">Full</)
  t.notMatch(await card(), 'Includes')
  const path = `/app/desks/${desk.id}`
  t.notMatch(await page(path), `${path}/book`)
  const posted = await post(`${path}/book`, { submission: crypto.randomUUID() })
  t.equal(posted.statusCode, 403)
  t.match(posted.body, 'You need the feature book-ahead, which the plan pro or team has.')

  await set('pro')
  t.match(await card(), />Professional</)
  t.match(await card(), />Includes<\/dt><dd>Book ahead</)
  t.match(await card(), />Desks<\/dt><dd>2 of 3</)
  t.match(await card(), />Wishes<\/dt><dd>0, unlimited</)
  t.notMatch(await card(), 'Full')
  t.match(await page(path), `${path}/book`)
  t.match(await page('/app/desks/new'), '<button class="button">Create desk</button>')
})
