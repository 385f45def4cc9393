import type pg from 'pg'
import t from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { createDatabase } from '#test/support/database/database.ts'
import {
  addSession,
  addToken,
  connect,
  enterSession,
  enterToken,
  inside,
  nobody,
  randomCredential,
  scopeOf,
} from './credentials.ts'

t.test('a live session enters as its person and tells what they are', async (t) => {
  const database = await createDatabase(t)
  const user = await createUser(database, { role: 'editor', department: 'sales', email: 'a@b.c' })
  await database.admin.query(
    `INSERT INTO oauth_identities (provider, provider_user_id, user_id, issuer)
     VALUES ('demo', 'ada', $1, 'i'), ('other', 'eve', $1, 'i')`,
    [user.userId],
  )
  const credential = await addSession(database, user, { subject: 'ada' })
  const web = await connect(t, database.url)
  await inside(web, async () => {
    t.match(await enterSession(web, credential), {
      user_id: String(user.userId),
      tenant_id: user.tenantId,
      role: 'editor',
      department: 'sales',
      email: 'a@b.c',
      plan: null,
      authenticated_seconds_ago: 0,
      stale: false,
      provider: 'demo',
      subject: 'ada',
    })
    t.strictSame(await scopeOf(web), { userId: user.userId, tenantId: user.tenantId })
    const { rows } = await web.query(
      `SELECT current_service_id() AS service, current_service_name() AS name,
         current_key_holder() AS holder`,
    )
    t.strictSame(rows, [{ service: null, name: null, holder: null }], 'a person is no service')
  })
  const seenLongAgo = await addSession(database, user, { idleSeconds: 61 })
  await inside(web, async () => {
    t.match(await enterSession(web, seenLongAgo), { stale: true })
  })
  t.strictSame(await scopeOf(web), nobody, 'and nothing of it stays')
})

t.test('a live token enters as its owner in its tenant', async (t) => {
  const database = await createDatabase(t)
  const user = await createUser(database, { role: 'viewer' })
  const credential = await addToken(database, user, { permissions: ['post:read'] })
  const web = await connect(t, database.url)
  await inside(web, async () => {
    t.match(await enterToken(web, credential), {
      user_id: String(user.userId),
      tenant_id: user.tenantId,
      role: 'viewer',
      permissions: ['post:read'],
      stale: true,
    })
    t.strictSame(await scopeOf(web), { userId: user.userId, tenantId: user.tenantId })
  })
  const unlimited = await addToken(database, user)
  await inside(web, async () => {
    t.match(await enterToken(web, unlimited), { permissions: null })
  })
})

t.test('what is not live sets nothing and ends what was set', async (t) => {
  const database = await createDatabase(t)
  const user = await createUser(database)
  const live = await addSession(database, user)
  const removed = await createUser(database)
  const orphan = await addToken(database, removed)
  await database.admin.query('DELETE FROM memberships WHERE user_id = $1', [removed.userId])
  const web = await connect(t, database.url)
  const sessions = {
    missing: randomCredential(),
    'the stored hash': await storedHash(database.admin, live),
    expired: await addSession(database, user, { expired: true }),
    idle: await addSession(database, user, { idleSeconds: 1_801 }),
  }
  const tokens = {
    missing: randomCredential(),
    expired: await addToken(database, user, { expired: true }),
    'of a removed member': orphan,
    'a session': live,
  }
  for (const forWrite of [false, true]) {
    for (const [name, credential] of Object.entries(sessions)) {
      await inside(web, async () => {
        await enterSession(web, live)
        t.equal(await enterSession(web, credential, forWrite), undefined, `session: ${name}`)
        t.strictSame(await scopeOf(web), nobody)
      })
    }
    for (const [name, credential] of Object.entries(tokens)) {
      await inside(web, async () => {
        await enterSession(web, live)
        t.equal(await enterToken(web, credential, forWrite), undefined, `token: ${name}`)
        t.strictSame(await scopeOf(web), nobody)
      })
    }
  }
  const anonymous = await addSession(database, null)
  await inside(web, async () => {
    await enterSession(web, live)
    t.match(await enterSession(web, anonymous), { user_id: null, subject: null })
    t.strictSame(await scopeOf(web), nobody, 'a pending sign-in is nobody yet')
  })
})

async function storedHash(admin: pg.Pool, credential: Buffer): Promise<Buffer> {
  const { rows } = await admin.query<{ hash: Buffer }>(
    'SELECT id_hash AS hash FROM sessions WHERE id_hash = sha256($1)',
    [credential],
  )
  return rows[0]?.hash ?? Buffer.alloc(0)
}
