import t, { type Test } from 'tap'
import { findFreePort } from '#dev/demo/postgres/free-port.ts'
import { startStripe } from '#dev/demo/stripe.ts'
import { createUser } from '#dev/testing/people.ts'
import { testSettings } from '#dev/testing/settings.ts'
import { startProvider } from '#test/routes/api/stripe-provider.ts'
import { production } from '#test/support/app/production.ts'
import { createDatabase, type TestDatabase } from '#test/support/database/database.ts'
import { runProgram } from '#test/support/processes/program.ts'

type Finding = { subject: string; faults: string[]; hints?: string[] }

const stripe = { BILLING_PROVIDER: 'stripe', BILLING_WEBHOOK_SECRETS: 'whsec_0123456789' }
const paddle = { BILLING_PROVIDER: 'paddle', BILLING_WEBHOOK_SECRETS: 'pdl_ntfset_0123456789' }
const nowhere = 'https://127.0.0.1:9/v1'

async function doctor(t: Test, env: Record<string, string>): Promise<Finding[]> {
  const program = await runProgram(t, ['doctor', '--json'], env)
  await program.ended
  t.notMatch(program.output(), /_key_of_this_test/, 'no key is printed')
  return JSON.parse(program.results())
}

async function billingOf(t: Test, env: Record<string, string>): Promise<Finding> {
  const findings = await doctor(t, env)
  const found = findings.find(({ subject }) => subject.startsWith('billing provider'))
  return found ?? { subject: 'none', faults: [], hints: [] }
}

/** Outside production, where a provider on loopback may be used. */
function development(database: TestDatabase, more: Record<string, string>) {
  return { ...testSettings(database), ...more }
}

t.test('doctor asks the sample of Stripe with the key', async (t) => {
  const database = await createDatabase(t)
  const key = 'sk_test_key_of_this_test'
  const webhook = { url: 'http://127.0.0.1:9/webhooks/billing', secret: 'whsec_0123456789' }
  const sample = await startStripe({ key, prices: ['price_pro'], webhook })
  t.teardown(() => sample.stop())
  const ask = (BILLING_API_KEY: string, BILLING_API_URL = sample.url) =>
    billingOf(t, development(database, { ...stripe, BILLING_API_KEY, BILLING_API_URL }))
  t.strictSame(
    await ask(key),
    { subject: `billing provider stripe (${sample.url})`, faults: [], hints: [] },
    'reachable',
  )
  t.match((await ask('sk_test_another_key_of_this_test')).faults, [
    /^Stripe refuses BILLING_API_KEY \(401\)\. Create a key in its dashboard and set that\.$/,
  ])
  const away = `http://127.0.0.1:${await findFreePort()}/v1`
  t.match((await ask(key, away)).faults, [
    /^Stripe cannot be reached at http:\/\/127\.0\.0\.1:\d+\/v1: .*ECONNREFUSED.*Check BILLING_API_URL, if it is set, and that this machine may connect/,
  ])
})

t.test('doctor compares the mode of the key with the settings and with the answer', async (t) => {
  const database = await createDatabase(t)
  const inProduction = (more: Record<string, string>) =>
    billingOf(t, { ...production(database), BILLING_API_URL: nowhere, ...more })
  for (const [name, more] of [
    ['Stripe', { ...stripe, BILLING_API_KEY: 'rk_test_key_of_this_test' }],
    ['Paddle', { ...paddle, BILLING_API_KEY: 'pdl_sdbx_apikey_key_of_this_test' }],
  ] as const) {
    t.match((await inProduction(more)).faults, [
      new RegExp(`^BILLING_API_KEY is of ${name}’s test mode, but this is production: .*live mode`),
      new RegExp(`^${name} cannot be reached`),
    ])
  }
  const live = { ...stripe, BILLING_API_KEY: 'sk_live_key_of_this_test' }
  t.match((await inProduction(live)).faults, [/^Stripe cannot be reached/])
  t.equal((await inProduction(live)).faults.length, 1, 'the mode is right')

  const provider = await startProvider(t, () => [200, { data: [{ livemode: false }] }])
  const found = await billingOf(
    t,
    development(database, { ...live, BILLING_API_URL: provider.url }),
  )
  t.match(found.hints, [/live mode, but this is not production: .*Set a key of the test mode/])
  t.match(found.faults, [
    /key of the live mode, but the API answers with events of the test mode\. Set the key/,
  ])
})

