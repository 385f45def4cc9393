import type pg from 'pg'
import t from 'tap'
import { createUser, type TestUser } from '#dev/testing/people.ts'
import { receive } from '#test/billing/received.ts'
import { addOperator } from '#test/support/app/app.ts'
import { addIdentity } from '#test/support/callers/account.ts'
import { createChain } from '#test/support/callers/chain.ts'
import { createDatabase, type TestDatabase } from '#test/support/database/database.ts'
import {
  addSession,
  addToken,
  connect,
  enterSession,
  enterToken,
  inside,
  refusalOf,
  scopeOf,
} from './credentials.ts'

const denied = '42501'
const notAnOperator = 'GH002'

t.test('people see themselves, what is theirs, and the members of their tenant', async (t) => {
  const database = await createDatabase(t)
  const ada = await createUser(database, { role: 'admin', email: 'ada@example.com' })
  const ben = await createUser(database, { tenantId: ada.tenantId, email: 'ben@example.com' })
  const eve = await createUser(database, { email: 'eve@example.com' })
  await database.admin.query(
    `INSERT INTO memberships (tenant_id, user_id, role) VALUES ($1, $2, 'viewer')`,
    [eve.tenantId, ada.userId],
  )
  for (const user of [ada, ben, eve]) {
    await addEverything(database, user)
  }
  const credential = await addSession(database, ada)
  const web = await connect(t, database.url)
  await inside(web, async () => {
    await enterSession(web, credential)
    const seen = async (sql: string) => (await web.query(sql)).rows.map((row) => Number(row.id))
    t.strictSame(await seen('SELECT id FROM users ORDER BY 1'), [ada.userId, ben.userId])
    t.strictSame(await seen('SELECT user_id AS id FROM memberships ORDER BY 1'), [
      ada.userId,
      ada.userId,
      ben.userId,
    ])
    t.strictSame(await seen('SELECT user_id AS id FROM tenant_members ORDER BY 1'), [
      ada.userId,
      ben.userId,
    ])
    for (const table of ['oauth_identities', 'sessions', 'api_tokens', 'token_revocations']) {
      const own = await seen(`SELECT DISTINCT user_id AS id FROM ${table}`)
      t.strictSame(own, [ada.userId], table)
    }
    t.equal((await web.query('SELECT FROM provider_grants')).rowCount, 1)
    t.equal((await web.query('SELECT FROM tenants')).rowCount, 2, 'where she is a member')
    t.strictSame((await web.query('SELECT tenant_id FROM invitations')).rows, [
      { tenant_id: ada.tenantId },
    ])
  })
  const untouched: [string, string][] = [
    ['a role in another tenant', `UPDATE memberships SET role = 'admin' WHERE tenant_id <> $1`],
    ['a membership in another tenant', 'DELETE FROM memberships WHERE tenant_id <> $1'],
    ['a session of another', `DELETE FROM sessions WHERE user_id <> ${ada.userId} AND $1 <> ''`],
    [
      'an identity of another',
      `DELETE FROM oauth_identities WHERE user_id <> ${ada.userId} AND $1 <> ''`,
    ],
    ['an invitation elsewhere', 'DELETE FROM invitations WHERE tenant_id <> $1'],
  ]
  for (const [name, sql] of untouched) {
    await inside(web, async () => {
      await enterSession(web, credential)
      t.equal((await web.query(sql, [ada.tenantId])).rowCount, 0, name)
    })
  }
})

t.test('a token makes no token and no tenant', async (t) => {
  const database = await createDatabase(t)
  const user = await createUser(database)
  const insert = (web: pg.Client) =>
    web.query(
      `INSERT INTO api_tokens (last_four, hash, user_id, tenant_id, name, expires_at)
       VALUES ('test', sha256('x'), $1, $2, 'x', now() + interval '1 day')`,
      [user.userId, user.tenantId],
    )
  const web = await connect(t, database.url)
  const [session, token] = [await addSession(database, user), await addToken(database, user)]
  await inside(web, async () => {
    await enterSession(web, session)
    t.equal((await insert(web)).rowCount, 1)
  })
  await inside(web, async () => {
    await enterToken(web, token)
    t.equal(await refusalOf(insert(web)), denied)
  })
  await inside(web, async () => {
    await enterToken(web, token)
    t.equal(await refusalOf(web.query(`SELECT create_tenant('x', 100)`)), denied)
  })
})

