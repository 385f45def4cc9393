import { generateKeyPairSync } from 'node:crypto'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import t, { type Test } from 'tap'
import { testConfig } from '#dev/testing/settings.ts'
import { buildApp } from '#src/app.ts'
import { createProviders } from '#src/auth/oidc/clients.ts'
import { createProviderTokens } from '#src/auth/provider-tokens/access.ts'
import {
  findPreset,
  type Preset,
  presets,
  settingsOfPreset,
} from '#src/config/providers/presets.ts'
import { openSystemDatabase } from '#src/db/system-database.ts'
import { createLogger } from '#src/observability/logger.ts'
import { openQueue } from '#src/queue/queue.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { patient } from '#test/support/database/open.ts'
import {
  internetOf,
  type StandIn,
  standInFor,
  type Visitor,
} from '#test/support/provider/internet.ts'
import { drain } from '#test/support/provider/provider-tokens.ts'
import { auditTrail, type Browser, visit } from '#test/support/provider/sign-in-journey.ts'

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const applePem = String(privateKey.export({ type: 'pkcs8', format: 'pem' }))
const tenant = '8e5b6c11-7c2f-4f0a-9a5e-0c1d2e3f4a5b'

/** The issuer that an operator gives, where the preset has none. */
const issuers: Record<string, string> = {
  okta: 'https://example.okta.com/oauth2/default',
  auth0: 'https://example.eu.auth0.com/',
  keycloak: 'https://login.example.com/realms/staff',
  zitadel: 'https://example.zitadel.cloud',
  authentik: 'https://auth.example.com/application/o/gatehouse/',
  cognito: 'https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_Ab12',
  entra_external: `https://${tenant}.ciamlogin.com/${tenant}/v2.0`,
  dex: 'https://dex.example.com',
  ory: 'https://slug.projects.oryapis.com',
}

const standard = { email_verified: true, name: 'Ada' }

/** What each provider says of a person, where it is not what the standard describes. */
const words: Record<string, (email: string) => Record<string, unknown>> = {
  google: (email) => ({ ...standard, email, hd: 'example.com', picture: null }),
  microsoft: (email) => ({ tid: tenant, email, xms_edov: '1', name: 'Ada', ver: '2.0' }),
  apple: (email) => ({ email, email_verified: 'true', is_private_email: 'false' }),
  github: (email) => ({
    login: 'ada',
    name: null,
    email: null,
    emails: [
      { email: 'old@example.com', primary: false, verified: true },
      { email, primary: true, verified: true },
    ],
  }),
  slack: (email) => ({ ...standard, email, 'https://slack.com/team_id': 'T0123456' }),
  discord: (email) => ({ username: 'ada', global_name: 'Ada', email, verified: true }),
  twitch: (email) => ({ email, email_verified: true, preferred_username: 'ada' }),
  line: () => ({ name: 'Ada', picture: 'https://profile.line-scdn.net/x' }),
  facebook: (email) => ({ name: 'Ada', email }),
  x: () => ({ name: 'Ada', username: 'ada' }),
  zitadel: (email) => ({
    ...standard,
    email,
    aud: ['client-zitadel', 'project-1'],
    azp: 'client-zitadel',
  }),
}

/** Providers that say of no address that it is verified, or have none. */
const withoutProof = ['line', 'facebook', 'x']

function person(preset: Preset, sub: string): Visitor {
  const email = `${preset.name}-${sub}@example.com`
  const claims = (words[preset.name] ?? ((address: string) => ({ ...standard, email: address })))(
    email,
  )
  return { sub, claims }
}

function settings(): Record<string, string> {
  const names = presets.map(({ name }) => name)
  const own = names.flatMap((name): [string, string][] => {
    const prefix = `OIDC_${name.toUpperCase()}_`
    const issuer = issuers[name]
    return [
      [`${prefix}CLIENT_ID`, `client-${name}`],
      [`${prefix}CLIENT_SECRET`, `secret-${name}`],
      [`${prefix}TRUST_EMAIL`, 'true'],
      [`${prefix}STORE_TOKENS`, 'true'],
      ...(issuer === undefined ? [] : [[`${prefix}ISSUER`, issuer] as [string, string]]),
    ]
  })
  return {
    ...Object.fromEntries(own),
    OIDC_PROVIDERS: names.join(),
    OIDC_APPLE_PRIVATE_KEY: applePem,
    OIDC_APPLE_KEY_ID: 'KEY1234567',
    OIDC_APPLE_TEAM_ID: 'TEAM123456',
    OIDC_ZITADEL_AUDIENCES: 'project-1',
  }
}

