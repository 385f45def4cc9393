import t from 'tap'
import { enterCredential } from '#src/auth/sessions/enter.ts'
import { openDatabase } from '#src/db/database.ts'
import { createUser } from '#test/support/callers/callers.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { addService, addSession, addToken, connect, idleSeconds, isHeldUp } from './credentials.ts'

const rules = { idleSeconds, operators: new Set<string>(), onStale() {} }

const revocations = {
  session: [
    'DELETE FROM sessions',
    `UPDATE sessions SET id_hash = sha256(gen_random_uuid()::text::bytea)`,
    `UPDATE memberships SET role = 'viewer'`,
    'DELETE FROM memberships',
  ],
  token: ['DELETE FROM api_tokens', `UPDATE memberships SET department = 'sales'`],
  service: [
    'DELETE FROM service_tokens',
    `UPDATE service_tokens SET hash = sha256(gen_random_uuid()::text::bytea)`,
    // As lockServiceToken does before permissions are changed.
    'SELECT FROM service_tokens',
    'SELECT close_tenant',
  ],
} as const

const add = { session: addSession, token: addToken, service: addService }

for (const kind of ['session', 'token', 'service'] as const) {
  t.test(`a ${kind} is revoked before a write or after it, not within`, async (t) => {
    const database = await createDatabase(t)
    const db = openDatabase(database.url, 1)
    t.teardown(() => db.close())
    for (const sql of revocations[kind]) {
      const user = await createUser(database, { role: 'admin' })
      const hash = await add[kind](database, user)
      const entry = enterCredential({ kind, hash }, rules)
      const other = await connect(t, database.superuserUrl)
      const order: string[] = []
      let revoked: Promise<unknown> = Promise.resolve()
      await db.write(entry, async () => {
        revoked = other
          .query(conditionOf(sql), [kind === 'service' ? user.tenantId : user.userId])
          .then(() => order.push('revoked'))
        await isHeldUp(database, other)
        order.push('written')
      })
      await revoked
      t.strictSame(order, ['written', 'revoked'], sql)
    }
  })
}

function conditionOf(sql: string): string {
  if (sql.includes('close_tenant')) return `${sql}($1)`
  if (!sql.includes('service_tokens')) return `${sql} WHERE user_id = $1`
  return `${sql} WHERE tenant_id = $1${sql.startsWith('SELECT') ? ' FOR UPDATE' : ''}`
}

t.test('a read holds nothing up', async (t) => {
  const database = await createDatabase(t)
  const db = openDatabase(database.url, 1)
  t.teardown(() => db.close())
  const user = await createUser(database)
  const entry = enterCredential({ kind: 'session', hash: await addSession(database, user) }, rules)
  await db.read(entry, async () => {
    await database.admin.query('DELETE FROM memberships')
  })
  t.equal(await db.read(entry), null)
})