t.test('an invitation that is open takes a seat, one that is not does not', async (t) => {
  const database = await createDatabase(t)
  const ada = await createUser(database, { role: 'admin' })
  await database.admin.query(
    `INSERT INTO invitations (tenant_id, email, role, expires_at, accepted_at)
     SELECT $1, name || '@example.com', 'viewer', now() + until, accepted
     FROM (VALUES ('ben', '1 day'::interval, NULL), ('cy', '1 day', NULL), ('expired', '-1 day', NULL),
       ('accepted', '1 day', now())) AS i (name, until, accepted)`,
    [ada.tenantId],
  )
  const credential = await addSession(database, ada)
  const web = await connect(t, database.url)
  await inside(web, async () => {
    await enterSession(web, credential)
    for (const [but, invitations] of [
      [null, 2],
      ['Ben@example.com', 1],
    ] as const) {
      const { rows } = await web.query('SELECT members, invitations FROM tenant_billing($1)', [but])
      t.strictSame(rows, [{ members: 1, invitations }])
    }
  })
})

t.test('removing a member takes the user along with the last membership', async (t) => {
  const database = await createDatabase(t)
  const ada = await createUser(database, { role: 'admin' })
  const ben = await createUser(database, { tenantId: ada.tenantId })
  const cy = await createUser(database)
  await database.admin.query(
    `INSERT INTO memberships (tenant_id, user_id, role) VALUES ($1, $2, 'viewer')`,
    [ada.tenantId, cy.userId],
  )
  const stranger = await createUser(database)
  await addEverything(database, ben)
  const { rows: invited } = await database.admin.query<{ id: string }>(
    `INSERT INTO invitations (tenant_id, email, role, invited_by, expires_at)
     SELECT $1, days || '@example.com', 'viewer', $2, now() + make_interval(days => days)
     FROM unnest('{1,-1}'::int[]) AS days RETURNING id`,
    [ada.tenantId, cy.userId],
  )
  const [open, expired] = invited.map(({ id }) => id)
  const credential = await addSession(database, ada)
  const web = await connect(t, database.url)
  const remove = async (id: number) =>
    (await web.query('SELECT * FROM remove_member($1)', [id])).rows
  await web.query('BEGIN')
  await enterSession(web, credential)
  t.strictSame(await remove(stranger.userId), [], 'of another tenant')
  t.strictSame(await remove(cy.userId), [
    { user_gone: false, revocations: [], invitations: [open] },
  ])
  const [gone] = await remove(ben.userId)
  t.match(gone, { user_gone: true })
  t.equal(gone?.revocations.length, 1)
  await web.query('COMMIT')
  const left = await database.admin.query('SELECT id FROM users WHERE id = ANY ($1)', [
    [ben.userId, cy.userId, stranger.userId],
  ])
  t.equal(left.rowCount, 2)
  const { rows } = await database.admin.query(
    `SELECT id FROM token_revocations WHERE user_id = $1 AND status = 'revoking'`,
    [ben.userId],
  )
  t.strictSame(rows.map(({ id }) => id).filter((id) => gone?.revocations.includes(id)).length, 1)
  t.equal(await refusalOf(remove(cy.userId)), denied, 'without a credential')
  const remaining = await database.admin.query('SELECT id FROM invitations WHERE invited_by = $1', [
    cy.userId,
  ])
  t.strictSame(remaining.rows, [{ id: expired }], 'what has expired stays')
})

