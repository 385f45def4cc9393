import t, { type Test } from 'tap'
import { testConfig } from '#dev/testing/settings.ts'
import { revokeGrant } from '#src/auth/provider-tokens/revoke.ts'
import { tokenBinding } from '#src/auth/provider-tokens/store.ts'
import type { Config } from '#src/config/config.ts'
import { seal } from '#src/crypto/encryption.ts'
import { createLogger } from '#src/observability/logger.ts'
import { createMetrics } from '#src/observability/metrics.ts'
import { startWorker } from '#src/worker.ts'
import { until } from '#test/support/database/until.ts'
import { startQueue } from '#test/support/processes/running-worker.ts'
import { type Faults, startHostileProvider } from '#test/support/provider/hostile-provider.ts'
import { createSignOutWorker, drain } from '#test/support/provider/provider-tokens.ts'
import {
  auditTrail,
  buildWithProvider,
  clientSecret,
  rsaKey,
  signInThrough,
  visit,
} from '#test/support/provider/sign-in-journey.ts'
import { keyOf } from './world.ts'

async function signedOut(t: Test, settings: Record<string, string> = {}) {
  const test = await buildWithProvider(t, { OIDC_DEMO_STORE_TOKENS: 'true', ...settings })
  test.op.fault = { offline: true }
  const browser = { cookie: '' }
  await signInThrough(test, browser)
  await visit(test.app, browser, '/auth/logout', { method: 'POST' })
  const worker = createSignOutWorker(t, test)
  const revocation = async () => {
    const { rows } = await test.database.admin.query(
      'SELECT id, status, attempts, last_error FROM token_revocations',
    )
    return rows[0]
  }
  return { ...test, worker, revocation, browser }
}

t.test('a token is revoked once, even if its job runs several times', async (t) => {
  const test = await signedOut(t)
  const { id } = await test.revocation()
  const { records } = test.op
  let inner: unknown
  records.duringRevocation = async () => {
    records.duringRevocation = undefined
    inner = await revokeGrant(test.worker, id, false)
  }
  t.equal(await revokeGrant(test.worker, id, false), 'already-done')
  t.equal(inner, 'revoked', 'of two concurrent workers one records it')
  t.equal(await revokeGrant(test.worker, id, false), 'already-done')
  t.same((await auditTrail(test)).slice(2), ['revoke-tokens done refresh_token'])
  t.equal(await test.revocation(), undefined)
})

t.test('a failed revocation is retried; the first and the last failure are recorded', async (t) => {
  const rows: [Partial<Faults>, string][] = [
    [{ revokeAnswer: { status: 503 } }, 'server-error'],
    [{ revokeAnswer: 'reset' }, 'network'],
    [{ revokeAnswer: { status: 400, body: '{"error":"invalid_request"}' } }, 'revocation-rejected'],
    [{ revokeAnswer: { status: 302, headers: { location: '/x' } } }, 'revocation-rejected'],
    [{ secrets: [] }, 'revocation-rejected'],
  ]
  for (const [fault, reason] of rows) {
    const test = await signedOut(t)
    test.op.fault = fault
    t.same(await drain(test, test.worker), ['again'])
    t.same(await drain(test, test.worker), ['again'])
    t.match(await test.revocation(), { status: 'revoking', attempts: 2, last_error: reason })
    t.same(await drain(test, test.worker, true), ['failed'])
    t.same((await auditTrail(test)).slice(2), [
      `revoke-tokens unavailable ${reason}`,
      `revoke-tokens failed ${reason}`,
    ])
    t.match(await test.revocation(), { status: 'failed' })
    test.op.fault = { offline: true }
    await signInThrough(test, test.browser)
    await visit(test.app, test.browser, '/auth/logout', { method: 'POST' })
    await drain(test, test.worker)
    t.same(
      new Set(test.op.records.revoked),
      new Set(test.op.records.refreshTokens),
      'the next sign-out retries the failed revocation',
    )
  }
})

t.test('the outcome is in the user’s own audit log', async (t) => {
  const test = await signedOut(t)
  test.op.fault = { revokeAnswer: { status: 500 } }
  await drain(test, test.worker, true)
  const { rows } = await test.database.admin.query(
    `SELECT user_id IS NOT NULL AS own, tenant_id IS NOT NULL AS tenant, provider
     FROM audit_log WHERE action = 'revoke-tokens'`,
  )
  t.same(rows, [{ own: true, tenant: true, provider: 'demo' }])
})

