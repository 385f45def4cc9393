import t, { type Test } from 'tap'
import { createUser, signIn } from '#dev/testing/people.ts'
import { webhookVisitors } from '#test/pages/webhooks/webhook-visitors.ts'
import { build } from '#test/support/app/app.ts'
import { createOrder } from '#test/support/callers/objects.ts'

const form = '/app/tenant/invitations/new'
const ownSite = { 'sec-fetch-site': 'same-origin' }
const address = {
  name: 'Ada "Countess" <b>',
  line1: '12 Quay',
  line2: '',
  city: 'Lisbon',
  postalCode: '1100-012',
  country: 'PT',
}

/** An admin's browser that keeps the cookie of a refused form. */
async function setUp(t: Test, settings: Record<string, string> = {}) {
  const visitors = await webhookVisitors(await build(t, settings))
  const { test, one, admin } = visitors
  const page = `/app/orders/${await createOrder(test.database, one)}`
  let draft = ''
  type Answer = Awaited<ReturnType<typeof admin.open>>
  const follow = (answer: Answer) => {
    const cookie = answer.cookies.find(({ name }) => name === 'draft')
    if (cookie !== undefined) draft = cookie.value === '' ? '' : `; draft=${cookie.value}`
    return answer
  }
  const sender = String(one.userId)
  const headers = (cookie = admin.cookie) => ({ ...ownSite, cookie: `${cookie}${draft}` })
  return {
    ...visitors,
    page,
    send: async (url: string, fields: Record<string, string>, cookie = admin.cookie) =>
      follow(await admin.send(url, { sender, ...fields }, headers(cookie))),
    open: async (url: string, cookie = admin.cookie) =>
      follow(await test.app.inject({ url, headers: { ...headers(cookie), accept: 'text/html' } })),
    hasDraft: () => draft !== '',
  }
}

/** The field of the form on the page, with what stands behind it. */
function fieldOf(body: string, name: string): string {
  return (
    new RegExp(`<input[^>]* name="${name}"[^>]*>(<span[^>]*>[^<]*</span>)?`).exec(body)?.[0] ?? ''
  )
}

t.test('a form with faults is shown again, with all of them beside their fields', async (t) => {
  const { send, open, page, hasDraft } = await setUp(t)
  const refused = await send(`${page}/address`, {
    ...address,
    city: '',
    postalCode: 'x'.repeat(50),
  })
  t.equal(refused.statusCode, 400)
  t.match(refused.body, 'The form was not accepted')
  t.match(refused.body, 'Nothing that you entered is lost.')
  t.match(refused.body, `<a class="button" href="${page}">Back to the form</a>`)
  t.notMatch(JSON.stringify(refused.cookies), 'Countess', 'the cookie is encrypted')

  const { body } = await open(page)
  t.match(body, 'Nothing was changed. Correct the fields that are marked')
  t.match(fieldOf(body, 'name'), 'value="Ada &quot;Countess&quot; &lt;b&gt;"')
  t.notMatch(fieldOf(body, 'name'), 'aria-invalid')
  for (const name of ['city', 'postalCode']) {
    t.match(fieldOf(body, name), `aria-invalid="true" aria-describedby="fault-${name}"`)
    t.match(
      fieldOf(body, name),
      new RegExp(`<span class="fault" id="fault-${name}">[A-Z].+\\.</span>`),
    )
  }
  t.match(fieldOf(body, 'city'), 'value=""', 'what was entered, not what is stored')
  t.match(fieldOf(body, 'postalCode'), `value="${'x'.repeat(50)}"`)
  t.notOk(hasDraft(), 'it is shown once')
  t.notMatch((await open(page)).body, 'aria-invalid')
})

t.test('a form that is corrected in another way leaves nothing behind', async (t) => {
  const { send, open, page, hasDraft } = await setUp(t)
  await send(`${page}/address`, { ...address, city: '' })
  t.ok(hasDraft())
  t.equal((await send(`${page}/address`, address)).statusCode, 303)
  t.notOk(hasDraft())
  const { body } = await open(page)
  t.notMatch(body, 'aria-invalid')
  t.match(fieldOf(body, 'city'), 'value="Lisbon"')
})

