import { generateKeyPairSync } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { readSecrets } from '#dev/demo/running-demo.ts'
import { ConfigError, readConfig } from '#src/config/config.ts'
import { readEncryptionKeys } from '#src/config/parse.ts'
import { temporaryFolder } from '#test/support/processes/program.ts'

const bytes = (fill: number, length = 32) => Buffer.alloc(length, fill).toString('base64')

t.test('ENCRYPTION_KEYS: keyId:base64(32 bytes), the first encrypts', async (t) => {
  const faults: string[] = []
  const keys = readEncryptionKeys(`new:${bytes(1)}, old.1:${bytes(2)}`, faults)
  t.same(faults, [])
  t.same(
    keys.map(({ id, secret }) => [id, secret.length, secret[0]]),
    [
      ['new', 32, 1],
      ['old.1', 32, 2],
    ],
  )
})

t.test('faults of ENCRYPTION_KEYS do not repeat a key', async (t) => {
  const rows: [string | undefined, RegExp][] = [
    [undefined, /is missing/],
    ['', /is missing/],
    [',', /at least one/],
    [bytes(1), /keyId:base64/],
    [`k:${bytes(1, 31)}`, /keyId:base64/],
    [`k:${bytes(1, 33)}`, /keyId:base64/],
    [`k:${bytes(1)}x`, /keyId:base64/],
    [`k:${'é'.repeat(43)}`, /keyId:base64/],
    [`${'k'.repeat(33)}:${bytes(1)}`, /keyId:base64/],
    [`k k:${bytes(1)}`, /keyId:base64/],
    [`k:${bytes(1)},k:${bytes(2)}`, /same id/],
    [`good:${bytes(1)},bad`, /keyId:base64/],
  ]
  for (const [value, pattern] of rows) {
    const faults: string[] = []
    readEncryptionKeys(value, faults)
    t.match(faults.join(), pattern, String(value))
    t.notMatch(faults.join(), /AQEB/)
  }
})

t.test('the demo keeps the secrets file of an older version and adds the key', async (t) => {
  const folder = await temporaryFolder(t)
  const old = { session: 's', billing: 'b', client: 'c', owner: 'o', app: 'a', worker: 'w' }
  await writeFile(join(folder, 'secrets.json'), JSON.stringify(old))
  const secrets = await readSecrets(folder)
  t.match(secrets, old)
  const faults: string[] = []
  readEncryptionKeys(secrets.encryption, faults)
  t.same(faults, [])
  t.same(await readSecrets(folder), secrets, 'kept')
  t.same(JSON.parse(await readFile(join(folder, 'secrets.json'), 'utf8')), secrets)
})

const base = {
  BASE_URL: 'http://localhost:3000',
  DATABASE_URL: 'postgres://app:word@127.0.0.1/gatehouse',
  SESSION_SECRETS: 's'.repeat(32),
  BILLING_WEBHOOK_SECRETS: 'whsec_0123456789',
  ENCRYPTION_KEYS: `k:${bytes(1)}`,
  OIDC_PROVIDERS: 'acme',
  OIDC_ACME_ISSUER: 'https://login.example.com',
  OIDC_ACME_CLIENT_ID: 'gatehouse',
  OIDC_ACME_CLIENT_AUTH: 'private_key_jwt',
}

function read(changes: Record<string, string>) {
  try {
    return { config: readConfig({ ...base, ...changes }), faults: '' }
  } catch (error) {
    if (error instanceof ConfigError) return { config: null, faults: error.faults.join('\n') }
    throw error
  }
}

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const weak = generateKeyPairSync('rsa', { modulusLength: 1024 })
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const ed = generateKeyPairSync('ed25519')
const jwk = (key: { export(options: { format: 'jwk' }): object }, more: object) =>
  JSON.stringify({ ...key.export({ format: 'jwk' }), kid: 'key-1', ...more })

