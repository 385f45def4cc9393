import t from 'tap'
import { as, createUser } from '#dev/testing/people.ts'
import { addIdentity, owners } from '#test/support/callers/account.ts'
import {
  accounts,
  auditTrail,
  type Browser,
  buildWithProvider,
  comeBack,
  type Journey,
  openTab,
  signInThrough,
  visit,
} from '#test/support/provider/sign-in-journey.ts'

const email = 'ada@example.com'
const trusted = { OIDC_DEMO_TRUST_EMAIL: 'example.com' }

/** Signs in with these claims; resolves to the answer of `/me`. */
async function meAfter(journey: Journey, claims: Record<string, unknown>) {
  journey.op.fault = { claims }
  const browser = { cookie: '' }
  const response = await signInThrough(journey, browser)
  if (response.statusCode !== 302) return { status: response.statusCode }
  return (await visit(journey.app, browser, '/me')).json()
}

async function addressesOf({ database }: Journey): Promise<Record<string, unknown>> {
  const { rows } = await database.admin.query('SELECT id, email, email_verified FROM users')
  return Object.fromEntries(
    rows.map((row) => [row.id, row.email && `${row.email} ${row.email_verified}`]),
  )
}

t.test('addresses that differ in the case of a letter outside ASCII are different', async (t) => {
  for (const [first, second] of [
    ['\u00C4da@example.com', '\u00E4da@example.com'],
    ['o\u212A@example.com', 'ok@example.com'],
  ]) {
    const journey = await buildWithProvider(t, trusted)
    const one = await meAfter(journey, { sub: 'one', email: first })
    const two = await meAfter(journey, { sub: 'two', email: second })
    t.match([one, two], [{ user: { email: first } }, { user: { email: second } }])
    t.not(one.user.id, two.user.id)
    t.strictSame(await auditTrail(journey), ['sign-in done create', 'sign-in done create'])
  }
})

t.test('a conflict that remains is refused with a reason', async (t) => {
  const journey = await buildWithProvider(t, trusted)
  // Stands for any conflict that a second try does not resolve.
  await journey.database.admin.query(`
    CREATE FUNCTION collide() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'taken' USING ERRCODE = 'unique_violation'; END $$;
    CREATE TRIGGER collide BEFORE INSERT ON oauth_identities FOR EACH ROW EXECUTE FUNCTION collide();`)
  const before = await accounts(journey)
  t.strictSame(await meAfter(journey, {}), { status: 400 })
  t.strictSame(await auditTrail(journey), ['sign-in refused concurrent-change'])
  t.strictSame(await accounts(journey), before)
})

t.test('an address that its holder never proved does not block its verified owner', async (t) => {
  const journey = await buildWithProvider(t, trusted)
  const squatter = await meAfter(journey, { sub: 'squatter', email_verified: false })
  t.match(squatter, { user: { email } })
  const owner = await meAfter(journey, { sub: 'owner', email: 'Ada@example.com' })
  t.not(owner.user.id, squatter.user.id)
  t.strictSame(await addressesOf(journey), {
    [squatter.user.id]: null,
    [owner.user.id]: 'Ada@example.com true',
  })
  t.match(
    await meAfter(journey, { sub: 'squatter', email_verified: false }),
    { user: { id: squatter.user.id, email: null } },
    'the claim loses the address, not the account',
  )
})

t.test('who loses an address reads so in their audit log, and nothing of its owner', async (t) => {
  const journey = await buildWithProvider(t, trusted)
  const browser = { cookie: '' }
  journey.op.fault = { claims: { sub: 'squatter', email_verified: false } }
  await signInThrough(journey, browser)
  await meAfter(journey, { sub: 'owner' })
  const [entry] = (await visit(journey.app, browser, '/auth/audit')).json().data
  t.match(entry, {
    action: 'address-remove',
    outcome: 'done',
    reason: 'verified-by-another',
    provider: null,
    tenantId: null,
    ip: null,
    userAgent: null,
    target: null,
  })
})

t.test('several users can claim an address that nobody has proven', async (t) => {
  const journey = await buildWithProvider(t, trusted)
  const [one, two] = [
    await meAfter(journey, { sub: 'one', email_verified: false }),
    await meAfter(journey, { sub: 'two', email_verified: false }),
  ]
  t.not(one.user.id, two.user.id)
  const proven = await meAfter(journey, { sub: 'two' })
  t.match(proven, { user: { id: two.user.id, email } })
  t.strictSame(await addressesOf(journey), {
    [one.user.id]: null,
    [two.user.id]: `${email} true`,
  })
})

