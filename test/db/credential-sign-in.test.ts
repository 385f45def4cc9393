import type pg from 'pg'
import t, { type Test } from 'tap'
import { createUser, type TestUser } from '#dev/testing/people.ts'
import { createOrder } from '#test/support/callers/objects.ts'
import { createDatabase, type TestDatabase } from '#test/support/database/database.ts'
import { untilBlocked } from '#test/support/database/until.ts'
import {
  addSession,
  connect,
  enterSession,
  inside,
  nobody,
  randomCredential,
  refusalOf,
  scopeOf,
} from './credentials.ts'

const denied = '42501'

type Started = { cookie: Buffer; ticket: Buffer }

t.test('a first sign-in makes a user, a tenant and a session, in that scope', async (t) => {
  const { database, web } = await setUp(t)
  const { cookie, ticket } = await start(web)
  await web.query('BEGIN')
  t.match(await enterAttempt(web, ticket), {
    purpose: 'sign-in',
    provider: 'demo',
    user_id: null,
    session_user_id: null,
  })
  t.strictSame(await scopeOf(web), nobody)
  t.strictSame(
    await rowsOf(web, `SELECT * FROM look_up_identity('ada', 'Ada@example.com', '{}')`),
    [
      {
        identity_user_id: null,
        identity_issuer: null,
        address_user_id: null,
        address_user_operates: false,
        address_is_current: false,
        revocations: [],
      },
    ],
  )
  const [made] = await rowsOf(
    web,
    `SELECT create_user('ada', 'https://op', 'Ada@example.com', 'Ada') AS id`,
  )
  t.strictSame(await scopeOf(web), { userId: Number(made?.id), tenantId: null })
  const newCookie = randomCredential()
  const [begun] = await rowsOf(web, 'SELECT * FROM start_session($1, $2, $3, $4, $5, 3600, 10)', [
    newCookie,
    'ada',
    'at-provider',
    'Browser/1',
    '192.0.2.0/24',
  ])
  t.strictSame(await scopeOf(web), {
    userId: Number(made?.id),
    tenantId: String(begun?.tenant_id),
  })
  await web.query('COMMIT')
  await inside(web, async () => {
    t.match(await enterSession(web, newCookie), {
      role: 'admin',
      email: 'Ada@example.com',
      provider: 'demo',
      subject: 'ada',
      authenticated_seconds_ago: 10,
    })
    t.strictSame(await rowsOf(web, 'SELECT name FROM tenants'), [{ name: 'Ada' }])
  })
  await inside(web, async () => {
    t.equal(await enterSession(web, cookie), undefined, 'the session it came with has ended')
    t.equal(await enterAttempt(web, ticket), undefined, 'the ticket is used up')
  })
  const { rows } = await database.admin.query('SELECT FROM sign_in_attempts')
  t.equal(rows.length, 0)
})

t.test('an identity that is known signs its holder in, in the tenant last active', async (t) => {
  const { database, web } = await setUp(t)
  const user = await createUser(database)
  const invited = await createUser(database)
  await database.admin.query(
    `INSERT INTO memberships (tenant_id, user_id, role, last_active_at)
     VALUES ($1, $2, 'viewer', now())`,
    [invited.tenantId, user.userId],
  )
  await addIdentity(database, user, 'ada')
  const { ticket } = await start(web)
  await inside(web, async () => {
    await enterAttempt(web, ticket)
    t.match(await rowsOf(web, `SELECT * FROM look_up_identity('ada', NULL, '{}')`), [
      { identity_user_id: String(user.userId), identity_issuer: 'https://op' },
    ])
    t.strictSame(await rowsOf(web, `SELECT enter_identity('nobody') AS id`), [{ id: null }])
    t.strictSame(await scopeOf(web), nobody)
    t.match(await rowsOf(web, `SELECT enter_identity('ada') AS id`), [{ id: String(user.userId) }])
    t.match(await startSession(web, 'ada'), { tenant_id: invited.tenantId })
  })
})