t.test('a member of another tenant is neither removed from a team nor locked', async (t) => {
  const database = await createDatabase(t)
  const ada = await createUser(database, { role: 'admin' })
  const ben = await createUser(database)
  const { teamId } = await createChain(database, ben)
  const web = await connect(t, database.url)
  const lockMember = () =>
    database.admin.query('SELECT FROM memberships WHERE user_id = $1 FOR SHARE NOWAIT', [
      ben.userId,
    ])
  const remove = async (tenantId: string) => {
    const values = [tenantId, teamId, ben.userId]
    const { rows } = await web.query('SELECT remove_team_member($1, $2, $3) AS removed', values)
    return rows[0]?.removed
  }
  for (const tenantId of [ada.tenantId, ben.tenantId]) {
    await inside(web, async () => {
      await enterSession(web, await addSession(database, ada))
      t.equal(await remove(tenantId), false)
      t.equal((await lockMember()).rowCount, 1)
    })
  }
  await inside(web, async () => {
    await enterSession(web, await addSession(database, ben))
    t.equal(await remove(ben.tenantId), true)
    t.equal(await refusalOf(lockMember()), '55P03', 'in their own tenant')
  })
})

t.test('a key of a request is charged to no tenant but the current one', async (t) => {
  const database = await createDatabase(t)
  const ada = await createUser(database)
  const ben = await createUser(database, { tenantId: ada.tenantId })
  const { tenantId: elsewhere } = await createUser(database)
  const insert = `INSERT INTO idempotency_keys AS k (holder, tenant_id, key_hash, request_hash)
    VALUES ('person ' || $1::bigint, $2, sha256($3), sha256('x'))`
  await database.admin.query(insert, [ada.userId, elsewhere, 'used elsewhere'])
  await database.admin.query(insert, [ben.userId, ada.tenantId, 'of a colleague'])
  const web = await connect(t, database.url)
  const credential = await addSession(database, ada)
  const outcomeOf = (text: string, values: unknown[] = []) =>
    inside(web, async () => {
      await enterSession(web, credential)
      let rows: number | null = null
      const refusal = await refusalOf(
        web.query(text, values).then(({ rowCount }) => {
          rows = rowCount
        }),
      )
      return refusal ?? rows
    })
  const again = `${insert} ON CONFLICT (holder, key_hash) DO UPDATE SET tenant_id = k.tenant_id`
  const own = (tenantId: string | null, key: string) => [ada.userId, tenantId, key]
  const move = 'UPDATE idempotency_keys SET tenant_id = $1'
  t.equal(await outcomeOf(insert, own(ada.tenantId, 'new')), 1)
  t.equal(await outcomeOf(insert, own(null, 'new')), 1, 'without a tenant')
  t.equal(await outcomeOf(insert, own(elsewhere, 'new')), denied)
  t.equal(await outcomeOf(insert, [ben.userId, ada.tenantId, 'new']), denied)
  t.equal(await outcomeOf(again, own(ada.tenantId, 'used elsewhere')), 1, 'it is found')
  t.equal(await outcomeOf(again, own(elsewhere, 'used elsewhere')), denied)
  t.equal(await outcomeOf(move, [ada.tenantId]), 1, 'her own, into the current tenant')
  t.equal(await outcomeOf(move, [null]), 1)
  await database.admin.query('UPDATE idempotency_keys SET tenant_id = NULL WHERE holder = $1', [
    `person ${ada.userId}`,
  ])
  t.equal(await outcomeOf(move, [elsewhere]), denied)
  t.equal(await outcomeOf('UPDATE idempotency_keys SET result = NULL'), 1)
  t.equal(await outcomeOf('SELECT FROM idempotency_keys'), 1)
  t.match(await outcomeOf(`UPDATE idempotency_keys SET holder = 'person ${ben.userId}'`), denied)
})

