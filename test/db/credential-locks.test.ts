import type pg from 'pg'
import t, { type Test } from 'tap'
import { createUser, type TestUser } from '#dev/testing/people.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { addSession, addToken, connect, enterSession, enterToken, isHeldUp } from './credentials.ts'

const database = await createDatabase(t)

/** Ways to take a right away, as the program does it or an operator by hand. */
const revocations: Record<string, { sql: string; of: 'session' | 'token' | 'both' }> = {
  'the session ends': { sql: 'DELETE FROM sessions WHERE user_id = $1', of: 'session' },
  'the session gets another id': {
    sql: 'UPDATE sessions SET id_hash = sha256(id_hash) WHERE user_id = $1',
    of: 'session',
  },
  'the token is deleted': { sql: 'DELETE FROM api_tokens WHERE user_id = $1', of: 'token' },
  'the member is removed': { sql: 'DELETE FROM memberships WHERE user_id = $1', of: 'both' },
  'the member gets another role': {
    sql: `UPDATE memberships SET role = 'viewer' WHERE user_id = $1`,
    of: 'both',
  },
  'the member moves to another department': {
    sql: `UPDATE memberships SET department = 'other' WHERE user_id = $1`,
    of: 'both',
  },
  'the tenant is closed': {
    sql: 'SELECT close_tenant((SELECT tenant_id FROM memberships WHERE user_id = $1))',
    of: 'both',
  },
  'the user is deleted': { sql: 'DELETE FROM users WHERE id = $1', of: 'both' },
}

type Enter = (client: pg.Client, credential: Buffer, forWrite: boolean) => Promise<unknown>
const kinds = {
  session: { add: addSession, enter: enterSession as Enter },
  token: { add: addToken, enter: enterToken as Enter },
}

for (const kind of ['session', 'token'] as const) {
  const { add, enter } = kinds[kind]
  for (const [name, { sql, of }] of Object.entries(revocations)) {
    if (of !== 'both' && of !== kind) continue

    t.test(`${kind}: ${name}: it waits for a write that has entered`, async (t) => {
      const { web, other, user } = await setUp(t)
      const credential = await add(database, user)
      await web.query('BEGIN')
      t.ok(await enter(web, credential, true))
      let revoked = false
      const revoking = other.query(sql, [user.userId]).then(() => {
        revoked = true
      })
      await isHeldUp(database, other)
      t.notOk(revoked)
      await web.query('COMMIT')
      await revoking
    })

    t.test(`${kind}: ${name}: a write that enters later sees it`, async (t) => {
      const { web, other, user } = await setUp(t)
      const credential = await add(database, user)
      await other.query('BEGIN')
      await other.query(sql, [user.userId])
      await web.query('BEGIN')
      const entering = enter(web, credential, true)
      await isHeldUp(database, web)
      await other.query('COMMIT')
      const facts = await entering
      if (sql.startsWith('UPDATE memberships')) {
        t.match(facts, sql.includes('role') ? { role: 'viewer' } : { department: 'other' })
      } else {
        t.equal(facts, undefined)
      }
      await web.query('ROLLBACK')
    })
  }

  t.test(`${kind}: a read waits for nobody and holds nothing up`, async (t) => {
    const { web, other, user } = await setUp(t)
    const credential = await add(database, user)
    await other.query('BEGIN')
    await other.query('SELECT FROM memberships WHERE user_id = $1 FOR UPDATE', [user.userId])
    await other.query(
      `SELECT FROM ${kind === 'session' ? 'sessions' : 'api_tokens'} WHERE user_id = $1 FOR UPDATE`,
      [user.userId],
    )
    await web.query('BEGIN READ ONLY')
    t.ok(await enter(web, credential, false))
    await other.query('DELETE FROM memberships WHERE user_id = $1', [user.userId])
    await other.query('COMMIT')
    await web.query('COMMIT')
  })

  t.test(`${kind}: writes of one person go on side by side`, async (t) => {
    const { web, user } = await setUp(t)
    const second = await connect(t, database.url)
    const credential = await add(database, user)
    for (const client of [web, second]) {
      await client.query('BEGIN')
      t.ok(await enter(client, credential, true))
    }
    for (const client of [web, second]) await client.query('COMMIT')
  })

  t.test(`${kind}: noting its use waits for no write`, async (t) => {
    const { web, other, user } = await setUp(t)
    const credential = await add(database, user)
    await database.admin.query(
      `UPDATE sessions SET last_seen_at = now() - interval '2 minutes' WHERE user_id = $1`,
      [user.userId],
    )
    const table = kind === 'session' ? 'sessions' : 'api_tokens'
    const column = kind === 'session' ? 'last_seen_at' : 'last_used_at'
    const isFresh = async () => {
      const { rows } = await database.admin.query<{ fresh: boolean | null }>(
        `SELECT ${column} > now() - interval '1 minute' AS fresh FROM ${table} WHERE user_id = $1`,
        [user.userId],
      )
      return rows[0]?.fresh === true
    }
    const call = kind === 'session' ? 'touch_session($1)' : `touch_token('${table}', $1)`
    const touch = () => web.query(`SELECT ${call}`, [credential])
    await other.query('BEGIN')
    await other.query(`SELECT FROM ${table} WHERE user_id = $1 FOR UPDATE`, [user.userId])
    await touch()
    t.notOk(await isFresh(), 'a row that is held is left for the next time')
    await other.query('COMMIT')
    const writer = await connect(t, database.url)
    await writer.query('BEGIN')
    await enter(writer, credential, true)
    await touch()
    t.ok(await isFresh(), 'the lock of a write is none of its business')
    await writer.query('COMMIT')
  })
}

