import type pg from 'pg'
import t, { type Test } from 'tap'
import { createUser, type TestUser } from '#dev/testing/people.ts'
import { createDatabase, type TestDatabase } from '#test/support/database/database.ts'
import {
  addApp,
  addService,
  addSession,
  addToken,
  connect,
  idleSeconds,
  inside,
  isHeldUp,
  nobody,
  refusalOf,
  scopeOf,
} from './credentials.ts'

/* The functions that enter on facts which were seen before: they compare each one under the locks. */

const database = await createDatabase(t)
const changed = 'GH001'

/** Facts that are not compared: of the same user they never change, or the decision does not have them. */
const uncompared: Record<string, string> = {
  created_at: 'of the user or service token, which keeps it',
  authenticated_seconds_ago:
    'grows by itself: `foreseen` has none, so recent sign-ins are asked for',
  stale: 'is returned',
}

/** Another value of each type. */
const others: Record<string, unknown> = {
  uuid: '00000000-0000-4000-8000-000000000000',
  bigint: '999999999',
  text: 'another',
  'text[]': ['another'],
}

type Facts = Record<string, unknown>
type Kind = {
  add(database: TestDatabase, user: TestUser): Promise<Buffer>
  /** The entry by the credential $1, in the tenant of the user. */
  enter(user: TestUser): string
  /** What the function takes beside the facts. */
  takes: readonly string[]
  /** What ends the right or changes a fact, with the id of the user as $1. */
  endings: readonly string[]
}

const ofTenant = '(SELECT tenant_id FROM memberships WHERE user_id = $1)'
const ofMember = [
  `UPDATE memberships SET role = 'viewer' WHERE user_id = $1`,
  `UPDATE memberships SET department = 'sales' WHERE user_id = $1`,
  'DELETE FROM memberships WHERE user_id = $1',
  `UPDATE users SET email = 'other@example.com' WHERE id = $1`,
  `UPDATE users SET plan = 'pro' WHERE id = $1`,
  `UPDATE tenants SET plan = 'team' WHERE id = ${ofTenant}`,
  'DELETE FROM users WHERE id = $1',
  `SELECT close_tenant(${ofTenant})`,
]

const kinds: Record<string, Kind> = {
  session: {
    add: addSession,
    enter: () => `enter_session($1, ${idleSeconds}, true)`,
    takes: ['credential', 'idle_seconds'],
    endings: [
      ...ofMember,
      'DELETE FROM sessions WHERE user_id = $1',
      'UPDATE sessions SET expires_at = now() WHERE user_id = $1',
      `UPDATE sessions SET last_seen_at = now() - interval '1 day' WHERE user_id = $1`,
      'UPDATE sessions SET id_hash = sha256(id_hash) WHERE user_id = $1',
      'UPDATE sessions SET tenant_id = NULL WHERE user_id = $1',
      `UPDATE sessions SET provider = 'other' WHERE user_id = $1`,
    ],
  },
  token: {
    add: addToken,
    enter: () => 'enter_token($1, true)',
    takes: ['credential'],
    endings: [
      ...ofMember,
      'DELETE FROM api_tokens WHERE user_id = $1',
      `UPDATE api_tokens SET expires_at = now() - interval '1 second' WHERE user_id = $1`,
      'UPDATE api_tokens SET hash = sha256(hash) WHERE user_id = $1',
      `UPDATE api_tokens SET all_permissions = false, permissions = '{post:read}' WHERE user_id = $1`,
    ],
  },
  service: {
    add: addService,
    enter: () => 'enter_service($1, true)',
    takes: ['credential'],
    endings: [
      `DELETE FROM service_tokens WHERE tenant_id = ${ofTenant}`,
      `UPDATE service_tokens SET expires_at = now() - interval '1 second' WHERE tenant_id = ${ofTenant}`,
      `UPDATE service_tokens SET hash = sha256(hash) WHERE tenant_id = ${ofTenant}`,
      `UPDATE service_tokens SET permissions = '{post:create}' WHERE tenant_id = ${ofTenant}`,
      `UPDATE service_tokens SET name = 'renamed' WHERE tenant_id = ${ofTenant}`,
      `SELECT close_tenant(${ofTenant})`,
    ],
  },
  app_token: {
    add: (database) => addApp(database),
    enter: ({ tenantId }) => `enter_app_token($1, '${tenantId}', true)`,
    takes: ['credential'],
    endings: [
      ...[
        'DELETE FROM app_tokens WHERE',
        `UPDATE app_tokens SET expires_at = now() - interval '1 second' WHERE`,
        'UPDATE app_tokens SET hash = sha256(hash) WHERE',
        `UPDATE app_tokens SET permissions = '{event-type:update}' WHERE`,
        `UPDATE app_tokens SET name = 'renamed' WHERE`,
      ].map((ending) => `${ending} $1::bigint > 0`),
      `SELECT close_tenant(${ofTenant})`,
    ],
  },
}