t.test(
  'a provider without a revocation endpoint: recorded, and the token is deleted',
  async (t) => {
    for (const fault of [
      { metadata: { revocation_endpoint: undefined } },
      { revokeAnswer: { status: 400, body: '{"error":"unsupported_token_type"}' } },
    ]) {
      const test = await signedOut(t)
      test.op.fault = fault
      const fresh = createSignOutWorker(t, test)
      t.same(await drain(test, fresh), ['failed'])
      t.same((await auditTrail(test)).slice(2), ['revoke-tokens failed revocation-unsupported'])
      t.equal(await test.revocation(), undefined)
    }
  },
)

t.test('a token that this worker cannot decrypt uses up no try', async (t) => {
  const test = await signedOut(t)
  const before = await test.revocation()
  const lacking = { ...test.worker, keys: [keyOf('other')] } as const
  t.same(await drain(test, lacking, true), ['postponed'], 'not even the last one')
  t.same(await test.revocation(), before)
  t.same(await drain(test, test.worker), ['revoked'])
})

t.test('a worker without the key returns the job with all its tries', async (t) => {
  const test = await signedOut(t)
  const settings = { ENCRYPTION_KEYS: `other:${'b'.repeat(43)}` }
  const metrics = createMetrics()
  const config = testConfig(test.database, settings)
  const worker = await startWorker(config, createLogger('silent'), metrics)
  t.teardown(() => worker.stop())
  await until(
    test.database,
    `SELECT FROM pgboss.job WHERE name = 'revoke-grant' AND state = 'created'
       AND retry_count = 0 AND start_after > created_on + interval '5 s'`,
  )
  const { values } = await metrics.identity.revocationsPostponed.get()
  t.match(values, [{ value: 1 }])
  t.match(await test.revocation(), { status: 'revoking', attempts: 0, last_error: null })
})

t.test('a provider that hangs delays only its own revocations', async (t) => {
  const test = await signedOut(t)
  const { config, database } = test
  const hanging = await startHostileProvider({
    clock: config.clock,
    keys: [rsaKey],
    secret: clientSecret,
  })
  t.teardown(() => hanging.close())
  hanging.records.duringRevocation = () => new Promise(() => {})
  const { id } = await test.revocation()
  const others = Array.from({ length: 200 }, () => crypto.randomUUID())
  const subject = 'subject-1'
  const token = seal(
    config.encryptionKeys,
    'a token',
    tokenBinding({ provider: 'hanging', subject }, 'refresh_token'),
  )
  await database.admin.query(
    `INSERT INTO token_revocations (id, provider, provider_user_id, user_id, token, kind, status)
     SELECT one, 'hanging', $2, user_id, $3, 'refresh_token', 'revoking'
     FROM token_revocations, unnest($1::uuid[]) AS one`,
    [others, subject, token],
  )
  const queue = await startQueue(t, database, 'web')
  const jobs = others.map((revocationId) => ({ data: { revocationId } }))
  await queue.insert('revoke-grant', jobs)
  await database.admin.query(
    `UPDATE pgboss.job SET created_on = now() - interval '1 h'
     WHERE name = 'revoke-grant' AND data->>'revocationId' <> $1`,
    [id],
  )
  const [demo] = config.providers
  const slow = { ...demo, name: 'hanging', issuer: hanging.issuer } as Config['providers'][number]
  const both = { ...config, providers: [...config.providers, slow] }
  const worker = await startWorker(both, createLogger('silent'))
  t.teardown(() => worker.stop())
  await until(
    database,
    `SELECT WHERE NOT EXISTS (SELECT FROM token_revocations WHERE id = '${id}')`,
  )
  t.same(test.op.records.revoked, test.op.records.refreshTokens)
  const { rows } = await database.admin.query(
    `SELECT FROM token_revocations WHERE provider = 'hanging' AND attempts = 0`,
  )
  t.ok(rows.length > 100, 'long before the earlier ones were tried: they are few at once')
})

t.test('a provider removed from the settings is a failure, not a crash', async (t) => {
  const test = await signedOut(t)
  t.same(await drain(test, { ...test.worker, providers: new Map() }), ['failed'])
  t.match(await test.revocation(), { status: 'failed', last_error: 'provider-unknown' })
})

t.test('the worker runs the job after a sign-out and revokes the token', async (t) => {
  const test = await signedOut(t)
  const lines: string[] = []
  let done = () => {}
  const settled = new Promise<void>((resolve) => {
    done = resolve
  })
  const logger = createLogger('info', {
    write(line: string) {
      lines.push(line)
      if (line.includes('provider token revocation')) done()
    },
  })
  const worker = await startWorker(test.config, logger)
  await settled
  await worker.stop()
  t.same(test.op.records.revoked, test.op.records.refreshTokens)
  t.equal(await test.revocation(), undefined)
  t.notMatch(lines.join(''), /refresh-|opaque-/)
})