t.test(
  'an invitation is for who holds the address, in a session, and for nobody else',
  async (t) => {
    const database = await createDatabase(t)
    const ada = await createUser(database, { role: 'admin', email: 'ada@example.com' })
    const eve = await createUser(database, { email: 'Eve@example.com', emailVerified: true })
    const mal = await createUser(database, { email: 'eve@example.com' })
    const { rows } = await database.admin.query<{ id: string }>(
      `INSERT INTO invitations (tenant_id, email, role, department, invited_by, expires_at)
     VALUES ($1, 'eve@example.com', 'editor', 'sales', $2, now() + interval '1 day') RETURNING id`,
      [ada.tenantId, ada.userId],
    )
    const id = rows[0]?.id
    const web = await connect(t, database.url)
    const own = async () => (await web.query('SELECT * FROM own_invitations(NULL, NULL)')).rows
    const answer = async (name: 'accept' | 'decline') =>
      (await web.query(`SELECT ${name}_invitation($1, NULL) AS done`, [id])).rows[0]?.done
    for (const user of [ada, mal]) {
      const credential = await addSession(database, user)
      await inside(web, async () => {
        await enterSession(web, credential)
        t.strictSame(await own(), [])
        t.equal(await answer('accept'), null)
        t.equal(await answer('decline'), false)
      })
    }
    const token = await addToken(database, eve)
    await inside(web, async () => {
      await enterToken(web, token)
      t.strictSame(await own(), [], 'with a token')
      t.equal(await refusalOf(answer('accept')), denied)
    })
    const credential = await addSession(database, eve)
    await inside(web, async () => {
      await enterSession(web, credential)
      const scope = await scopeOf(web)
      t.match(await own(), [{ id, tenant_id: ada.tenantId, inviter: 'ada@example.com' }])
      t.strictSame(await scopeOf(web), scope, 'the scope is that of the caller again')
      t.strictSame(
        (await web.query('SELECT FROM invitations')).rows,
        [],
        'only the function shows it',
      )
      t.equal(await answer('accept'), ada.tenantId)
      t.equal(await answer('accept'), null, 'once')
      t.strictSame(await own(), [])
    })
    await inside(web, async () => {
      await enterSession(web, credential)
      t.equal(await answer('decline'), true)
      t.equal(await answer('accept'), null, 'declined')
      t.strictSame(await own(), [])
    })
  },
)

t.test(
  'billing customers are linked by an operator in a session, or by the worker’s role',
  async (t) => {
    const database = await createDatabase(t)
    const ada = await createUser(database, { email: 'ada@example.com', emailVerified: true })
    await addIdentity({ database }, ada.userId, 'runs-it')
    await addOperator(database, 'demo:runs-it')
    const web = await connect(t, database.url)
    const [session, token] = [await addSession(database, ada), await addToken(database, ada)]
    const link = (client: pg.Client, name: string, values: unknown[]) =>
      client.query(`SELECT outcome, user_id::int FROM ${name}($1, $2, $3, $4)`, values)
    await inside(web, async () => {
      await enterToken(web, token)
      t.equal(
        await refusalOf(link(web, 'link_customer', ['cus_1', ada.userId, null, null])),
        denied,
      )
    })
    await inside(web, async () => {
      await enterSession(web, session)
      const linked = await link(web, 'link_customer', ['cus_1', ada.userId, null, null])
      t.strictSame(linked.rows, [{ outcome: 'linked', user_id: ada.userId }])
      const { rows } = await web.query('SELECT * FROM list_customers(NULL, 10)')
      t.match(rows, [{ customer: 'cus_1', email: 'ada@example.com' }])
      t.equal(await refusalOf(link(web, 'assign_customer', ['cus_1', null, null, null])), denied)
    })
    await inside(web, async () => {
      await enterSession(web, session)
      const claim = web.query('SELECT claim_customer($1, $2, NULL)', ['cus_2', ada.userId])
      t.equal(
        await refusalOf(claim),
        denied,
        'the web role claims nothing for the user of a session',
      )
    })
    await inside(web, async () => {
      await enterSession(web, session)
      const column = web.query(`UPDATE users SET billing_customer = 'cus_2' WHERE id = $1`, [
        ada.userId,
      ])
      t.equal(await refusalOf(column), denied)
    })
    await inside(web, async () => {
      await enterSession(web, session)
      const free = async (customer: string) =>
        (await web.query('SELECT customer_is_free($1) AS free', [customer])).rows
      t.strictSame(await free('cus_2'), [{ free: true }])
      await link(web, 'link_customer', ['cus_2', ada.userId, null, null])
      t.strictSame(await free('cus_2'), [{ free: false }])
    })
    const worker = await connect(t, database.workerUrl)
    const byAddress = await link(worker, 'assign_customer', [
      'cus_1',
      null,
      'ADA@example.com',
      null,
    ])
    t.strictSame(byAddress.rows, [{ outcome: 'linked', user_id: ada.userId }])
    t.equal(await refusalOf(link(worker, 'link_customer', ['cus_1', null, null, null])), denied)
  },
)