t.test(
  'private_key_jwt accepts a private JWK with kid and alg, as JSON or in a file',
  async (t) => {
    const file = join(await temporaryFolder(t), 'client-key.json')
    await writeFile(file, jwk(ec.privateKey, { alg: 'ES256' }))
    const values = [
      jwk(rsa.privateKey, { alg: 'RS256' }),
      jwk(rsa.privateKey, { alg: 'PS512' }),
      jwk(ec.privateKey, { alg: 'ES256' }),
      jwk(ed.privateKey, { alg: 'EdDSA' }),
      file,
    ]
    for (const value of values) {
      const { config, faults } = read({ OIDC_ACME_PRIVATE_KEY: value })
      t.equal(faults, '')
      t.match(config?.providers[0], { clientAuth: 'private_key_jwt', clientSecrets: [] })
      const key = config?.providers[0]?.clientKey
      t.equal(key?.kid, 'key-1')
      t.equal(key?.key.extractable, false, 'it can never be printed')
    }
  },
)

t.test('an invalid private key is a fault that does not repeat it', async (t) => {
  const { d } = JSON.parse(jwk(ec.privateKey, {}))
  const rows: [string, RegExp][] = [
    ['', /is missing/],
    ['/nowhere/key.json', /must be a JWK as JSON or the path/],
    ['{"kty":"EC",', /not a JWK as JSON/],
    [jwk(rsa.privateKey, { alg: 'HS256' }), /alg that is not one of/],
    [jwk(rsa.privateKey, { alg: 'none' }), /alg that is not one of/],
    [jwk(rsa.privateKey, { alg: 'toString' }), /alg that is not one of/],
    [jwk(rsa.privateKey, {}), /alg that is not one of/],
    [jwk(rsa.privateKey, { alg: 'RS256', kid: undefined }), /no kid/],
    [jwk(rsa.privateKey, { alg: 'RS256', kid: 1 }), /no kid/],
    [jwk(ec.privateKey, { alg: 'RS256' }), /does not match its alg/],
    [jwk(ec.privateKey, { alg: 'ES384' }), /does not match its alg/],
    [jwk(rsa.publicKey, { alg: 'RS256' }), /not a private key/],
    [jwk(ec.publicKey, { alg: 'ES256' }), /not a private key/],
    [jwk(weak.privateKey, { alg: 'RS256' }), /fewer than 2048 bits/],
    ['{"kty":"oct","k":"c2VjcmV0","kid":"a","alg":"HS256"}', /alg that is not one of/],
  ]
  for (const [value, pattern] of rows) {
    const { faults } = read({ OIDC_ACME_PRIVATE_KEY: value })
    t.match(faults, /^OIDC_ACME_PRIVATE_KEY: /)
    t.match(faults, pattern)
    t.notMatch(faults, d)
    if (value.length > 20) t.notOk(faults.includes(value.slice(0, 20)), 'not repeated')
  }
})

t.test('the other two methods require a client secret', async (t) => {
  for (const OIDC_ACME_CLIENT_AUTH of ['client_secret_post', 'client_secret_basic']) {
    t.match(read({ OIDC_ACME_CLIENT_AUTH }).faults, /^OIDC_ACME_CLIENT_SECRET: is missing/)
  }
})

t.test('STORE_TOKENS and USERINFO default to false', async (t) => {
  const key = { OIDC_ACME_PRIVATE_KEY: jwk(ec.privateKey, { alg: 'ES256' }) }
  t.match(read(key).config?.providers[0], { storeTokens: false, userinfo: false })
  const on = { ...key, OIDC_ACME_STORE_TOKENS: 'true', OIDC_ACME_USERINFO: 'true' }
  t.match(read(on).config?.providers[0], { storeTokens: true, userinfo: true })
  t.match(read({ ...key, OIDC_ACME_STORE_TOKENS: 'perhaps' }).faults, /OIDC_ACME_STORE_TOKENS/)
})
