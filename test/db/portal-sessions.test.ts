import type pg from 'pg'
import t from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { createDatabase } from '#test/support/database/database.ts'
import {
  addApp,
  addPortal,
  addSession,
  connect,
  inside,
  isHeldUp,
  randomCredential,
  refusalOf,
  scopeOf,
} from './credentials.ts'

const enter = async (client: pg.Client, credential: Buffer, forWrite = false) =>
  (await client.query('SELECT * FROM enter_portal_session($1, $2)', [credential, forWrite])).rows

const open = async (client: pg.Client, link: Buffer, session: Buffer) =>
  (await client.query('SELECT * FROM open_portal_link($1, $2)', [link, session])).rows

const find = async (client: pg.Client, link: Buffer) =>
  (await client.query('SELECT FROM find_portal_link($1)', [link])).rowCount

const denied = '42501'
const tenantOf = 'SELECT current_webhook_tenant_id() AS tenant, current_scope_kind() AS kind'

t.test('a link is opened once, by the statement that makes the session', async (t) => {
  const database = await createDatabase(t)
  const { tenantId } = await createUser(database)
  const link = await addPortal(database, tenantId, { isOpen: false })
  const [first, second] = [await connect(t, database.url), await connect(t, database.url)]
  const [mine, theirs] = [randomCredential(), randomCredential()]
  t.strictSame(await enter(first, link), [], 'a link is no session')
  await first.query('BEGIN')
  t.match(await open(first, link, mine), [{ tenant_id: tenantId, name: 'the app' }])
  t.strictSame((await first.query(tenantOf)).rows, [{ tenant: tenantId, kind: 'portal' }])
  t.strictSame(await scopeOf(first), { userId: null, tenantId: null }, 'no tenant but for webhooks')
  const late = open(second, link, theirs)
  await isHeldUp(database, second)
  await first.query('COMMIT')
  t.strictSame(await late, [], 'of two at once one opens it')
  t.strictSame(await open(second, link, theirs), [])
  t.strictSame(await enter(second, theirs), [])
  t.strictSame(await enter(second, link), [], 'nor is it one afterwards')
  t.match(await enter(second, mine), [{ tenant_id: tenantId }])
  const { rows } = await database.admin.query(
    `SELECT expires_at - opened_at = interval '1 hour' AS hour FROM portal_sessions`,
  )
  t.strictSame(rows, [{ hour: true }])
})

t.test('a link that was taken back with its transaction opens again', async (t) => {
  const database = await createDatabase(t)
  const { tenantId } = await createUser(database)
  const link = await addPortal(database, tenantId, { isOpen: false })
  const web = await connect(t, database.url)
  await inside(web, () => open(web, link, randomCredential()))
  t.equal((await open(web, link, randomCredential())).length, 1)
})

t.test('a link ends the session that it replaces, and nothing else of that name', async (t) => {
  const database = await createDatabase(t)
  const [{ tenantId }, other] = [await createUser(database), await createUser(database)]
  const app = await addApp(database, { permissions: ['portal-link:create'] })
  const web = await connect(t, database.url)
  const replace = async (previous: Buffer) => {
    const link = await addPortal(database, tenantId, { app, isOpen: false })
    await web.query('SELECT open_portal_link($1, $2, $3)', [link, randomCredential(), previous])
  }
  for (const [name, session, isEnded] of [
    ['of the same app and tenant', await addPortal(database, tenantId, { app }), true],
    ['of another tenant', await addPortal(database, other.tenantId, { app }), false],
    ['of another app', await addPortal(database, tenantId), false],
  ] as const) {
    await replace(session)
    t.equal((await enter(web, session)).length, isEnded ? 0 : 1, name)
  }
  const unopened = await addPortal(database, tenantId, { app, isOpen: false })
  await replace(unopened)
  t.equal((await open(web, unopened, randomCredential())).length, 1, 'a link is no session')
  const expired = await addPortal(database, tenantId, { app, seconds: -60 })
  await replace(expired)
  const { rows } = await database.admin.query(
    `SELECT expires_at < now() - interval '59 s' AS kept FROM portal_sessions WHERE hash = sha256($1)`,
    [expired],
  )
  t.strictSame(rows, [{ kept: true }], 'a later time would revive it for who began before')
})