t.test('what only operators may do is refused in the session of another user', async (t) => {
  const database = await createDatabase(t)
  const eve = await createUser(database, { role: 'admin', billingCustomer: 'cus_1' })
  await addIdentity({ database }, eve.userId, 'runs-it', 'another-provider')
  await addIdentity({ database }, eve.userId, 'eve')
  await addOperator(database, 'demo:runs-it')
  await receive(database, { id: 'evt_1', status: 'dead' })
  await receive(database, { id: 'evt_2', status: 'unlinked' })
  await database.admin.query(
    `INSERT INTO ledger_checks (unaccounted, kinds, open_hours, checked_to, tenants)
     VALUES (1, '{}', '{}', now(), json_build_object($1::text, 1))`,
    [eve.tenantId],
  )
  const web = await connect(t, database.url)
  const [session, token] = [await addSession(database, eve), await addToken(database, eve)]
  const calls: [string, unknown[]][] = [
    ['SELECT * FROM link_customer($1, $2, NULL, NULL)', ['cus_2', eve.userId]],
    ['SELECT * FROM link_customer($1, NULL, NULL, NULL)', ['cus_1']],
    ['SELECT * FROM list_customers(NULL, 10)', []],
    ['SELECT * FROM list_double_payers(10)', []],
    ['SELECT * FROM list_subscriptions(NULL, 10)', []],
    ['SELECT * FROM dismiss_event($1, $2)', ['evt_1', 'x']],
    ['SELECT * FROM dismiss_event($1, $2)', ['evt_2', 'x']],
    ['SELECT * FROM unaccounted_tenants(10)', []],
  ]
  const inSession = async (sql: string, values: unknown[]) => {
    await web.query('BEGIN')
    await enterSession(web, session)
    const refusal = await refusalOf(web.query(sql, values))
    await web.query('ROLLBACK')
    return refusal
  }
  for (const [sql, values] of calls) {
    t.equal(await inSession(sql, values), notAnOperator, sql)
    await inside(web, async () => {
      await enterToken(web, token)
      t.equal(await refusalOf(web.query(sql, values)), denied, `by token: ${sql}`)
    })
  }
  await addOperator(database, 'demo:eve')
  for (const [sql, values] of calls) t.equal(await inSession(sql, values), null, `now: ${sql}`)
})

async function addEverything(database: TestDatabase, user: TestUser): Promise<void> {
  const { admin } = database
  await addSession(database, user)
  await addToken(database, user)
  const subject = `subject-${user.userId}`
  await admin.query(
    `INSERT INTO oauth_identities (provider, provider_user_id, user_id, issuer)
     VALUES ('demo', $2, $1, 'https://op')`,
    [user.userId, subject],
  )
  await admin.query(
    `INSERT INTO provider_grants (provider, provider_user_id, access_token, scope)
     VALUES ('demo', $1, '', '')`,
    [subject],
  )
  await admin.query(
    `INSERT INTO token_revocations (provider, provider_user_id, user_id, token, kind, status)
     VALUES ('demo', $2, $1, '', 'access_token', 'revoking')`,
    [user.userId, subject],
  )
  await admin.query(
    `INSERT INTO invitations (tenant_id, email, role, expires_at)
     VALUES ($1, $2, 'viewer', now() + interval '1 day') ON CONFLICT DO NOTHING`,
    [user.tenantId, 'guest@example.com'],
  )
}