async function setUp(t: Test) {
  const database = await createDatabase(t)
  const config = testConfig(database, settings())
  const standIns = new Map(
    config.providers.map(({ name, issuer }) => {
      const preset = findPreset(name)
      if (preset === null) throw new Error(`no preset ${name}`)
      return [name, standInFor(preset, issuer)]
    }),
  )
  const providerFetch = internetOf([...standIns.values()])
  const log: string[] = []
  const logger = createLogger('trace', { write: (line) => void log.push(line) })
  const app = await buildApp(config, logger, undefined, undefined, { connect: true, providerFetch })
  t.teardown(() => app.close())
  const systemDb = openSystemDatabase(database.url, 3, patient)
  const workerDb = openSystemDatabase(database.workerUrl, 2, patient)
  const queue = openQueue(database.url, 'web', () => {})
  await queue.start()
  t.teardown(async () => {
    await queue.stop({ graceful: false })
    await Promise.all([systemDb.close(), workerDb.close()])
  })
  const providers = createProviders(config.providers, { clock: config.clock, fetch: providerFetch })
  const keys = config.encryptionKeys
  const access = createProviderTokens({ keys, systemDb, locks: systemDb, queue, providers })
  const worker = { systemDb: workerDb, providers, keys }
  // What the helpers of sign-ins read of a journey.
  const journey = { app, config, database, log }
  return { ...journey, journey, standIns, access, worker }
}

type World = Awaited<ReturnType<typeof setUp>>

/** Comes back as the provider sends the browser: a redirect, or a form from its site without cookies. */
async function comeBack(
  { app }: Pick<World, 'app'>,
  browser: Browser,
  request: URL,
  parameters: URLSearchParams,
) {
  if (request.searchParams.get('response_mode') !== 'form_post') {
    return visit(app, browser, `/auth/callback?${parameters}`)
  }
  const posted = await app.inject({
    method: 'POST',
    url: '/auth/callback',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'sec-fetch-site': 'cross-site',
      origin: request.origin,
    },
    payload: String(parameters),
  })
  t.equal(posted.statusCode, 303)
  t.equal(posted.headers['set-cookie'], undefined)
  return visit(app, browser, String(posted.headers.location))
}

async function ask({ app }: World, browser: Browser, name: string): Promise<URL> {
  const response = await visit(app, browser, `/auth/login?provider=${name}`)
  return new URL(String(response.headers.location))
}

async function signIn(world: World, browser: Browser, preset: Preset, visitor: Visitor) {
  const request = await ask(world, browser, preset.name)
  const parameters = siteOf(world, preset).approve(request, visitor)
  return comeBack(world, browser, request, parameters)
}

function siteOf({ standIns }: World, { name }: Preset): StandIn {
  const site = standIns.get(name)
  if (site === undefined) throw new Error(`no site of ${name}`)
  return site
}

async function identities({ database }: World, provider: string) {
  const { rows } = await database.admin.query(
    `SELECT i.provider_user_id AS subject, i.issuer, i.user_id, u.email, u.email_verified
     FROM oauth_identities i JOIN users u ON u.id = i.user_id WHERE provider = $1 ORDER BY 1`,
    [provider],
  )
  return rows
}

