import t from 'tap'
import { createUser, type TestUser } from '#dev/testing/people.ts'
import { enterCredential } from '#src/auth/sessions/enter.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { oneStatement } from '#src/db/sql.ts'
import { createOrder } from '#test/support/callers/objects.ts'
import { createDatabase, type TestDatabase } from '#test/support/database/database.ts'
import { openPatiently } from '#test/support/database/open.ts'
import {
  addApp,
  addPortal,
  addService,
  addSession,
  addToken,
  connect,
  idleSeconds,
  inside,
  isHeldUp,
  refusalOf,
} from './credentials.ts'

const lockNotAvailable = '55P03'
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
    const db = openPatiently(t, database.url, 1)
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
  const db = openPatiently(t, database.url, 1)
  const user = await createUser(database)
  const entry = enterCredential({ kind: 'session', hash: await addSession(database, user) }, rules)
  await db.read(entry, async () => {
    await database.admin.query('DELETE FROM memberships')
  })
  t.equal(await db.read(entry), null)
})

t.test('a write in one packet asks its entry for locks, a read does not', async (t) => {
  const database = await createDatabase(t)
  const db = openPatiently(t, database.url, 1)
  const asked: boolean[] = []
  const statement = (forWrite: boolean) => {
    asked.push(forWrite)
    return Prisma.sql`SELECT`
  }
  const entry = { decidesInDatabase: true, statement, admit: () => null } as const
  const nothing = oneStatement(Prisma.sql`SELECT`, () => null)
  await db.read(entry, nothing)
  await db.write(entry, nothing)
  t.strictSame(asked, [false, true])
})

const session = (database: TestDatabase, user: TestUser) => addSession(database, user)
const portal = (database: TestDatabase, { tenantId }: TestUser) => addPortal(database, tenantId)
const link = (database: TestDatabase, { tenantId }: TestUser) =>
  addPortal(database, tenantId, { isOpen: false })
const app = (database: TestDatabase) => addApp(database)

/** The rows on which a right depends. What ends or changes them takes the lock of the second text. */
const rows = {
  session: ['sessions WHERE user_id = $1', 'FOR UPDATE'],
  token: ['api_tokens WHERE user_id = $1', 'FOR UPDATE'],
  membership: ['memberships WHERE user_id = $1', 'FOR NO KEY UPDATE'],
  member: ['memberships WHERE user_id = $1', 'FOR UPDATE'],
  service: ['service_tokens WHERE created_by = $1', 'FOR UPDATE'],
  app: ['app_tokens WHERE $1 > 0', 'FOR UPDATE'],
  portal: ['portal_sessions WHERE $1 > 0', 'FOR UPDATE'],
  tenant: [
    'tenants WHERE id IN (SELECT tenant_id FROM memberships WHERE user_id = $1)',
    'FOR UPDATE',
  ],
} as const

type Row = keyof typeof rows
type Entry = {
  add(database: TestDatabase, user: TestUser): Promise<Buffer>
  /** With the credential as $1. */
  enter: string
  holds: readonly Row[]
}

const entries: Record<string, Entry> = {
  enter_session: {
    add: session,
    enter: 'SELECT FROM enter_session($1, 1800, true)',
    holds: ['session', 'membership', 'tenant'],
  },
  enter_session_as: {
    add: session,
    enter: `SELECT enter_session_as($1, 1800, f.session_id, f.user_id, f.email, f.plan, f.tenant_id, f.role,
      f.department, f.provider, f.subject) FROM enter_session($1, 1800, false) f`,
    holds: ['session', 'membership', 'tenant'],
  },
  enter_token: {
    add: addToken,
    enter: 'SELECT FROM enter_token($1, true)',
    holds: ['token', 'membership', 'tenant'],
  },
  enter_token_as: {
    add: addToken,
    enter: `SELECT enter_token_as($1, f.token_id, f.permissions, f.user_id, f.email, f.plan, f.tenant_id,
      f.role, f.department) FROM enter_token($1, false) f`,
    holds: ['token', 'membership', 'tenant'],
  },
  enter_service: {
    add: addService,
    enter: 'SELECT FROM enter_service($1, true)',
    holds: ['service', 'tenant'],
  },
  enter_service_as: {
    add: addService,
    enter: `SELECT enter_service_as($1, f.service_id, f.name, f.permissions, f.tenant_id)
      FROM enter_service($1, false) f`,
    holds: ['service', 'tenant'],
  },
  enter_app_token: {
    add: app,
    enter: `SELECT FROM enter_app_token($1, '{tenant}', true)`,
    holds: ['app', 'tenant'],
  },
  enter_app_token_as: {
    add: app,
    enter: `SELECT enter_app_token_as($1, f.app_token_id, f.name, f.permissions, f.tenant_id)
      FROM enter_app_token($1, '{tenant}', false) f`,
    holds: ['app', 'tenant'],
  },
  enter_portal_session: {
    add: portal,
    enter: 'SELECT FROM enter_portal_session($1, true)',
    holds: ['app', 'tenant', 'portal'],
  },
  open_portal_link: {
    add: link,
    enter: `SELECT FROM open_portal_link($1, sha256('secret'))`,
    holds: ['app', 'tenant', 'portal'],
  },
  enter_order_tenant: {
    add: session,
    enter: 'SELECT enter_order_tenant({order}) FROM enter_session($1, 1800, false)',
    holds: ['member', 'tenant'],
  },
  remove_team_member: {
    add: session,
    enter: `SELECT remove_team_member('{tenant}', 1, f.user_id) FROM enter_session($1, 1800, false) f`,
    holds: ['membership'],
  },
}

for (const [name, { add, enter, holds }] of Object.entries(entries)) {
  t.test(`${name} holds the rows of the right until its transaction ends`, async (t) => {
    const database = await createDatabase(t)
    const user = await createUser(database, { role: 'admin' })
    const order = await createOrder(database, user)
    const credential = await add(database, user)
    const web = await connect(t, database.url)
    const lock = ([from, strength]: (typeof rows)[Row]) =>
      database.admin.query(`SELECT FROM ${from} ${strength} NOWAIT`, [user.userId])
    await inside(web, async () => {
      const text = enter.replace('{tenant}', user.tenantId).replace('{order}', String(order))
      t.equal((await web.query(text, [credential])).rowCount, 1, 'it enters')
      for (const row of holds) t.equal(await refusalOf(lock(rows[row])), lockNotAvailable, row)
    })
    for (const row of holds) t.equal((await lock(rows[row])).rowCount, 1, `${row}, afterwards`)
  })
}