t.test('an address is invited by an admin, while the invitation is open', async (t) => {
  const { database, web } = await setUp(t)
  const { userId, tenantId } = await createUser(database, { role: 'admin' })
  await database.admin.query(
    `INSERT INTO invitations (tenant_id, email, role, invited_by, expires_at)
     VALUES ($1, 'new@example.com', 'viewer', $2, now() + interval '1 day')`,
    [tenantId, userId],
  )
  const { ticket } = await start(web)
  const isInvited = () =>
    inside(web, async () => {
      await enterAttempt(web, ticket)
      return rowsOf(web, `SELECT invited FROM look_up_admission('New@example.com', NULL)`)
    })
  t.strictSame(await isInvited(), [{ invited: true }])
  for (const [change, undo] of [
    ['invitations SET accepted_at = now()', 'invitations SET accepted_at = NULL'],
    ['invitations SET declined_at = now()', 'invitations SET declined_at = NULL'],
    [`memberships SET role = 'editor'`, `memberships SET role = 'admin'`],
    ['invitations SET expires_at = now()', `invitations SET expires_at = now() + interval '1 day'`],
  ] as const) {
    await database.admin.query(`UPDATE ${change}`)
    t.strictSame(await isInvited(), [{ invited: false }], change)
    await database.admin.query(`UPDATE ${undo}`)
  }
  t.strictSame(await isInvited(), [{ invited: true }])
})

t.test(
  'only who has entered with a session or a token enters the tenant of an order',
  async (t) => {
    const { database, web } = await setUp(t)
    const user = await createUser(database)
    await addIdentity(database, user, 'ada')
    const enterOrder = `SELECT enter_order_tenant(${await createOrder(database, user)})`
    const { ticket } = await start(web)
    await inside(web, async () => {
      await enterAttempt(web, ticket)
      await rowsOf(web, `SELECT enter_identity('ada')`)
      t.equal(await inSavepoint(web, enterOrder), denied, 'a sign-in')
    })
    const credential = await addSession(database, user)
    await inside(web, async () => {
      await enterSession(web, credential)
      t.equal(await inSavepoint(web, enterOrder), null)
      t.equal(await inSavepoint(web, enterOrder), denied, 'once')
    })
  },
)

t.test('an address links an identity only to the user who has it verified', async (t) => {
  const { database, web } = await setUp(t)
  const verified = await createUser(database, { email: 'a@example.com', emailVerified: true })
  await addIdentity(database, verified, 'ada', 'a@example.com')
  await createUser(database, { email: 'A@example.com' })
  const unverified = await createUser(database, { email: 'b@example.com' })
  await addIdentity(database, unverified, 'bob', 'b@example.com')
  const moved = await createUser(database, { email: 'c@example.com', emailVerified: true })
  await addIdentity(database, moved, 'carol', 'carol@example.com')
  const { ticket } = await start(web)
  await inside(web, async () => {
    await enterAttempt(web, ticket)
    const link = (address: string) =>
      rowsOf(web, `SELECT link_by_address('eve', 'https://op', $1, '{}') AS id`, [address])
    for (const address of [
      'b@example.com',
      'c@example.com',
      'd@example.com',
      'carol@example.com',
    ]) {
      t.strictSame(await link(address), [{ id: null }], address)
    }
    const found = (address: string) =>
      rowsOf(web, `SELECT * FROM look_up_identity('eve', $1, '{}')`, [address])
    t.match(await found('A@EXAMPLE.com'), [
      { address_user_id: String(verified.userId), address_is_current: true },
    ])
    t.match(await found('b@example.com'), [{ address_user_id: null }])
    t.match(await found('C@example.com'), [
      { address_user_id: String(moved.userId), address_is_current: false },
    ])
    t.strictSame(await link('A@example.com'), [{ id: String(verified.userId) }])
    t.strictSame(await scopeOf(web), { userId: verified.userId, tenantId: null })
  })
})

