import t, { type Test } from 'tap'
import { untilTrue } from '#test/support/database/until.ts'
import {
  buildWithProvider,
  type Journey,
  openTab,
  signInThrough,
} from '#test/support/provider/sign-in-journey.ts'

const headers = { accept: 'text/html' }
const outage = 'Sign-in with Demo is currently unavailable.'

/** The server with two providers, of which the second is never called, and a settable clock. */
async function setUp(t: Test) {
  const clock = { ms: Date.UTC(2031, 4, 6), now: () => new Date(clock.ms) }
  const other = {
    OIDC_PROVIDERS: 'demo,other',
    OIDC_OTHER_ISSUER: 'http://127.0.0.1:9',
    OIDC_OTHER_CLIENT_ID: 'x',
    OIDC_OTHER_CLIENT_SECRET: 'a client secret',
  }
  const journey = await buildWithProvider(t, { ...other, OIDC_DEMO_LABEL: 'Demo' }, clock)
  return { ...journey, clock }
}

const page = ({ app }: Journey, url = '/auth/login') => app.inject({ url, headers })

t.test(
  'an outage is shown next to the button, and a click leads to a page with the next step',
  async (t) => {
    const journey = await setUp(t)
    const { op, clock } = journey
    t.notMatch(
      (await page(journey)).body,
      outage,
      'nothing is known yet, and the page does not wait',
    )
    clock.ms += 3_600_000 // so that the cached metadata expires
    op.fault = { metadataAnswer: 'reset' }
    const clicked = await page(journey, '/auth/login?provider=demo')
    t.equal(clicked.statusCode, 503)
    t.match(clicked.headers['retry-after'], /^\d+$/)
    t.match(clicked.body, 'The provider is not responding.')
    t.match(clicked.body, 'Try again in 30 seconds.')
    t.match(clicked.body, /<a class="button" href="\/auth\/login">Try again</)

    for (const url of ['/auth/login', '/']) {
      const { body, statusCode } = await page(journey, url)
      t.equal(statusCode, 200)
      t.match(body, outage, url)
      t.match(body, 'Try Demo anyway')
    }
    op.fault = {}
    t.ok(await openTab(journey.app, { cookie: '' }), '“Try anyway” works once the provider is back')
    t.notMatch((await page(journey)).body, outage)
  },
)

t.test(
  'during an outage there are no redirects to the provider, even with cached metadata',
  async (t) => {
    const journey = await setUp(t)
    const { op } = journey
    t.equal((await signInThrough(journey, { cookie: '' })).statusCode, 302)
    op.fault = { token: { status: 503 }, jwksAnswer: { status: 503 } }
    const failed = await signInThrough(journey, { cookie: '' })
    t.equal(failed.statusCode, 503, 'the exchange fails')
    t.equal((await page(journey, '/auth/login?provider=demo')).statusCode, 503)
    t.match((await page(journey)).body, outage)
    op.fault = {}
    t.equal((await page(journey, '/auth/login?provider=demo')).statusCode, 302)
  },
)

t.test(
  'a page view checks in the background, at intervals, whether the provider is back',
  async (t) => {
    const journey = await setUp(t)
    const { op, clock } = journey
    op.fault = { jwksAnswer: { status: 503 } }
    await page(journey)
    await untilTrue(async () => (await page(journey)).body.includes(outage))
    const { jwks } = op.calls
    op.fault = {}
    t.match((await page(journey)).body, outage)
    t.equal(op.calls.jwks, jwks, 'asked only a moment ago')
    clock.ms += 15_000
    t.match((await page(journey)).body, outage, 'this page does not wait for the check')
    await untilTrue(async () => !(await page(journey)).body.includes(outage))
  },
)
