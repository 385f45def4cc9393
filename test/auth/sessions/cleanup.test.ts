import { Writable } from 'node:stream'
import t from 'tap'
import { createUser, signIn } from '#dev/testing/people.ts'
import { deleteExpired, isFullBatch, startCleanup } from '#src/auth/sessions/cleanup.ts'
import { openSystemDatabase } from '#src/db/system-database.ts'
import { createLogger } from '#src/observability/logger.ts'
import { build, type TestApp } from '#test/support/app/app.ts'
import { patient } from '#test/support/database/open.ts'
import { untilBlocked } from '#test/support/database/until.ts'

const limits = { idleSeconds: 3_600, auditDays: 30 }

async function openWorkerDb(t: Parameters<typeof build>[0], { database }: TestApp) {
  const systemDb = openSystemDatabase(database.workerUrl, 2, patient)
  t.teardown(() => systemDb.close())
  return systemDb
}

async function insertSession({ database }: TestApp, name: string, times: string): Promise<void> {
  await database.admin.query(
    `INSERT INTO sessions (id_hash, user_agent, last_seen_at, expires_at)
     SELECT sha256(convert_to($1, 'UTF8')), $1, seen, expires FROM (SELECT ${times}) x (seen, expires)`,
    [name],
  )
}

t.test('the worker’s role deletes expired rows and no others', async (t) => {
  const test = await build(t)
  const { admin } = test.database
  await insertSession(test, 'live', `now() - interval '59 min', now() + interval '1 min'`)
  await insertSession(test, 'expired', 'now(), now()')
  await insertSession(test, 'idle', `now() - interval '60 min', now() + interval '1 day'`)
  for (const [nonce, expires] of [
    ['open', `now() + interval '1 min'`],
    ['over', 'now()'],
  ]) {
    await admin.query(
      `INSERT INTO sign_in_attempts (state_hash, session_id, provider, nonce, code_verifier, expires_at)
       SELECT sha256(convert_to($1, 'UTF8')), id, 'demo', $1, 'x', ${expires} FROM sessions WHERE user_agent = 'live'`,
      [nonce],
    )
  }
  const user = await createUser(test.database)
  for (const [name, ago] of [
    ['long expired', '30 days'],
    ['over', '29 days'],
    ['live', '-1 day'],
  ]) {
    await admin.query(
      `INSERT INTO api_tokens (last_four, hash, user_id, tenant_id, name, expires_at)
       VALUES ('test', sha256(convert_to($1, 'UTF8')), $2, $3, $1, now() - $4::interval)`,
      [name, user.userId, user.tenantId, ago],
    )
  }
  for (const [name, age] of [
    ['old', '23 hours'],
    ['over', '25 hours'],
    ['new', '4 minutes'],
  ]) {
    await admin.query(
      `INSERT INTO idempotency_keys (holder, key_hash, request_hash, result, secret, created_at)
       VALUES ('person ' || $1::bigint, sha256(convert_to($2, 'UTF8')), sha256('x'), convert_to($2, 'UTF8'), 'sealed',
               now() - $3::interval)`,
      [user.userId, name, age],
    )
  }
  for (const [jti, ago] of [
    ['over', '1 second'],
    ['remembered', '-1 minute'],
  ]) {
    await admin.query(
      `INSERT INTO logout_tokens (provider, jti_hash, expires_at)
       VALUES ($1, sha256('x'), now() - $2::interval)`,
      [jti, ago],
    )
  }
  for (const [reason, ago] of [
    ['old', '30 days 1 second'],
    ['kept', '29 days'],
    ['new', '0 days'],
  ]) {
    await admin.query(
      `INSERT INTO audit_log (action, outcome, reason, user_id, tenant_id, at)
       VALUES ('x', 'done', $1, $2, $3, now() - $4::interval)`,
      [reason, user.userId, user.tenantId, ago],
    )
  }
  const systemDb = await openWorkerDb(t, test)
  t.same(await deleteExpired(systemDb, limits), {
    sessions: 2,
    attempts: 1,
    tokens: 1,
    keys: 1,
    logouts: 1,
    entries: 1,
  })
  const names = async (text: string) => (await admin.query(text)).rows.map(({ name }) => name)
  t.same(await names('SELECT user_agent AS name FROM sessions'), ['live'])
  t.same(await names('SELECT nonce AS name FROM sign_in_attempts'), ['open'])
  t.same(
    await names(`SELECT convert_from(result, 'UTF8') || ' ' || (secret IS NOT NULL) AS name
                 FROM idempotency_keys ORDER BY result`),
    ['new true', 'old false'],
    'a secret stays for five minutes',
  )
  t.same(await names('SELECT name FROM api_tokens ORDER BY name'), ['live', 'over'])
  t.same(await names('SELECT provider AS name FROM logout_tokens'), ['remembered'])
  t.same(await names('SELECT reason AS name FROM audit_log ORDER BY at'), ['kept', 'new'])
  t.same(await deleteExpired(systemDb, limits), {
    sessions: 0,
    attempts: 0,
    tokens: 0,
    keys: 0,
    logouts: 0,
    entries: 0,
  })
})

t.test('only one worker at a time cleans up', async (t) => {
  const test = await build(t)
  const systemDb = await openWorkerDb(t, test)
  const first = await test.database.admin.connect()
  await first.query('BEGIN; SELECT pg_advisory_xact_lock(7165230419)')
  t.equal(await deleteExpired(systemDb, limits), null)
  await first.query('COMMIT')
  first.release()
  t.not(await deleteExpired(systemDb, limits), null)
})

t.test('a session that is used during its deletion remains', async (t) => {
  const test = await build(t)
  const { admin } = test.database
  await insertSession(test, 'idle', `now() - interval '60 min', now() + interval '1 day'`)
  const systemDb = await openWorkerDb(t, test)
  const user = await admin.connect()
  await user.query('BEGIN; UPDATE sessions SET last_seen_at = now()')
  const pruned = deleteExpired(systemDb, limits)
  await untilBlocked(test.database)
  await user.query('COMMIT')
  user.release()
  t.match(await pruned, { sessions: 0 })
  t.equal((await admin.query('SELECT FROM sessions')).rowCount, 1)
})

t.test('the cleanup runs batch after batch until no expired row is left', async (t) => {
  const test = await build(t)
  await test.database.admin.query(
    `INSERT INTO sessions (id_hash, expires_at)
     SELECT sha256(n::text::bytea), now() FROM generate_series(1, 1500) n`,
  )
  const { cookie } = await signIn(test, await createUser(test.database))
  const systemDb = await openWorkerDb(t, test)
  const first = await deleteExpired(systemDb, limits)
  t.match(first, { sessions: 1_000 })
  t.ok(first && isFullBatch(first))
  const pruner = startCleanup(systemDb, limits, createLogger('silent'))
  await pruner.stop()
  await deleteExpired(systemDb, limits)
  const { rows } = await test.database.admin.query(
    'SELECT user_id IS NOT NULL AS live FROM sessions',
  )
  t.same(rows, [{ live: true }])
  t.equal((await test.app.inject({ url: '/me', headers: { cookie } })).statusCode, 200)
})

t.test('a failure is logged and does not stop the worker', async (t) => {
  const test = await build(t)
  const systemDb = openSystemDatabase(test.database.workerUrl, 1, patient)
  await systemDb.close()
  const log: string[] = []
  const sink = new Writable({ write: (line, _, done) => done(void log.push(String(line))) })
  await startCleanup(systemDb, limits, createLogger('trace', sink)).stop()
  t.match(log.join(''), /cleanup of expired rows failed/)
})