t.test('an address links no identity to the user of an operator', async (t) => {
  const { database, web } = await setUp(t)
  const operator = await createUser(database, { email: 'a@example.com', emailVerified: true })
  await addIdentity(database, operator, 'ada', 'a@example.com')
  const { ticket } = await start(web)
  await inside(web, async () => {
    await enterAttempt(web, ticket)
    const link = async (...operators: string[]) => {
      const sql = `SELECT link_by_address('eve', 'https://op', 'a@example.com', $1) AS id`
      return (await rowsOf(web, sql, [operators]))[0]?.id
    }
    const operates = async (...operators: string[]) => {
      const sql = `SELECT * FROM look_up_identity('eve', 'a@example.com', $1)`
      return (await rowsOf(web, sql, [operators]))[0]?.address_user_operates
    }
    t.ok(await operates('other:ada', 'demo:ada'))
    t.equal(await link('other:ada', 'demo:ada'), null)
    t.strictSame(await scopeOf(web), nobody)
    t.notOk(await operates('other:ada', 'demo:eve'))
    t.equal(await link('other:ada', 'demo:eve'), String(operator.userId))
  })
})

t.test('a session begins and is renewed only with an identity of its user', async (t) => {
  const { database, web } = await setUp(t)
  const user = await createUser(database)
  await addIdentity(database, user, 'ada')
  await addIdentity(database, await createUser(database), 'olga')
  const { ticket } = await start(web)
  await inside(web, async () => {
    await enterAttempt(web, ticket)
    await web.query(`SELECT enter_identity('ada')`)
    const gone = '23503' // tried once more, because the person may have been deleted meanwhile
    for (const [subject, code] of [
      [`'olga'`, denied],
      [`'nobody'`, gone],
      ['NULL', gone],
    ] as const) {
      const begin = `SELECT start_session('x', ${subject}, NULL, NULL, NULL, 60, 1)`
      t.equal(await inSavepoint(web, begin), code, subject)
    }
  })
  const again = await start(web, {
    cookie: await addSession(database, user),
    purpose: 'reauthenticate',
  })
  await inside(web, async () => {
    await enterAttempt(web, again.ticket)
    for (const subject of [`'olga'`, `'nobody'`, 'NULL']) {
      const renew = `SELECT renew_session('x', ${subject}, NULL, 60, 1)`
      t.equal(await inSavepoint(web, renew), denied, subject)
    }
  })
})

t.test('a sign-in records the verified address of its own identity', async (t) => {
  const { database, web } = await setUp(t)
  const user = await createUser(database)
  await addIdentity(database, user, 'ada')
  await addIdentity(database, await createUser(database), 'eve')
  const { ticket } = await start(web)
  const recorded = async () =>
    (
      await database.admin.query(`SELECT provider_user_id, verified_email FROM oauth_identities
      WHERE verified_email IS NOT NULL`)
    ).rows
  await web.query('BEGIN')
  await enterAttempt(web, ticket)
  await web.query(`SELECT enter_identity('ada')`)
  for (const subject of ['ada', 'eve']) {
    await web.query(`SELECT record_verified_email($1, 'Ada@Example.com')`, [subject])
  }
  await web.query('COMMIT')
  t.strictSame(await recorded(), [{ provider_user_id: 'ada', verified_email: 'ada@example.com' }])
})

t.test('who has a verified address does not wait for others who prove it', async (t) => {
  const { database, web } = await setUp(t)
  const prove = await signInAs(database, 'ada', { verified: true })
  const other = await connect(t, database.superuserUrl)
  await other.query('BEGIN')
  await other.query(`SELECT pg_advisory_xact_lock(hashtextextended('address ada@example.com', 0))`)
  await inside(web, async () => t.strictSame(await prove(web, 'ada@example.com'), []))
})

t.test('of two who prove an address at once the second has locked nothing yet', async (t) => {
  const { database } = await setUp(t)
  const [ada, eve] = [await signInAs(database, 'ada'), await signInAs(database, 'eve')]
  const address = 'ada@example.com'
  const proofs = [(web: pg.Client) => ada(web, address), (web: pg.Client) => eve(web, address)]
  await proveAtOnce(t, database, proofs, async () => {
    const { rowCount } = await database.admin.query(
      `SELECT FROM users JOIN oauth_identities i ON i.user_id = users.id
       WHERE i.provider_user_id = 'eve' FOR NO KEY UPDATE OF users SKIP LOCKED`,
    )
    t.equal(rowCount, 1)
  })
})