t.test(
  'each preset: sign-in, refusal, link, refresh and logout',

  async (t) => {
    const world = await setUp(t)
    const [google] = presets
    if (google === undefined) throw new Error('no preset')
    /** A session that may link: the provider said that the person has just authenticated. */
    const signInHost = async () => {
      const host = { cookie: '' }
      const visitor = person(google, 'host')
      visitor.claims = { ...visitor.claims, auth_time: Math.floor(Date.now() / 1000) }
      t.equal((await signIn(world, host, google, visitor)).statusCode, 302)
      return host
    }
    await signInHost()
    const hosting = await identities(world, 'google')

    for (const preset of presets) {
      await t.test(preset.name, async (t) => {
        const { app } = world
        const site = siteOf(world, preset)
        const browser = { cookie: '' }
        const ada = person(preset, '1001')

        const request = await ask(world, browser, preset.name)
        const asked = request.searchParams
        t.equal(asked.get('scope'), settingsOfPreset(preset).SCOPES ?? 'openid email profile')
        t.equal(asked.get('redirect_uri'), 'http://localhost:3000/auth/callback')
        t.equal(asked.has('code_challenge'), preset.oauth2?.pkce ?? true)
        t.equal(asked.has('nonce'), preset.kind === 'oidc')
        const response = await comeBack(world, browser, request, site.approve(request, ada))
        t.equal(response.statusCode, 302, response.body)
        t.equal((await visit(app, browser, '/me')).statusCode, 200)
        const [known] = (await identities(world, preset.name)).filter(
          ({ subject }) => subject === '1001',
        )
        t.match(known, {
          issuer:
            preset.name === 'microsoft'
              ? `https://login.microsoftonline.com/${tenant}/v2.0`
              : String,
          email_verified: !withoutProof.includes(preset.name),
        })
        if (!['line', 'x'].includes(preset.name))
          t.equal(known.email, `${preset.name}-1001@example.com`)

        const trail = (await auditTrail(world.journey)).length
        const other = await ask(world, { cookie: '' }, preset.name)
        other.searchParams.set('nonce', 'of another sign-in')
        other.searchParams.set('code_challenge', 'of another sign-in')
        const stolen = site.approve(other, ada)
        if (preset.oauth2?.pkce === false) stolen.set('code', 'made up')
        const attacked = { cookie: '' }
        const victim = await ask(world, attacked, preset.name)
        stolen.set('state', victim.searchParams.get('state') ?? '')
        const refused = await comeBack(world, attacked, victim, stolen)
        t.equal(refused.statusCode, 400, 'a code of another sign-in is refused')
        t.equal((await visit(app, attacked, '/me')).statusCode, 401)
        const entries = (await auditTrail(world.journey)).slice(trail)
        t.strictSame(entries, ['sign-in refused exchange-rejected'])

        const host = await signInHost()
        const start = await visit(app, host, `/auth/identities/${preset.name}`, { method: 'POST' })
        const link = new URL(start.json().url)
        const linked = await comeBack(world, host, link, site.approve(link, person(preset, '2002')))
        t.equal(linked.statusCode, 302, linked.body)
        const [second] = (await identities(world, preset.name)).filter(
          ({ subject }) => subject === '2002',
        )
        t.equal(second?.user_id, hosting[0].user_id, 'linked to the person who asked')

        const key = { provider: preset.name, subject: '1001' }
        const sent = site.exchanges.length
        t.match(await world.access.accessToken(key), { kind: 'token', accessToken: /^access-/ })
        t.equal(site.exchanges[sent]?.form.get('grant_type'), 'refresh_token')

        const left = await visit(app, browser, '/auth/logout', { method: 'POST' })
        t.equal(left.statusCode, 204)
        t.equal((await visit(app, browser, '/me')).statusCode, 401)
        await drain(world.journey, world.worker, true)
        t.equal(site.revoked.length > 0, site.revokes, 'tokens are revoked where that is possible')
      })
    }
    const secrets = world.log.join('')
    for (const text of ['access-', 'refresh-', 'code-', 'secret-', 'eyJ']) {
      t.notOk(secrets.includes(text), `no ${text} in the log`)
    }
  },
)