t.test('a tenant switch waits for a write of its session', async (t) => {
  const { web, user } = await setUp(t)
  const credential = await addSession(database, user)
  const second = await connect(t, database.url)
  await web.query('BEGIN')
  await enterSession(web, credential, true)
  const switching = second.query('SELECT * FROM switch_tenant($1, $2, $3)', [
    credential,
    Buffer.alloc(32, 1),
    user.tenantId,
  ])
  await isHeldUp(database, second)
  await web.query('COMMIT')
  t.match((await switching).rows, [{ outcome: 'switched' }])
})

/** What ends an invitation, with the inviter as $1 and the guest as $2. */
const endings: Record<string, string> = {
  'the inviter is demoted': `UPDATE memberships SET role = 'viewer' WHERE user_id = $1 AND $2 > 0`,
  'the address is no longer verified': `UPDATE users SET email_verified = false WHERE id = $2 AND $1 > 0`,
  'the tenant is closed': `SELECT close_tenant(tenant_id) FROM memberships WHERE user_id = $1 AND $2 > 0`,
  'it is withdrawn': 'DELETE FROM invitations WHERE invited_by = $1 AND $2 > 0',
}
for (const [name, sql] of Object.entries(endings)) {
  t.test(`accepting an invitation: ${name}: it waits`, async (t) => {
    const { web, other, accept, values, user } = await setUpInvitation(t)
    await web.query('BEGIN')
    t.strictSame((await accept()).rows, [{ tenant: user.tenantId }])
    const ending = other.query(sql, values)
    await isHeldUp(database, other)
    await web.query('COMMIT')
    await ending
  })

  t.test(`accepting an invitation: ${name}: what accepts later sees it`, async (t) => {
    const { web, other, accept, values } = await setUpInvitation(t)
    await other.query('BEGIN')
    await other.query(sql, values)
    await web.query('BEGIN')
    const accepting = accept()
    await isHeldUp(database, web)
    await other.query('COMMIT')
    t.strictSame((await accepting).rows, [{ tenant: null }])
    await web.query('ROLLBACK')
  })
}

/** An open invitation, and a function that accepts it as the guest. */
async function setUpInvitation(t: Test) {
  const scene = await setUp(t)
  const { web, user } = scene
  const email = `guest-of-${user.userId}@example.com`
  const guest = await createUser(database, { email, emailVerified: true })
  const { rows } = await database.admin.query<{ id: string }>(
    `INSERT INTO invitations (tenant_id, email, role, invited_by, expires_at)
     VALUES ($1, $3, 'viewer', $2, now() + interval '1 day') RETURNING id`,
    [user.tenantId, user.userId, email],
  )
  const credential = await addSession(database, guest)
  const accept = async () => {
    await enterSession(web, credential, true)
    return web.query('SELECT accept_invitation($1, NULL) AS tenant', [rows[0]?.id])
  }
  return { ...scene, accept, values: [user.userId, guest.userId] }
}

async function setUp(t: Test): Promise<{
  user: TestUser
  web: pg.Client
  other: pg.Client
}> {
  const user = await createUser(database, { role: 'admin' })
  const web = await connect(t, database.url)
  const other = await connect(t, database.superuserUrl)
  return { user, web, other }
}
