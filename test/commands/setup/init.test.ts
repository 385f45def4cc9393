import { spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { parseEnv } from 'node:util'
import t, { type Test } from 'tap'
import { readConfig } from '#src/config/config.ts'
import { temporaryFolder } from '#test/support/processes/program.ts'

const cli = fileURLToPath(new URL('../../../dev/cli.ts', import.meta.url))

const answers = [
  'https://app.example.com',
  '172.30.0.0/24',
  '',
  'https://login.example.com',
  'client-1',
  'hush #1',
  'postgres://owner:pw%23@db.example:5433/product',
  'signed',
  'whsec_from_the_provider_of_billing',
  '',
  'login:ada',
]

t.test('the answers and new secrets become a complete configuration', async (t) => {
  const cwd = await temporaryFolder(t)
  const { status, results, messages } = await init(t, cwd, answers)
  t.equal(status, 0, messages)
  t.match(results, /gatehouse migrate[\s\S]*https:\/\/app\.example\.com\/auth\/callback/)
  t.notMatch(results + messages, 'hush')
  const file = join(cwd, '.env')
  t.equal((await stat(file)).mode & 0o777, 0o600)
  const env = parseEnv(await readFile(file, 'utf8'))
  t.match(env, {
    NODE_ENV: 'production',
    OPERATORS: 'login:ada',
    BILLING_PROVIDER: 'signed',
    BILLING_WEBHOOK_SECRETS: 'whsec_from_the_provider_of_billing',
    OIDC_LOGIN_CLIENT_SECRET: 'hush #1',
    DATABASE_URL: /^postgres:\/\/gatehouse_app:[\w-]{43}@db\.example:5433\/product$/,
    DATABASE_WORKER_URL: /^postgres:\/\/gatehouse_worker:[\w-]{43}@db\.example:5433\/product$/,
  })
  t.match(readConfig(env), { baseUrl: 'https://app.example.com', providers: [{ name: 'login' }] })
  const ownerFile = join(cwd, '.env.migrate')
  t.equal((await stat(ownerFile)).mode & 0o777, 0o600)
  t.same(parseEnv(await readFile(ownerFile, 'utf8')), {
    DATABASE_OWNER_URL: 'postgres://owner:pw%23@db.example:5433/product',
  })
  t.notOk('DATABASE_OWNER_URL' in env, 'the programs do not get what owns the database')

  const again = await init(t, cwd, answers)
  t.equal(again.status, 1)
  t.match(again.messages, /\.env exists already\. Move it away/)
  t.strictSame(parseEnv(await readFile(file, 'utf8')), env, 'nothing was changed')
  await rm(file)
  const beside = await init(t, cwd, answers)
  t.match(beside, { status: 1, messages: /\.env\.migrate exists already\. Move it away/ })
  await t.rejects(stat(file), { code: 'ENOENT' }, 'and nothing was written')
})

t.test('billing and operators can be left open, and init says what follows', async (t) => {
  const cwd = await temporaryFolder(t)
  const open = [...answers.slice(0, 7).with(1, ''), '', '']
  const { results, status } = await init(t, cwd, open)
  t.equal(status, 0)
  t.match(results, /OPERATORS is empty.* The start page shows/)
  t.match(results, /Nobody has a verified address.*OIDC_<NAME>_TRUST_EMAIL.*billing link/)
  t.match(results, /Invitations are not mailed/)
  const env = parseEnv(await readFile(join(cwd, '.env'), 'utf8'))
  t.match(env, { HOST: '127.0.0.1', TRUST_PROXY: '127.0.0.1' })
  t.notOk('OPERATORS' in env || 'BILLING_WEBHOOK_SECRETS' in env)
  t.match(readConfig(env).warnings.join(), /BILLING_WEBHOOK_SECRETS is empty/)
})

t.test('a slash at the end of the public address is not part of it', async (t) => {
  const cwd = await temporaryFolder(t)
  const { results } = await init(t, cwd, ['https://app.example.com/', ...answers.slice(1)])
  t.match(results, /Register https:\/\/app\.example\.com\/auth\/callback as a redirect URI/)
})

t.test('a known provider is asked only what its preset does not say', async (t) => {
  const common = { before: answers.slice(0, 2), after: answers.slice(6) }
  const run = async (...provider: string[]) => {
    const cwd = await temporaryFolder(t)
    await writeFile(join(cwd, 'AuthKey.p8'), signingKey())
    const result = await init(t, cwd, [...common.before, ...provider, ...common.after])
    t.equal(result.status, 0, result.messages)
    return { ...result, env: parseEnv(await readFile(join(cwd, '.env'), 'utf8')) }
  }
  const google = await run('google', 'client-1', 'hush')
  t.match(google.messages, /Sign-in provider \(google, microsoft, apple, github, /)
  t.notMatch(google.messages, /issuer/)
  t.match(google.results, /docs\/sign-in-providers\.md#google/)
  t.equal(google.env.OIDC_GOOGLE_ISSUER, undefined)
  t.match(readConfig(google.env).providers, [{ name: 'google', label: 'Google' }])

  const okta = await run('okta', 'https://acme.okta.com', 'client-1', 'hush')
  t.match(okta.messages, /Its issuer, such as https:\/\/[^ ]+okta\.com/)
  t.equal(okta.env.OIDC_OKTA_ISSUER, 'https://acme.okta.com')

  const apple = await run('apple', 'com.example.web', 'TEAM123456', 'KEY1234567', 'AuthKey.p8')
  t.notMatch(apple.messages, /Client secret/)
  t.match(apple.env, {
    OIDC_APPLE_TEAM_ID: 'TEAM123456',
    OIDC_APPLE_KEY_ID: 'KEY1234567',
    OIDC_APPLE_PRIVATE_KEY_FILE: /^\/.+\/AuthKey\.p8$/,
  })
})

t.test('each answer is checked, and nothing is written with a wrong one', async (t) => {
  const cwd = await temporaryFolder(t)
  const wrong: [number, string, RegExp][] = [
    [0, 'http://app.example.com', /must be an https origin/],
    [0, 'https://app.example.com/path', /must be an https origin/],
    [1, 'proxy.example.com', /must be an address/],
    [1, '300.1.1.1', /TRUST_PROXY/],
    [2, 'Log In', /must be a word in lower case/],
    [3, 'login.example.com', /must be an https URL/],
    [4, '', /is needed/],
    [5, "it's", /must have no quotes/],
    [6, 'mysql://a:b@c/d', /must be postgres:/],
    [7, 'lemon', /It must be one of signed, stripe, paddle, standard\./],
    [8, 'short', /BILLING_WEBHOOK_SECRETS/],
    [9, 'http://billing.example.com', /must be an https URL/],
    [10, 'ada', /OPERATORS: “ada” is not a provider:subject pair/],
  ]
  for (const [index, answer, message] of wrong) {
    const { status, messages } = await init(t, cwd, answers.with(index, answer))
    t.equal(status, 1, answer)
    t.match(messages, message)
    await t.rejects(stat(join(cwd, '.env')), { code: 'ENOENT' })
  }
  const apple = ['apple', 'com.example.web', 'TEAM123456', 'KEY1234567', 'missing.p8']
  const missing = await init(t, cwd, [...answers.slice(0, 2), ...apple, ...answers.slice(6)])
  t.match(missing, { status: 1, messages: /There is no such file\. Nothing was written\./ })
  const few = await init(t, cwd, answers.slice(0, 3))
  t.match(few, { status: 1, messages: /The answers ended too early\. Nothing was written\./ })
})

t.test('each billing provider is asked for its own settings, in its own forms', async (t) => {
  const run = async (...billing: string[]) => {
    const cwd = await temporaryFolder(t)
    const result = await init(t, cwd, [...answers.slice(0, 7), ...billing, ''])
    const env = result.status === 0 ? parseEnv(await readFile(join(cwd, '.env'), 'utf8')) : {}
    return { ...result, env }
  }
  const secret = 'whsec_0123456789'
  const stripe = await run('stripe', secret, 'rk_live_0123456789', 'price_1:pro,price_2:team')
  t.match(stripe.messages, /the signing secret of the endpoint, which starts with whsec_/)
  t.match(stripe.messages, /Key of its API: a secret or restricted key/)
  t.match(stripe.env, {
    BILLING_PROVIDER: 'stripe',
    BILLING_WEBHOOK_SECRETS: secret,
    BILLING_API_KEY: 'rk_live_0123456789',
    BILLING_PLANS: 'price_1:pro,price_2:team',
  })
  t.match(readConfig(stripe.env).billing, { provider: 'stripe', api: { key: /^rk_live_/ } })
  t.notMatch(stripe.results + stripe.messages, /0123456789/, 'no secret is printed')

  const paddle = await run('paddle', 'pdl_ntfset_0123456789', 'pdl_live_apikey_1', '')
  t.match(readConfig(paddle.env).billing, { provider: 'paddle', plans: null })
  t.match(paddle.env, { BILLING_PROVIDER: 'paddle', BILLING_API_KEY: 'pdl_live_apikey_1' })
  const standard = await run('standard', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'prod_1:pro')
  t.match(standard.env, { BILLING_PROVIDER: 'standard', BILLING_PLANS: 'prod_1:pro' })
  t.notMatch(standard.messages, /Key of its API/)
  const url = 'https://billing.example.com/v1'
  const signed = await run('signed', 'a secret of sixteen', url, 'a key of its API')
  t.match(signed.env, { BILLING_API_URL: url, BILLING_API_KEY: 'a key of its API' })

  for (const [billing, message] of [
    [['stripe', 'pdl_ntfset_0123456789'], /is one of paddle, but BILLING_PROVIDER is stripe/],
    [['stripe', 'another_0123456789'], /needs the signing secret of the endpoint/],
    [['stripe', secret, 'pk_live_1'], /needs a secret or restricted key/],
    [['stripe', secret, 'sk_test_1'], /It is of the test mode; production needs a live key/],
    [['paddle', 'pdl_ntfset_0123456789', 'pdl_sdbx_apikey_1'], /of the test mode/],
    [['stripe', secret, 'sk_live_1', 'price_1'], /must be price:plan pairs/],
    [['stripe', ''], /It is needed/],
  ] as const) {
    const { status, messages } = await run(...billing)
    t.equal(status, 1, billing.join(' '))
    t.match(messages, message)
    t.match(messages, /Nothing was written/)
  }
})

t.test('a file that cannot be written is named', async (t) => {
  const cwd = await temporaryFolder(t)
  await writeFile(join(cwd, 'file'), '')
  const { status, messages } = await init(t, cwd, answers, '--out', 'file/.env')
  t.equal(status, 1)
  t.match(messages, /file\/\.env cannot be written: .*Choose another one/)
})

function signingKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return String(privateKey.export({ type: 'pkcs8', format: 'pem' }))
}

async function init(t: Test, cwd: string, lines: readonly string[], ...args: string[]) {
  const { PATH, HOME } = process.env
  const child = spawn(process.execPath, [cli, 'init', ...args], { cwd, env: { PATH, HOME } })
  t.teardown(() => child.kill('SIGKILL'))
  child.stdin.on('error', () => {}) // it ends before it has read everything
  child.stdin.end(lines.map((line) => `${line}\n`).join(''))
  const [results, messages, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  return { status, results, messages }
}