t.test('what the presets are for', async (t) => {
  const world = await setUp(t)
  const preset = (name: string) => {
    const found = findPreset(name)
    if (found === null) throw new Error(name)
    return found
  }

  await t.test(
    'Apple: the secret is a token of five minutes, the name comes in the form',
    async (t) => {
      const apple = preset('apple')
      const browser = { cookie: '' }
      const request = await ask(world, browser, 'apple')
      t.equal(request.searchParams.get('response_mode'), 'form_post')
      const parameters = siteOf(world, apple).approve(request, person(apple, 'ada'))
      const user = { name: { firstName: 'Ada', lastName: 'Lovelace' }, email: 'forged@example.com' }
      parameters.set('user', JSON.stringify(user))
      parameters.set('id_token', 'of another flow')
      t.equal((await comeBack(world, browser, request, parameters)).statusCode, 302)
      t.match((await visit(world.app, browser, '/me')).json(), {
        user: { email: 'apple-ada@example.com' },
        tenant: { name: 'Ada Lovelace' },
      })
      const secret = siteOf(world, apple).exchanges.at(-1)?.form.get('client_secret') ?? ''
      t.match(decodeProtectedHeader(secret), { alg: 'ES256', kid: 'KEY1234567' })
      const claims = decodeJwt(secret)
      t.match(claims, { iss: 'TEAM123456', sub: 'client-apple', aud: 'https://appleid.apple.com' })
      t.equal(Number(claims.exp) - Number(claims.iat), 300)
    },
  )

  await t.test('Microsoft: an address without xms_edov proves nothing', async (t) => {
    const microsoft = preset('microsoft')
    const visitor = person(microsoft, 'eve')
    visitor.claims = { ...visitor.claims, xms_edov: undefined, email_verified: true }
    t.equal((await signIn(world, { cookie: '' }, microsoft, visitor)).statusCode, 302)
    const [eve] = (await identities(world, 'microsoft')).filter(({ subject }) => subject === 'eve')
    t.equal(eve.email_verified, false)
  })

  await t.test('Microsoft: the issuer must be that of the token’s own tenant', async (t) => {
    const microsoft = preset('microsoft')
    const rows: [Record<string, unknown>, string][] = [
      [{ iss: 'https://login.microsoftonline.com/other/v2.0' }, 'id-token-issuer'],
      [{ iss: 'https://login.microsoftonline.com/{tenantid}/v2.0' }, 'id-token-issuer'],
      [{ tid: undefined }, 'id-token-issuer'],
      [{ tid: '../x' }, 'id-token-issuer'],
    ]
    for (const [changes, reason] of rows) {
      const visitor = person(microsoft, 'mallory')
      visitor.claims = { ...visitor.claims, ...changes }
      t.equal((await signIn(world, { cookie: '' }, microsoft, visitor)).statusCode, 400)
      t.equal((await auditTrail(world.journey)).at(-1), `sign-in refused ${reason}`)
    }
  })

  await t.test('the same sub of another tenant is another person', async (t) => {
    const microsoft = preset('microsoft')
    t.equal(
      (await signIn(world, { cookie: '' }, microsoft, person(microsoft, 'twin'))).statusCode,
      302,
    )
    const other = person(microsoft, 'twin')
    other.claims = { ...other.claims, tid: 'another-tenant' }
    t.equal((await signIn(world, { cookie: '' }, microsoft, other)).statusCode, 400)
    t.equal((await auditTrail(world.journey)).at(-1), 'sign-in refused issuer-changed')
  })

  await t.test('the name of a provider that was given to another one lets nobody in', async (t) => {
    const google = preset('google')
    t.equal((await signIn(world, { cookie: '' }, google, person(google, 'ada'))).statusCode, 302)
    await world.journey.database.admin.query(
      `INSERT INTO oauth_identities (provider, provider_user_id, user_id, issuer)
       SELECT provider, '17', user_id, 'https://before.example.com' FROM oauth_identities
       WHERE provider = 'google' AND provider_user_id = 'ada'`,
    )
    const visitor = person(google, '17')
    t.equal((await signIn(world, { cookie: '' }, google, visitor)).statusCode, 400)
    t.equal((await auditTrail(world.journey)).at(-1), 'sign-in refused issuer-changed')
  })

  await t.test('GitHub: an address that is not verified is not used', async (t) => {
    const github = preset('github')
    const visitor = person(github, '77')
    visitor.claims = {
      ...visitor.claims,
      emails: [{ email: 'eve@example.com', primary: true, verified: false }],
    }
    t.equal((await signIn(world, { cookie: '' }, github, visitor)).statusCode, 302)
    const [eve] = (await identities(world, 'github')).filter(({ subject }) => subject === '77')
    t.match(eve, { email: null, email_verified: false })
  })
  await t.test('without OpenID Connect a confirmation asks the person where it can', async (t) => {
    const asked: Record<string, Record<string, string>> = {
      github: { prompt: 'select_account' },
      discord: { prompt: 'consent' },
      facebook: { auth_type: 'reauthenticate' },
    }
    for (const one of presets.filter(({ kind }) => kind === 'oauth2')) {
      const browser = { cookie: '' }
      const plain = await ask(world, browser, one.name)
      const parameters = siteOf(world, one).approve(plain, person(one, '99'))
      t.equal((await comeBack(world, browser, plain, parameters)).statusCode, 302, one.name)
      const again = await visit(
        world.app,
        browser,
        `/auth/login?provider=${one.name}&reauthenticate=true`,
      )
      const added = [...new URL(String(again.headers.location)).searchParams].filter(
        ([name]) => !plain.searchParams.has(name),
      )
      t.same(Object.fromEntries(added), asked[one.name] ?? {}, one.name)
    }
  })
})