for (const [name, kind] of Object.entries(kinds)) {
  t.test(`${name}: every fact that an entry returns is compared`, async (t) => {
    const { web, credential, user, signature, as } = await setUp(t, name, kind)
    const { rows } = await web.query(`SELECT * FROM ${kind.enter(user)}`, [credential])
    const facts: Facts = rows[0]
    t.strictSame(
      Object.keys(facts).filter((fact) => !signature.has(fact)),
      Object.keys(uncompared).filter((fact) => fact in facts),
    )
    await inside(web, async () => {
      t.equal((await as(web, facts)).rows[0].stale, facts.stale)
      const { userId, tenantId } = user
      t.strictSame(await scopeOf(web), { userId: isOfPerson(name) ? userId : null, tenantId })
    })
    for (const [fact, type] of signature) {
      if (kind.takes.includes(fact)) continue
      for (const other of [others[type], facts[fact] === null ? others[type] : null]) {
        await inside(web, async () => {
          t.equal(
            await refusalOf(as(web, { ...facts, [fact]: other })),
            changed,
            `${fact}: ${other}`,
          )
        })
      }
    }
    t.strictSame(await scopeOf(web), nobody)
  })

  t.test(`${name}: facts that have changed are refused, and nothing is written`, async (t) => {
    for (const ending of kind.endings) {
      const { web, credential, user, as } = await setUp(t, name, kind)
      const { rows } = await web.query(`SELECT * FROM ${kind.enter(user)}`, [credential])
      await database.admin.query(ending, [user.userId])
      t.equal(await refusalOf(as(web, rows[0])), changed, ending)
      t.equal(await refusalOf(as(web, { ...rows[0], tenant_id: null })), changed)
    }
  })

  t.test(`${name}: a change that is under way is waited for, and refused`, async (t) => {
    // Who changes the permissions of a service or app token locks it first.
    const { web, credential, user, as } = await setUp(t, name, kind)
    const { rows } = await web.query(`SELECT * FROM ${kind.enter(user)}`, [credential])
    const other = await connect(t, database.superuserUrl)
    const [ending = ''] = isOfPerson(name) ? ofMember : kind.endings
    await other.query('BEGIN')
    await other.query(ending, [user.userId])
    const entering = refusalOf(as(web, rows[0]))
    await isHeldUp(database, web)
    await other.query('COMMIT')
    t.equal(await entering, changed)
  })

  t.test(`${name}: what has entered holds a change up until it ends`, async (t) => {
    const { web, credential, user, as } = await setUp(t, name, kind)
    const { rows } = await web.query(`SELECT * FROM ${kind.enter(user)}`, [credential])
    const other = await connect(t, database.superuserUrl)
    const [ending = ''] = kind.endings
    await web.query('BEGIN')
    await as(web, rows[0])
    const changing = other.query(ending, [user.userId])
    await isHeldUp(database, other)
    await web.query('COMMIT')
    await changing
  })

  t.test(`${name}: the facts of another credential do not fit`, async (t) => {
    const { web, credential, user, as } = await setUp(t, name, kind)
    const { rows } = await web.query(`SELECT * FROM ${kind.enter(user)}`, [credential])
    const second = await kind.add(database, user)
    const strangers = await kind.add(database, await createUser(database, { role: 'admin' }))
    for (const foreign of [second, strangers, Buffer.alloc(32)]) {
      t.equal(await refusalOf(as(web, rows[0], foreign)), changed)
    }
  })

  if (name !== 'app_token') {
    t.test(`${name}: another person or tenant does not fit, with the same rights`, async (t) => {
      const { web, credential, user, as } = await setUp(t, name, kind)
      const { rows } = await web.query(`SELECT * FROM ${kind.enter(user)}`, [credential])
      const alike = { role: 'admin', department: 'press' } as const
      const colleague = await createUser(database, { ...alike, tenantId: user.tenantId })
      const stranger = await createUser(database, alike)
      await database.admin.query(
        `INSERT INTO memberships (tenant_id, user_id, role, department) VALUES ($1, $2, 'admin', 'press')`,
        [stranger.tenantId, user.userId],
      )
      const others = [
        { tenant_id: stranger.tenantId },
        ...(isOfPerson(name) ? [{ user_id: colleague.userId }] : []),
      ]
      for (const other of others) {
        t.equal(
          await refusalOf(as(web, { ...rows[0], ...other })),
          changed,
          `${Object.keys(other)}`,
        )
      }
    })
  }

  t.test(`${name}: no other role enters`, async (t) => {
    const { web, credential, user, as } = await setUp(t, name, kind)
    const { rows } = await web.query(`SELECT * FROM ${kind.enter(user)}`, [credential])
    const worker = await connect(t, database.workerUrl)
    t.equal(await refusalOf(as(worker, rows[0])), '42501')
  })
}

const isOfPerson = (name: string) => ['session', 'token'].includes(name)

async function setUp(t: Test, name: string, kind: Kind) {
  const user = await createUser(database, { role: 'admin', department: 'press' })
  const credential = await kind.add(database, user)
  const web = await connect(t, database.url)
  const { rows } = await database.admin.query<{ name: string; type: string }>(
    `SELECT a.name, format_type(a.type, NULL) AS type
     FROM pg_proc p, unnest(p.proargnames, p.proargtypes::oid[]) WITH ORDINALITY AS a (name, type, n)
     WHERE p.proname = $1 ORDER BY a.n`,
    [`enter_${name}_as`],
  )
  const signature = new Map(rows.map((one) => [one.name, one.type]))
  const as = (client: pg.Client, facts: Facts, by = credential) => {
    const given: Facts = { ...facts, credential: by, idle_seconds: idleSeconds }
    const values = [...signature.keys()].map((one) => given[one] ?? null)
    const marks = values.map((_, n) => `$${n + 1}`)
    return client.query(`SELECT enter_${name}_as(${marks.join()}) AS stale`, values)
  }
  return { user, credential, web, signature, as }
}