t.test('nothing is entered with a link or session that is not live', async (t) => {
  const database = await createDatabase(t)
  const { tenantId } = await createUser(database)
  const { tenantId: closed } = await createUser(database)
  const web = await connect(t, database.url)
  const permissions = ['portal-link:create']
  const [app, rotated] = [
    await addApp(database, { permissions }),
    await addApp(database, { permissions }),
  ]
  const dead = {
    unknown: randomCredential(),
    'past its hour': await addPortal(database, tenantId, { seconds: -1 }),
    'of an app token that expired': await addPortal(database, tenantId, {
      app: await addApp(database, { expired: true, permissions }),
    }),
    'of an app token without the permission': await addPortal(database, tenantId, {
      app: await addApp(database),
    }),
    'of a closed tenant': await addPortal(database, closed),
    'made before the secret was rotated': await addPortal(database, tenantId, { app: rotated }),
    'of a deleted app token': await addPortal(database, tenantId, { app }),
  }
  const links = {
    expired: await addPortal(database, tenantId, { isOpen: false, seconds: -1 }),
    opened: await addPortal(database, tenantId),
    'of a closed tenant': await addPortal(database, closed, { isOpen: false }),
    'of a deleted app token': await addPortal(database, tenantId, { app, isOpen: false }),
  }
  await database.admin.query('SELECT close_tenant($1)', [closed])
  await database.admin.query('DELETE FROM app_tokens WHERE hash = sha256($1)', [app])
  const rotation = 'UPDATE app_tokens SET secret_rotated_at = now() WHERE hash = sha256($1)'
  await database.admin.query(rotation, [rotated])
  for (const [name, credential] of Object.entries(dead)) {
    for (const forWrite of [false, true]) {
      await inside(web, async () => {
        t.strictSame(await enter(web, credential, forWrite), [], name)
        t.strictSame((await web.query(tenantOf)).rows, [{ tenant: null, kind: null }])
      })
    }
  }
  for (const [name, link] of Object.entries(links)) {
    t.strictSame(await open(web, link, randomCredential()), [], `a link that is ${name}`)
  }
  for (const link of [links.expired, links.opened]) t.equal(await find(web, link), 0)
  t.equal(await find(web, await addPortal(database, tenantId, { isOpen: false })), 1)
  const live = await addPortal(database, tenantId)
  t.match(await enter(web, live), [{ tenant_id: tenantId, tenant_name: /^Tenant/ }])
  const worker = await connect(t, database.workerUrl)
  const values = [live, false]
  const refused = refusalOf(worker.query('SELECT enter_portal_session($1, $2)', values))
  t.equal(await refused, denied, 'nor by a worker')
})

t.test('only the app makes links, and only of its own in the tenant that it names', async (t) => {
  const database = await createDatabase(t)
  const [ada, eve] = [await createUser(database), await createUser(database)]
  const [app, other] = [await addApp(database), await addApp(database)]
  const { rows } = await database.admin.query<{ id: string; own: boolean }>(
    'SELECT id, hash = sha256($1) AS own FROM app_tokens',
    [app],
  )
  const idOf = (own: boolean) => rows.find((row) => row.own === own)?.id
  const web = await connect(t, database.url)
  const make = (tenantId: string, appTokenId: unknown) =>
    web.query(
      `INSERT INTO portal_sessions (hash, tenant_id, app_token_id, expires_at)
       VALUES (sha256(gen_random_uuid()::text::bytea), $1, $2, now())`,
      [tenantId, appTokenId],
    )
  const asApp = () => web.query('SELECT FROM enter_app_token($1, $2, true)', [app, ada.tenantId])
  await addPortal(database, eve.tenantId, { app: other })
  await inside(web, async () => {
    await asApp()
    t.equal((await make(ada.tenantId, idOf(true))).rowCount, 1)
    t.equal((await web.query('SELECT id FROM portal_sessions')).rowCount, 1, 'of this tenant')
    t.equal((await web.query('DELETE FROM portal_sessions')).rowCount, 1)
  })
  for (const [tenantId, id] of [
    [eve.tenantId, idOf(true)],
    [ada.tenantId, idOf(false)],
  ] as const) {
    await inside(web, async () => {
      await asApp()
      t.equal(await refusalOf(make(tenantId, id)), denied)
    })
  }
  const portal = await addPortal(database, ada.tenantId, { app })
  const session = await addSession(database, ada)
  for (const [sql, values] of [
    ['SELECT FROM enter_portal_session($1, true)', [portal]],
    ['SELECT FROM enter_session($1, 60, true)', [session]],
  ] as const) {
    await inside(web, async () => {
      await web.query(sql, [...values])
      t.equal((await web.query('SELECT id FROM portal_sessions')).rowCount, 0)
      t.equal(await refusalOf(make(ada.tenantId, idOf(true))), denied)
    })
  }
})

