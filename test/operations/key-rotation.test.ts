import t, { type Test } from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { tokenBinding } from '#src/auth/provider-tokens/store.ts'
import { encryptedColumns } from '#src/commands/keys/keys.ts'
import { type EncryptionKeys, seal, unseal } from '#src/crypto/encryption.ts'
import { openSystemDatabase } from '#src/db/system-database.ts'
import {
  findKeyUse,
  listScopeKeys,
  rotateKeys,
  rotateScopeKey,
} from '#src/operations/key-rotation.ts'
import { openEndpointSecrets, sealEndpointSecret } from '#src/webhooks/signing/secrets.ts'
import { connect } from '#test/db/credentials.ts'
import { createGrants, oldRing, onlyNew, ring } from '#test/db/sealed-rows.ts'
import { createDatabase, type TestDatabase } from '#test/support/database/database.ts'
import { patient } from '#test/support/database/open.ts'
import { untilBlocked } from '#test/support/database/until.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

/** Every encrypted value of the database, decrypted with `keys`. */
async function openAll({ admin }: TestDatabase, keys: EncryptionKeys): Promise<string[]> {
  const { rows } = await admin.query<{ provider_user_id: string; kind: never; token: Buffer }>(
    `SELECT provider_user_id, 'access_token' AS kind, access_token AS token FROM provider_grants
     UNION ALL SELECT provider_user_id, 'refresh_token', refresh_token FROM provider_grants
               WHERE refresh_token IS NOT NULL
     UNION ALL SELECT provider_user_id, kind, token FROM token_revocations`,
  )
  return rows.map(({ provider_user_id: subject, kind, token }) =>
    unseal(keys, token, tokenBinding({ provider: 'acme', subject }, kind)),
  )
}

function open(t: Test, database: TestDatabase) {
  // Of two rotations one waits until the other has written its batch.
  const limits = { ...patient.limits, lockMs: 30_000 }
  const systemDb = openSystemDatabase(database.workerUrl, 2, { limits })
  t.teardown(() => systemDb.close())
  return systemDb
}

t.test('rotation re-encrypts everything in batches; a second run does nothing', async (t) => {
  const database = await createDatabase(t)
  await createGrants(database, 250)
  const systemDb = open(t, database)
  const before = await openAll(database, oldRing)
  const steps: string[] = []
  const report = await rotateKeys(systemDb, encryptedColumns, ring, ({ table, done, total }) =>
    steps.push(`${table} ${done}/${total}`),
  )
  t.same(report, { reencrypted: 375, unreadable: [] })
  t.same(steps, [
    'provider_grants 0/250',
    'provider_grants 100/250',
    'provider_grants 200/250',
    'provider_grants 250/250',
    'token_revocations 0/125',
    'token_revocations 100/125',
    'token_revocations 125/125',
    'webhook_endpoints 0/0',
  ])
  t.same((await openAll(database, onlyNew)).toSorted(), before.toSorted(), 'the old key can go')
  const uses = await findKeyUse(systemDb, encryptedColumns)
  t.same(new Set(uses.map(({ keyId }) => keyId)), new Set(['new']))
  const again = await rotateKeys(systemDb, encryptedColumns, ring, () => {})
  t.same(again, { reencrypted: 0, unreadable: [] })
})

t.test('a value that cannot be decrypted is reported and left unchanged', async (t) => {
  const database = await createDatabase(t)
  await createGrants(database, 5)
  await database.admin.query(
    `UPDATE provider_grants SET access_token = set_byte(access_token, 29, 255 - get_byte(access_token, 29))
     WHERE provider_user_id = 'subject 1'`,
  )
  await database.admin.query(
    `UPDATE provider_grants SET refresh_token = (SELECT refresh_token FROM provider_grants
       WHERE provider_user_id = 'subject 4') WHERE provider_user_id = 'subject 2'`,
  )
  const systemDb = open(t, database)
  const report = await rotateKeys(systemDb, encryptedColumns, ring, () => {})
  t.same(report.unreadable, ['provider_grants acme subject 1', 'provider_grants acme subject 2'])
  t.equal(report.reencrypted, 6)
  const uses = await findKeyUse(systemDb, encryptedColumns)
  t.ok(uses.some(({ keyId, count }) => keyId === 'old' && count === 2))
})