t.test('a rule that only the server knows is named above what was entered', async (t) => {
  const { send, open } = await setUp(t)
  const refused = await send('/app/tenant/delete', { name: 'Another <name>' })
  t.equal(refused.statusCode, 409)
  t.match(refused.body, '<a class="button" href="/app/tenant">Back to the form</a>')
  const { body } = await open('/app/tenant')
  const form = /<details class="confirm" open>(?:(?!<\/details>).)*tenant\/delete.*?<\/form>/s.exec(
    body,
  )
  t.match(form?.[0], 'Type the name exactly as it is shown.', 'the form is unfolded')
  t.match(form?.[0], 'value="Another &lt;name&gt;"')
})

t.test('what was entered survives a rate limit', async (t) => {
  const { send, page } = await setUp(t, { RATE_LIMIT_API: '1/60' })
  await send(`${page}/address`, address)
  const limited = await send(`${page}/address`, { ...address, city: 'Porto' })
  t.equal(limited.statusCode, 429)
  t.match(limited.body, 'Nothing that you entered is lost.')
  t.ok(limited.cookies.some(({ name, value }) => name === 'draft' && value !== ''))
})

t.test('somebody else who signs in with the same browser does not see it', async (t) => {
  const { send, open, test, one } = await setUp(t)
  await send(form, { email: 'private@', role: 'viewer', department: '' })
  const colleague = await createUser(test.database, { tenantId: one.tenantId, role: 'admin' })
  const { cookie } = await signIn(test, colleague)
  t.notMatch((await open(form, cookie)).body, 'private@')
  await send(form, { email: 'private@', role: 'viewer', department: '' })
  t.match((await open(form)).body, 'value="private@"', 'its sender does')
})

t.test('what was entered before a session ended is shown to nobody else', async (t) => {
  const { send, open, test, one, admin, hasDraft } = await setUp(t)
  const colleague = await createUser(test.database, { tenantId: one.tenantId, role: 'admin' })
  const { cookie } = await signIn(test, colleague)
  const invitation = { email: 'private@acme.example', role: 'viewer', department: '' }
  const expire = () =>
    test.database.admin.query('UPDATE sessions SET expires_at = now() WHERE user_id = $1', [
      one.userId,
    ])
  await expire()
  const refused = await send(form, invitation)
  t.equal(refused.statusCode, 401)
  t.match(refused.body, 'the page shows what you entered')
  t.ok(hasDraft())
  t.notMatch((await open(form, cookie)).body, 'private@', 'somebody else signs in next')
  t.notOk(hasDraft(), 'nor does it wait for them to sign out')

  t.equal((await send(form, invitation)).statusCode, 401)
  const { cookie: again } = await signIn(test, one)
  t.match((await open(form, again)).body, 'value="private@acme.example"', 'its sender')
  t.ok(admin.cookie !== again)
})

t.test('a form that was rendered for somebody else is not kept', async (t) => {
  const { send, test, one, hasDraft } = await setUp(t)
  const colleague = await createUser(test.database, { tenantId: one.tenantId, role: 'admin' })
  const { cookie } = await signIn(test, colleague)
  const invitation = { email: 'private@', role: 'viewer', department: '' }
  t.equal((await send(form, invitation, cookie)).statusCode, 400)
  t.notOk(hasDraft(), 'in the page of the sender, a colleague has signed in since')
  for (const sender of ['', '0', '-1', '1.5', 'x', '9007199254740993', `${one.userId} `]) {
    const fields = { ...invitation, sender }
    t.equal((await send(form, fields)).statusCode, 400, sender)
    t.notOk(hasDraft(), sender)
  }
})

t.test('nothing is kept of another site, of a missing object, or of a secret', async (t) => {
  const { admin, send, page, hasDraft } = await setUp(t)
  const foreign = { 'sec-fetch-site': 'cross-site' }
  const crossed = await admin.send(`${page}/address`, { ...address, city: '' }, foreign)
  t.equal(crossed.statusCode, 403)
  t.notOk(crossed.cookies.some(({ name }) => name === 'draft'))
  t.equal((await send('/app/orders/999999/address', address)).statusCode, 404)
  t.notOk(hasDraft())
  const checked = await send(`/app/deliveries/${crypto.randomUUID()}/check`, { secret: 'whsec_x' })
  t.equal(checked.statusCode, 400)
  t.notOk(hasDraft(), 'the only field is a secret')
})