t.test('verification counts from when the provider says so, at a later sign-in too', async (t) => {
  const journey = await buildWithProvider(t, trusted)
  const before = await meAfter(journey, { email_verified: false })
  await meAfter(journey, {})
  t.strictSame(await addressesOf(journey), { [before.user.id]: `${email} true` })
  t.strictSame(await auditTrail(journey), [
    'sign-in done create',
    'address-verify done verified-by-provider',
    'sign-in done sign-in',
  ])
  const linked = await meAfter(journey, { sub: 'another' })
  t.match(linked, { user: { id: before.user.id } }, 'now the address links')
  await meAfter(journey, { email_verified: false })
  t.strictSame(await addressesOf(journey), { [before.user.id]: `${email} true` }, 'it stays proven')
})

t.test('a late verification gives no address that another user has proven', async (t) => {
  const journey = await buildWithProvider(t, trusted)
  const late = await createUser(journey.database, { email: 'late@example.com' })
  await addIdentity(journey, late.userId, 'late')
  const owner = await meAfter(journey, { sub: 'owner' })
  t.match(await meAfter(journey, { sub: 'late' }), { user: { id: late.userId } })
  t.strictSame(await addressesOf(journey), {
    [late.userId]: 'late@example.com false',
    [owner.user.id]: `${email} true`,
  })
})

t.test('a proven address is not replaced by another one', async (t) => {
  const journey = await buildWithProvider(t, trusted)
  const { user } = await meAfter(journey, {})
  await meAfter(journey, { email: 'moved@example.com' })
  t.strictSame(await addressesOf(journey), { [user.id]: `${email} true` })
})

t.test('an address links nobody once the identities of its holder have it no more', async (t) => {
  const journey = await buildWithProvider(t, trusted)
  const ada = await meAfter(journey, { sub: 'ada' })
  const moved = await meAfter(journey, { sub: 'ada', email: 'moved@example.com' })
  t.equal(moved.user.id, ada.user.id)
  t.strictSame(await meAfter(journey, { sub: 'successor' }), { status: 400 }, 'of the same mailbox')
  t.equal((await auditTrail(journey)).at(-1), 'sign-in refused email-known')
  await addIdentity(journey, ada.user.id, 'ada-elsewhere', 'other', email)
  const linked = await meAfter(journey, { sub: 'successor' })
  t.equal(linked.user.id, ada.user.id, 'another identity of hers has it')
})

t.test('an unlinked identity leaves no address by which its provider links another', async (t) => {
  const journey = await buildWithProvider(t, trusted)
  const browser = { cookie: '' }
  journey.op.fault = { claims: { sub: 'ada' } }
  await signInThrough(journey, browser)
  const { user } = (await visit(journey.app, browser, '/me')).json()
  await addIdentity(journey, user.id, 'ada-elsewhere', 'other')
  const send = as(journey, { cookie: browser.cookie })
  t.equal((await send('DELETE', '/auth/identities/demo/ada')).statusCode, 204)
  t.strictSame(await meAfter(journey, { sub: 'successor' }), { status: 400 })
  t.strictSame(await owners(journey), { 'other:ada-elsewhere': user.id })
})

t.test(
  'of users who prove one address at the same time one gets it, and all sign in',
  async (t) => {
    const journey = await buildWithProvider(t, trusted)
    const { app, op } = journey
    const subjects = ['one', 'two', 'three', 'four']
    for (const sub of subjects) await meAfter(journey, { sub, email_verified: false })
    const answers: { browser: Browser; parameters: URLSearchParams }[] = []
    const waiting = [...subjects]
    op.fault = {
      claims: {
        get sub() {
          return waiting.pop()
        },
      },
    }
    for (const _ of subjects) {
      const browser = { cookie: '' }
      answers.push({ browser, parameters: op.approve(await openTab(app, browser)) })
    }
    const responses = await Promise.all(
      answers.map(({ browser, parameters }) => comeBack(app, browser, parameters)),
    )
    t.strictSame(
      responses.map(({ statusCode }) => statusCode),
      [302, 302, 302, 302],
    )
    const held = Object.values(await addressesOf(journey)).filter((address) => address !== null)
    t.strictSame(held, [`${email} true`])
  },
)
