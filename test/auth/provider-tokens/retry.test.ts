import t, { type Test } from 'tap'
import { retryRevocations } from '#src/auth/provider-tokens/retry.ts'
import { openQueue } from '#src/queue/queue.ts'
import { createSignOutWorker, drain } from '#test/support/provider/provider-tokens.ts'
import {
  auditTrail,
  buildWithProvider,
  signInThrough,
  visit,
} from '#test/support/provider/sign-in-journey.ts'

/** A user who signed out; the provider is no longer configured for the worker. */
async function setUp(t: Test) {
  const test = await buildWithProvider(t, { OIDC_DEMO_STORE_TOKENS: 'true' })
  test.op.fault = { offline: true }
  const browser = { cookie: '' }
  await signInThrough(test, browser)
  const worker = createSignOutWorker(t, test)
  const queue = openQueue(test.database.workerUrl, 'worker', () => {})
  await queue.start()
  t.teardown(() => queue.stop({ graceful: false }))
  const { admin } = test.database
  return {
    ...test,
    worker,
    withoutProvider: { ...worker, providers: new Map() },
    signOut: () => visit(test.app, browser, '/auth/logout', { method: 'POST' }),
    signIn: () => signInThrough(test, browser),
    retry: () => retryRevocations(worker.systemDb, queue),
    statuses: async () =>
      (await admin.query<{ status: string }>('SELECT status FROM token_revocations')).rows.map(
        ({ status }) => status,
      ),
    /** Moves every revocation into the past. */
    wait: (column: 'tried_at' | 'created_at', age: string) =>
      admin.query(`UPDATE token_revocations SET ${column} = now() - $1::interval`, [age]),
    trail: async () =>
      (await auditTrail(test)).filter((entry) => entry.startsWith('revoke-tokens')),
  }
}

t.test('a revocation that failed is tried again after a day', async (t) => {
  const test = await setUp(t)
  await test.signOut()
  t.same(await drain(test, test.withoutProvider), ['failed'])
  await test.wait('tried_at', '23 hours')
  t.same(await test.retry(), { retried: 0, expired: 0 })
  await test.wait('tried_at', '25 hours')
  t.same(await test.retry(), { retried: 1, expired: 0 })
  t.same(await test.retry(), { retried: 0, expired: 0 }, 'once a day')
  t.same(await drain(test, test.withoutProvider), ['failed', 'already-done'])
  t.same(await test.trail(), ['revoke-tokens failed provider-unknown'], 'reported once')
  await test.wait('tried_at', '25 hours')
  await test.retry()
  t.ok((await drain(test, test.worker)).includes('revoked'), 'the provider is configured again')
  t.same(test.op.records.revoked, test.op.records.refreshTokens)
  t.same((await test.trail()).slice(1), ['revoke-tokens done refresh_token'])
})

t.test('a token whose job was lost is tried again', async (t) => {
  const test = await setUp(t)
  await test.signOut()
  await test.database.admin.query(`DELETE FROM pgboss.job WHERE name = 'revoke-grant'`)
  await test.wait('tried_at', '25 hours')
  t.same(await test.retry(), { retried: 1, expired: 0 })
  t.same(await drain(test, test.worker), ['revoked'])
})

t.test('after 30 days a token is deleted, with an audit entry of its user', async (t) => {
  const test = await setUp(t)
  await test.signOut()
  await drain(test, test.withoutProvider)
  await test.wait('created_at', '29 days')
  t.same(await test.retry(), { retried: 0, expired: 0 })
  await test.wait('created_at', '30 days 1 second')
  t.same(await test.retry(), { retried: 0, expired: 1 })
  t.same(await test.statuses(), [])
  t.same(await test.trail(), [
    'revoke-tokens failed provider-unknown',
    'revoke-tokens failed revocation-expired',
  ])
  const { rows } = await test.database.admin.query(
    `SELECT user_id IS NOT NULL AS own, tenant_id IS NOT NULL AS tenant, provider
     FROM audit_log WHERE reason = 'revocation-expired'`,
  )
  t.same(rows, [{ own: true, tenant: true, provider: 'demo' }])
})

t.test('a superseded token waits while its grant lives, and not for ever', async (t) => {
  const test = await setUp(t)
  await test.signIn()
  t.same(await test.statuses(), ['superseded'])
  await test.wait('tried_at', '25 hours')
  t.same(await test.retry(), { retried: 0, expired: 0 }, 'revoking it could revoke the grant')
  await test.wait('created_at', '30 days 1 second')
  t.same(await test.retry(), { retried: 0, expired: 1 })
  t.same(await test.trail(), ['revoke-tokens done superseded-expired'])
})

t.test('a superseded token without a grant is revoked', async (t) => {
  const test = await setUp(t)
  await test.signIn()
  await test.database.admin.query('DELETE FROM provider_grants')
  await test.wait('tried_at', '25 hours')
  t.same(await test.retry(), { retried: 1, expired: 0 })
  t.same(await drain(test, test.worker), ['revoked'])
})