t.test('of two addresses that a person proves at once one is theirs', async (t) => {
  const { database } = await setUp(t)
  const prove = await signInAs(database, 'ada')
  const addresses = ['ada@example.com', 'ada@work.example']
  const proofs = addresses.map((address) => (web: pg.Client) => prove(web, address))
  await proveAtOnce(t, database, proofs)
  const { rows } = await database.admin.query('SELECT email FROM users WHERE email_verified')
  t.strictSame(rows, [{ email: 'ada@example.com' }])
})

t.test('a ticket is for one browser, one callback and a live attempt', async (t) => {
  const { database, web } = await setUp(t)
  const [cookie, state, ticket] = [randomCredential(), randomCredential(), randomCredential()]
  await startAttempt(web, cookie, state)
  const take = (browser: Buffer, given: Buffer) =>
    rowsOf(web, 'SELECT * FROM take_attempt($1, $2, $3)', [browser, given, ticket])
  t.strictSame(await take(randomCredential(), state), [], 'another browser')
  t.strictSame(await take(cookie, randomCredential()), [], 'another state')
  t.strictSame(await rowsOf(web, 'SELECT * FROM enter_attempt($1)', [state]), [], 'not taken yet')
  t.match(await take(cookie, state), [
    { provider: 'demo', nonce: 'n', code_verifier: 'v', purpose: 'sign-in', user_id: null },
  ])
  t.strictSame(await take(cookie, state), [], 'a second callback')
  t.strictSame(await take(cookie, ticket), [], 'a ticket is no state')
  await database.admin.query(`UPDATE sign_in_attempts SET expires_at = now()`)
  await inside(web, async () => {
    t.equal(await enterAttempt(web, ticket), undefined, 'expired')
  })
  await startAttempt(web, cookie, state, { lifetimeSeconds: 0 })
  t.strictSame(await take(cookie, state), [], 'expired before it was taken')
})

t.test('a link goes on in the session of its person', async (t) => {
  const { database, web } = await setUp(t)
  const user = await createUser(database)
  await addIdentity(database, user, 'ada')
  for (const purpose of ['link', 'reauthenticate'] as const) {
    const cookie = await addSession(database, user)
    const { ticket } = await start(web, { cookie, purpose })
    const newCookie = randomCredential()
    await inside(web, async () => {
      t.match(await enterAttempt(web, ticket), {
        purpose,
        user_id: String(user.userId),
        session_user_id: String(user.userId),
        session_tenant_id: user.tenantId,
      })
      t.strictSame(await scopeOf(web), { userId: user.userId, tenantId: null })
      const linking = await inSavepoint(web, `SELECT link_identity('new', 'https://op')`)
      t.equal(linking, purpose === 'link' ? null : denied, `${purpose}: an identity`)
      for (const sql of [
        `SELECT enter_identity('new')`,
        `SELECT start_session('x', '', '', '', '', 1, 1)`,
      ]) {
        t.equal(await inSavepoint(web, sql), denied, `${purpose}: ${sql}`)
      }
      t.strictSame(
        await rowsOf(web, `SELECT renew_session($1, 'ada', $2, 3600, 1) AS done`, [
          newCookie,
          'at',
        ]),
        [{ done: true }],
      )
      t.equal(await enterSession(web, cookie), undefined)
      t.match(await enterSession(web, newCookie), { user_id: String(user.userId) })
    })
  }
  const anonymous = await addSession(database, null)
  t.notOk(
    await startAttempt(web, anonymous, randomCredential(), { purpose: 'link' }),
    'a link needs a person',
  )
  const cookie = await addSession(database, user)
  const { ticket } = await start(web, { cookie, purpose: 'link' })
  await database.admin.query('UPDATE sessions SET expires_at = now()')
  await inside(web, async () => {
    t.match(await enterAttempt(web, ticket), { session_user_id: null })
    t.strictSame(await scopeOf(web), nobody, 'the session has ended meanwhile')
  })
})