t.test('an interrupted rotation can be continued', async (t) => {
  const database = await createDatabase(t)
  await createGrants(database, 250)
  const systemDb = open(t, database)
  const stop = rotateKeys(systemDb, encryptedColumns, ring, ({ done }) => {
    if (done === 100) throw new Error('broken off')
  })
  await t.rejects(stop, { message: 'broken off' })
  const half = await findKeyUse(systemDb, encryptedColumns)
  t.same(
    half
      .filter(({ column }) => column === 'access_token')
      .map(({ keyId, count }) => [keyId, count]),
    [
      ['new', 100],
      ['old', 150],
    ],
  )
  t.equal((await openAll(database, ring)).length, 541, 'everything opens all the while')
  const rest = await rotateKeys(systemDb, encryptedColumns, ring, () => {})
  t.equal(rest.reencrypted, 275)
  await openAll(database, onlyNew)
})

t.test('no value is lost beside a running server or a second rotation', async (t) => {
  const database = await createDatabase(t)
  await createGrants(database, 120)
  const systemDb = open(t, database)
  const fresh = tokenBinding({ provider: 'acme', subject: 'subject 7' }, 'access_token')
  let written = 0
  const write = async () => {
    written += 1
    const token = seal(ring, `written ${written}`, fresh)
    await database.admin.query(
      `UPDATE provider_grants SET access_token = $1 WHERE provider_user_id = 'subject 7'`,
      [token],
    )
  }
  const writes = Promise.all(Array.from({ length: 50 }, write))
  const [one, two] = await Promise.all([
    rotateKeys(systemDb, encryptedColumns, ring, () => {}),
    rotateKeys(systemDb, encryptedColumns, ring, () => {}),
    writes,
  ])
  t.ok((one?.reencrypted ?? 0) + (two?.reencrypted ?? 0) >= 179)
  const texts = await openAll(database, onlyNew)
  t.equal(texts.filter((text) => text.startsWith('written')).length, 1)
})

t.test('rows are locked against writes, and publications to an endpoint go on', async (t) => {
  const database = await createDatabase(t)
  const tenant = await createUser(database)
  await createEndpoint(database, tenant, { url: 'https://10.0.0.1/' })
  const rotation = await connect(t, database.workerUrl)
  await rotation.query('BEGIN')
  const batch = `SELECT FROM read_sealed('webhook_endpoints', 'another header', NULL, 10)`
  t.equal((await rotation.query(batch)).rowCount, 1)
  const lock = async (strength: string) => {
    const locked = await database.admin.query(
      `SELECT FROM webhook_endpoints WHERE tenant_id = $1 FOR ${strength} SKIP LOCKED`,
      [tenant.tenantId],
    )
    return locked.rowCount
  }
  t.equal(await lock('KEY SHARE'), 1)
  t.equal(await lock('NO KEY UPDATE'), 0)
})

t.test('a value written during the rotation of its row is kept', async (t) => {
  const database = await createDatabase(t)
  await createGrants(database, 3)
  const systemDb = open(t, database)
  const server = await database.admin.connect()
  const binding = tokenBinding({ provider: 'acme', subject: 'subject 1' }, 'access_token')
  await server.query('BEGIN')
  await server.query(
    `UPDATE provider_grants SET access_token = $1 WHERE provider_user_id = 'subject 1'`,
    [seal(oldRing, 'written meanwhile', binding)],
  )
  const rotation = rotateKeys(systemDb, encryptedColumns, ring, () => {})
  await untilBlocked(database)
  await server.query('COMMIT')
  server.release()
  t.equal((await rotation).reencrypted, 5)
  t.ok((await openAll(database, onlyNew)).includes('written meanwhile'))
})

