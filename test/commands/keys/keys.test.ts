import t from 'tap'
import type { EncryptionKeys } from '#src/crypto/encryption.ts'
import { createGrants, oldRing, onlyNew, ring } from '#test/db/sealed-rows.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { runProgram } from '#test/support/processes/program.ts'

const setting = (keys: EncryptionKeys) =>
  keys.map(({ id, secret }) => `${id}:${Buffer.from(secret).toString('base64')}`).join()

t.test('keys status, keys rotate and doctor report the use of keys', async (t) => {
  const database = await createDatabase(t)
  await createGrants(database, 3)
  const env = {
    NODE_ENV: 'production',
    DATABASE_URL: database.url,
    DATABASE_WORKER_URL: database.workerUrl,
  }
  const run = async (words: string[], keys: EncryptionKeys) => {
    const program = await runProgram(t, ['keys', ...words], {
      ...env,
      ENCRYPTION_KEYS: setting(keys),
    })
    return { status: await program.ended, output: program.results(), told: program.messages() }
  }
  const missing = await run(['status'], onlyNew)
  t.equal(missing.status, 1)
  t.match(missing.output, 'provider_grants.access_token: 3 with old, KEY MISSING')
  const before = await run(['status'], ring)
  t.equal(before.status, 0)
  t.match(before.output, 'New values are encrypted with new.')
  t.match(before.output, 'provider_grants.access_token: 3 with old, to be rotated')
  t.match(before.output, /^Scope key 1, created \S+Z: seals new transactions$/m)
  const told = await run(['status', '--json'], ring)
  t.equal(told.status, 0)
  const { current, uses, idle, scopeKeys, signingKeys } = JSON.parse(told.output)
  t.match(scopeKeys, [{ id: 1, createdAt: /Z$/ }])
  t.same(Object.keys(scopeKeys[0]), ['id', 'createdAt'], 'and not the key')
  t.same([current, idle], ['new', []])
  t.strictSame(
    signingKeys.map(({ from }: { from: string }) => from),
    ['new', 'old'],
  )
  const [signs, published] = signingKeys
  t.match(before.output, `Identity key ${signs.kid}, derived from new: signs identity tokens`)
  t.match(before.output, `Identity key ${published.kid}, derived from old: published`)
  t.match(uses[0], {
    table: 'provider_grants',
    column: 'access_token',
    keyId: 'old',
    count: 3,
    state: 'to be rotated',
  })
  const missed = await run(['status', '--json'], onlyNew)
  t.equal(missed.status, 1)
  t.match(missed.output, '"state": "missing"')
  const failed = await run(['rotate'], onlyNew)
  t.equal(failed.status, 1)
  t.match(failed.output, '5 rows cannot be decrypted')
  const rotated = await run(['rotate'], ring)
  t.equal(rotated.status, 0)
  t.match(rotated.told, /^provider_grants: 3 of 3$/m, 'plain lines without a terminal')
  t.notMatch(rotated.told, '\r')
  t.match(rotated.output, '5 rows re-encrypted with new. Scope key 3 created.')
  const after = await run(['status'], ring)
  t.match(after.output, 'No longer needed: old')
  t.match(
    after.output,
    /^Scope key 3, .*: seals new transactions\nScope key 2, .*: valid for open transactions$/m,
  )
  t.notMatch(after.output, setting(ring).slice(4, 20))
  const again = await run(['rotate', '--json'], onlyNew)
  t.equal(again.status, 0)
  const { scopeKey, ...report } = JSON.parse(again.output)
  t.same(report, { current: 'new', reencrypted: 0, unreadable: [] })
  t.equal(scopeKey, 4)
  const doctor = await runProgram(t, ['doctor'], {
    ...production(env),
    ENCRYPTION_KEYS: setting(oldRing),
  })
  await doctor.ended
  t.match(
    doctor.output(),
    /FAULT +encryption keys\n.*provider_grants\.access_token: 3 need the key new/,
  )
})

function production(env: Record<string, string>): Record<string, string> {
  return {
    ...env,
    BASE_URL: 'https://app.example.com',
    SESSION_SECRETS: 's'.repeat(32),
    BILLING_WEBHOOK_SECRETS: 'whsec_0123456789',
    OIDC_PROVIDERS: 'acme',
    OIDC_ACME_ISSUER: 'https://127.0.0.1:9',
    OIDC_ACME_CLIENT_ID: 'gatehouse',
    OIDC_ACME_CLIENT_SECRET: 'a client secret',
  }
}