t.test(
  'a portal session has forms of its own, apart from the app and other sessions',
  async (t) => {
    const database = await createDatabase(t)
    const { tenantId } = await createUser(database)
    const app = await addApp(database, { permissions: ['portal-link:create'] })
    const [mine, theirs] = [
      await addPortal(database, tenantId, { app }),
      await addPortal(database, tenantId, { app }),
    ]
    const web = await connect(t, database.url)
    const key = `INSERT INTO idempotency_keys (holder, tenant_id, key_hash, request_hash)
    VALUES (concat_ws(' ', 'service', $2::uuid, $1::uuid), $1, sha256('k'), sha256('r'))`
    await web.query('BEGIN')
    const [{ session_id: id, app_token_id: appId }] = await enter(web, mine, true)
    const { rows } = await web.query(
      'SELECT current_service_id() AS app, current_key_holder() AS own',
    )
    t.strictSame(rows, [{ app: appId, own: id }], 'the audit log names the app')
    await web.query(key, [tenantId, id])
    await web.query('COMMIT')
    for (const holder of [appId, id]) {
      await inside(web, async () => {
        await enter(web, theirs, true)
        t.equal(await refusalOf(web.query(key, [tenantId, holder])), denied)
      })
    }
    const seen = async () => (await web.query('SELECT FROM idempotency_keys')).rowCount
    await inside(web, async () => {
      await enter(web, theirs)
      t.equal(await seen(), 0)
    })
    await inside(web, async () => {
      await web.query('SELECT enter_app_token($1, $2, false)', [app, tenantId])
      t.equal(await seen(), 0, 'nor has the app the forms of its sessions')
    })
    await inside(web, async () => {
      await enter(web, mine)
      t.equal(await seen(), 1)
    })
  },
)

t.test('what ends a portal session waits for its write, and then holds', async (t) => {
  const database = await createDatabase(t)
  const web = await connect(t, database.url)
  const other = await connect(t, database.superuserUrl)
  for (const end of [
    'DELETE FROM app_tokens WHERE id = (SELECT app_token_id FROM portal_sessions WHERE tenant_id = $1)',
    'DELETE FROM portal_sessions WHERE tenant_id = $1',
    'SELECT close_tenant($1)',
  ]) {
    const { tenantId } = await createUser(database)
    const credential = await addPortal(database, tenantId)
    await web.query('BEGIN')
    t.equal((await enter(web, credential, true)).length, 1)
    const ended = other.query(end, [tenantId])
    await isHeldUp(database, other)
    await web.query('COMMIT')
    await ended
    t.strictSame(await enter(web, credential, true), [], end)
  }
})

t.test('expired links and sessions are removed', async (t) => {
  const database = await createDatabase(t)
  const { tenantId } = await createUser(database)
  await addPortal(database, tenantId, { seconds: -1 })
  await addPortal(database, tenantId, { isOpen: false, seconds: -1 })
  await addPortal(database, tenantId)
  const worker = await connect(t, database.workerUrl)
  const { rows } = await worker.query('SELECT sessions FROM prune_dead(60, 30, 10)')
  t.strictSame(rows, [{ sessions: 2 }])
  t.equal((await database.admin.query('SELECT FROM portal_sessions')).rowCount, 1)
})