t.test('an admin whom the role map makes a viewer invites nobody any more', async (t) => {
  const { database, web } = await setUp(t)
  const { tenantId } = await createUser(database, { role: 'admin' })
  const ada = await createUser(database, { tenantId, role: 'admin' })
  await addIdentity(database, ada, 'ada')
  await database.admin.query(`UPDATE memberships SET role_provider = 'demo' WHERE user_id = $1`, [
    ada.userId,
  ])
  const { rows: invited } = await database.admin.query<{ id: string }>(
    `INSERT INTO invitations (tenant_id, email, role, invited_by, expires_at, accepted_at)
     SELECT $1, gen_random_uuid()::text, 'viewer', $2, now() + until, accepted
     FROM (VALUES ('1 day'::interval, NULL), ('-1 day', NULL), ('1 day', now())) AS i (until, accepted)
     RETURNING id`,
    [tenantId, ada.userId],
  )
  const [open] = invited.map(({ id }) => id)
  const { ticket } = await start(web)
  await inside(web, async () => {
    await enterAttempt(web, ticket)
    await rowsOf(web, `SELECT enter_identity('ada')`)
    const mapped = 'SELECT outcome, invitations FROM apply_role_map($1, $2)'
    t.strictSame(await rowsOf(web, mapped, [tenantId, 'viewer']), [
      { outcome: 'changed', invitations: [open] },
    ])
  })
})

t.test('nothing of a sign-in runs outside one, nor in another scope', async (t) => {
  const { database, web } = await setUp(t)
  const user = await createUser(database)
  await addIdentity(database, user, 'ada')
  const cookie = await addSession(database, user)
  const calls = [
    `look_up_identity('ada', NULL, '{}')`,
    `look_up_admission(NULL, NULL)`,
    `enter_identity('ada')`,
    `link_by_address('x', 'y', 'z', '{}')`,
    `create_user('x', 'y', 'z', 'n')`,
    `apply_role_map('${user.tenantId}', 'admin')`,
    `prove_address('z')`,
    `link_identity('x', 'y')`,
    `record_verified_email('ada', 'x@example.com')`,
    `record_profile('Ada', 'de')`,
    `start_session('x', 'ada', NULL, NULL, NULL, 1, 1)`,
    `renew_session('x', 'ada', NULL, 1, 1)`,
  ]
  for (const call of calls) {
    t.equal(await refusalOf(web.query(`SELECT ${call}`)), denied, call)
    await inside(web, async () => {
      await enterSession(web, cookie)
      t.equal(await refusalOf(web.query(`SELECT ${call}`)), denied, `with a session: ${call}`)
    })
  }
  const { ticket } = await start(web)
  await inside(web, async () => {
    await enterAttempt(web, ticket)
    for (const early of [
      `start_session('x', 'ada', NULL, NULL, NULL, 1, 1)`,
      `prove_address('z')`,
      `apply_role_map('${user.tenantId}', 'admin')`,
    ]) {
      const refusal = await inSavepoint(web, `SELECT ${early}`)
      t.equal(refusal, denied, `nobody has signed in yet: ${early}`)
    }
  })
})

t.test('the name of a provider cannot shift the fields of the scope', async (t) => {
  const { database, web } = await setUp(t)
  const victim = await createUser(database)
  const { ticket } = await start(web, { provider: `x:${victim.userId}:${victim.tenantId}` })
  await inside(web, async () => {
    t.equal(await refusalOf(web.query('SELECT * FROM enter_attempt($1)', [ticket])), '22023')
  })
})

t.test('a logout token ends sessions once', async (t) => {
  const { database, web } = await setUp(t)
  const user = await createUser(database)
  await addIdentity(database, user, 'ada')
  await addSession(database, user)
  await addSession(database, user, { provider: 'other' })
  const jti = randomCredential()
  const remember = () => rowsOf(web, `SELECT remember_logout('demo', $1, 60) AS first`, [jti])
  t.strictSame(await remember(), [{ first: true }])
  t.strictSame(await remember(), [{ first: false }])
  const end = () => rowsOf(web, `SELECT * FROM end_provider_sessions('demo', NULL, 'ada')`)
  t.strictSame(await end(), [{ user_id: String(user.userId), tenant_id: user.tenantId }])
  t.strictSame(await end(), [])
  t.strictSame(await rowsOf(web, `SELECT * FROM end_provider_sessions('demo', 'x', NULL)`), [])
  await addSession(database, user)
  const unknown = await rowsOf(web, `SELECT * FROM end_provider_sessions('demo', 'x', 'ada')`)
  t.equal(unknown.length, 1, 'an unknown session at the provider: those of the subject')
})