t.test(
  'doctor tells what a key may not do, a provider that is ill, and no key apart',
  async (t) => {
    const database = await createDatabase(t)
    let status = 403
    const provider = await startProvider(t, () => [status, {}])
    const settings = {
      ...paddle,
      BILLING_API_KEY: 'pdl_sdbx_apikey_key_of_this_test',
      BILLING_API_URL: provider.url,
    }
    const found = () => billingOf(t, development(database, settings))
    t.match((await found()).faults, [/^Paddle does not let BILLING_API_KEY read events \(403\)/])
    status = 500
    t.match((await found()).faults, [/^Paddle answers 500 .*wait until the provider works again/])
    const without = await billingOf(t, development(database, stripe))
    t.match(without, {
      faults: [],
      hints: [/^BILLING_API_KEY is empty: checkouts cannot be started/],
    })
    const signed = await billingOf(t, development(database, {}))
    t.equal(signed.subject, 'none', 'the specification’s own format needs no API')
  },
)

t.test('doctor finds a restricted key of Stripe that may not read refunds or prices', async (t) => {
  let refused = 'refunds'
  const database = await createDatabase(t)
  const provider = await startProvider(t, ({ path }) =>
    path.startsWith(`/v1/${refused}`) ? [403, {}] : [200, { data: [] }],
  )
  const settings = {
    ...stripe,
    BILLING_API_KEY: 'rk_test_key_of_this_test',
    BILLING_API_URL: provider.url,
  }
  const { faults } = await billingOf(t, development(database, settings))
  t.match(faults, [/^Stripe does not let BILLING_API_KEY read refunds \(403\)\. Give it the perm/])
  t.equal(faults.length, 1)
  refused = 'prices'
  t.match((await billingOf(t, development(database, settings))).faults, [
    /^Stripe does not let BILLING_API_KEY read prices \(403\)/,
  ])
  refused = 'nothing'
  t.strictSame((await billingOf(t, development(database, settings))).faults, [])
})

t.test('doctor counts what a former provider has left', async (t) => {
  const database = await createDatabase(t)
  const hints = async () => (await billingOf(t, development(database, stripe))).hints?.slice(1)
  await createUser(database, { billingCustomer: 'cus_1' })
  t.strictSame(await hints(), [], 'nothing of the present one')
  const set = `UPDATE users SET plan = 'pro', subscription_period_end = '2036-12-18T10:00:00Z'
    WHERE id = $1`
  for (const billingCustomer of ['ctm_1', 'ctm_2']) {
    const { userId } = await createUser(database, { billingCustomer })
    if (billingCustomer === 'ctm_1') await database.admin.query(set, [userId])
  }
  await database.admin.query(
    `INSERT INTO received_events (event_id, type, body, received_at, status, customer)
     VALUES ('evt_1', 'x', 'x', now(), 'unlinked', 'ctm_3'), ('evt_2', 'x', 'x', now(), 'unlinked', 'cus_3')`,
  )
  t.match(await hints(), [
    /^2 users or tenants are linked to customers of another billing provider than stripe\./,
    /^1 of them have a plan, paid until 2036-12-18 at the latest\. No event ends it/,
    /^1 events of such customers wait for a link\./,
  ])
})

t.test('doctor counts the customers of another BILLING_CUSTOMER', async (t) => {
  const database = await createDatabase(t)
  const hintsAs = async (customer: string) => {
    const settings = development(database, { ...stripe, BILLING_CUSTOMER: customer })
    return (await billingOf(t, settings)).hints?.slice(1)
  }
  const { tenantId } = await createUser(database, { billingCustomer: 'cus_1' })
  t.strictSame(await hintsAs('person'), [])
  t.match(await hintsAs('tenant'), [
    /^1 customers are people, although BILLING_CUSTOMER is tenant\. 0 of them have a plan/,
  ])
  await database.admin.query(
    `UPDATE tenants SET billing_customer = 'cus_2', plan = 'pro',
       subscription_period_end = '2036-12-18T10:00:00Z' WHERE id = $1`,
    [tenantId],
  )
  t.match(await hintsAs('person'), [
    /^1 customers are tenants, .* 1 of them have a plan, paid until 2036-12-18 at the latest/,
  ])
})

t.test('doctor names a secret that has another shape', async (t) => {
  const database = await createDatabase(t)
  for (const [settings, message] of [
    [{ ...stripe, BILLING_WEBHOOK_SECRETS: 'sk_live_0123456789abc' }, /must not|needs the signing/],
    [{ ...stripe, BILLING_WEBHOOK_SECRETS: 'pdl_ntfset_0123456789' }, /is one of paddle, but/],
    [{ ...paddle, BILLING_WEBHOOK_SECRETS: 'whsec_0123456789' }, /starts with pdl_ntfset_/],
  ] as const) {
    const [first] = await doctor(t, development(database, settings))
    t.match(first, { subject: 'settings', faults: [message] })
  }
})