t.test('the worker role may update only the encrypted columns of provider_grants', async (t) => {
  const database = await createDatabase(t)
  await createGrants(database, 1)
  const systemDb = open(t, database)
  for (const text of [
    `UPDATE provider_grants SET status = 'active'`,
    `UPDATE provider_grants SET scope = 'admin'`,
    'DELETE FROM provider_grants',
    `INSERT INTO provider_grants SELECT * FROM provider_grants`,
    `UPDATE token_revocations SET user_id = 1`,
    `INSERT INTO token_revocations SELECT * FROM token_revocations`,
  ]) {
    await t.rejects(systemDb.sql({ text }), { code: '42501' }, text)
  }
})

t.test('both secrets of an endpoint are re-encrypted, in every tenant', async (t) => {
  const database = await createDatabase(t)
  const endpoints: { tenantId: string; id: string }[] = []
  for (const number of [1, 2, 3]) {
    const { tenantId } = await createUser(database)
    const endpoint = { tenantId, id: crypto.randomUUID() }
    endpoints.push(endpoint)
    const sealed = (secret: string) => sealEndpointSecret(oldRing, endpoint, secret)
    await database.admin.query(
      `INSERT INTO webhook_endpoints
         (tenant_id, id, url, signature, secret, previous_secret, previous_secret_expires_at)
       VALUES ($1, $2, 'https://receiver.example', 'spec', $3, $4, '2026-03-02')`,
      [tenantId, endpoint.id, sealed(`new ${number}`), sealed(`old ${number}`)],
    )
  }
  const systemDb = open(t, database)
  const before = await findKeyUse(systemDb, encryptedColumns)
  t.strictSame(before, [
    { table: 'webhook_endpoints', column: 'secret', keyId: 'old', count: 3 },
    { table: 'webhook_endpoints', column: 'previous_secret', keyId: 'old', count: 3 },
  ])
  const steps: string[] = []
  const report = await rotateKeys(systemDb, encryptedColumns, ring, ({ table, done, total }) =>
    steps.push(`${table} ${done}/${total}`),
  )
  t.same(report, { reencrypted: 3, unreadable: [] })
  t.strictSame(
    steps.filter((step) => step.startsWith('webhook')),
    ['0/3', '3/3'].map((step) => `webhook_endpoints ${step}`),
  )
  const { rows } = await database.admin.query('SELECT * FROM webhook_endpoints')
  for (const [index, { tenantId, id }] of endpoints.entries()) {
    const row = rows.find((one) => one.id === id)
    const sealed = {
      secret: row.secret,
      previousSecret: row.previous_secret,
      previousSecretExpiresAt: row.previous_secret_expires_at,
    }
    const secrets = openEndpointSecrets(onlyNew, { tenantId, id, ...sealed }, new Date(0))
    t.strictSame(secrets, [`new ${index + 1}`, `old ${index + 1}`])
  }
})

t.test('a new scope key seals, the one before verifies, any older one is gone', async (t) => {
  const database = await createDatabase(t)
  const systemDb = open(t, database)
  const ids = async () => (await listScopeKeys(systemDb)).map(({ id }) => id)
  t.strictSame(await ids(), [1])
  t.equal(await rotateScopeKey(systemDb), 2)
  t.strictSame(await ids(), [2, 1])
  t.equal(await rotateScopeKey(systemDb), 3)
  t.strictSame(await ids(), [3, 2])
  const web = openSystemDatabase(database.url, 1, patient)
  t.teardown(() => web.close())
  await t.rejects(rotateScopeKey(web), { code: '42501' }, 'not for the web role')
  await t.rejects(listScopeKeys(web), { code: '42501' })
})