async function setUp(t: Test): Promise<{ database: TestDatabase; web: pg.Client }> {
  const database = await createDatabase(t)
  return { database, web: await connect(t, database.url) }
}

type Options = { purpose?: string; provider?: string; lifetimeSeconds?: number }

async function startAttempt(
  web: pg.Client,
  cookie: Buffer,
  state: Buffer,
  { purpose = 'sign-in', provider = 'demo', lifetimeSeconds = 600 }: Options = {},
): Promise<boolean> {
  const [row] = await rowsOf(
    web,
    `SELECT start_attempt($1, $2, $3, $4, 'n', 'v', NULL, NULL, $5) AS started`,
    [cookie, state, purpose, provider, lifetimeSeconds],
  )
  return row?.started === true
}

/** A pending sign-in whose callback has come. */
async function start(
  web: pg.Client,
  { cookie = randomCredential(), ...options }: Options & { cookie?: Buffer } = {},
): Promise<Started> {
  const [state, ticket] = [randomCredential(), randomCredential()]
  await startAttempt(web, cookie, state, options)
  await rowsOf(web, 'SELECT * FROM take_attempt($1, $2, $3)', [cookie, state, ticket])
  return { cookie, ticket }
}

async function enterAttempt(web: pg.Client, ticket: Buffer) {
  const [row] = await rowsOf(web, 'SELECT * FROM enter_attempt($1)', [ticket])
  return row
}

async function startSession(web: pg.Client, subject: string) {
  const [row] = await rowsOf(
    web,
    'SELECT * FROM start_session($1, $2, NULL, NULL, NULL, 3600, NULL)',
    [randomCredential(), subject],
  )
  return row
}

/** @param verifiedEmail in lower case */
async function addIdentity(
  { admin }: TestDatabase,
  user: TestUser,
  subject: string,
  verifiedEmail: string | null = null,
) {
  await admin.query(
    `INSERT INTO oauth_identities (provider, provider_user_id, user_id, issuer, verified_email)
     VALUES ('demo', $2, $1, 'https://op', $3)`,
    [user.userId, subject, verifiedEmail],
  )
}

/**
 * Makes a user with this identity, without an address unless it is verified.
 * @returns signs them in within a transaction and proves an address
 */
async function signInAs(database: TestDatabase, subject: string, { verified = false } = {}) {
  const user = await createUser(database)
  await addIdentity(database, user, subject)
  await database.admin.query('UPDATE users SET email = $2, email_verified = $3 WHERE id = $1', [
    user.userId,
    verified ? `${subject}@example.com` : null,
    verified,
  ])
  return async (web: pg.Client, address: string) => {
    const { ticket } = await start(web)
    await enterAttempt(web, ticket)
    await web.query('SELECT enter_identity($1)', [subject])
    return rowsOf(web, 'SELECT * FROM prove_address($1)', [address])
  }
}

/** The first proves an address, and commits once the second waits for it and `meanwhile` has looked. */
async function proveAtOnce(
  t: Test,
  database: TestDatabase,
  [first, second]: readonly ((web: pg.Client) => Promise<unknown[]>)[],
  meanwhile = async () => {},
): Promise<void> {
  const [one, two] = [await connect(t, database.url), await connect(t, database.url)]
  await one.query('BEGIN')
  t.match(await first?.(one), [{ verified: true }])
  await two.query('BEGIN')
  const proven = second?.(two)
  await untilBlocked(database)
  await meanwhile()
  await one.query('COMMIT')
  t.strictSame(await proven, [])
  await two.query('COMMIT')
}

async function inSavepoint(web: pg.Client, sql: string): Promise<string | null> {
  await web.query('SAVEPOINT one')
  const refusal = await refusalOf(web.query(sql))
  await web.query(refusal === null ? 'RELEASE one' : 'ROLLBACK TO one')
  return refusal
}

async function rowsOf(
  client: pg.Client,
  sql: string,
  values: unknown[] = [],
): Promise<Record<string, unknown>[]> {
  return (await client.query(sql, values)).rows
}
