import t, { type Test } from 'tap'
import { logins } from '#dev/testing/logins.ts'
import { createUser } from '#dev/testing/people.ts'
import { identityTables } from '#src/schema/tables.ts'
import { isolationRows } from '#src/schema/verification/isolation-rows.ts'
import { type Attempt, attemptsAs, type Context, denied } from '#test/db/attempt.ts'
import { addSession, connect, enterSession, inside, refusalOf } from '#test/db/credentials.ts'
import { createDatabase, type TestDatabase } from '#test/support/database/database.ts'
import {
  chained,
  closed,
  giveRow,
  insertion,
  ofOperators,
  ofServices,
  ofUsers,
  parentsOf,
  rowOf,
  samples,
} from './table-rows.ts'

/** Tables that everyone may append to. */
const writtenForOthers = ['audit_log']

/** Identity tables with rows of one person. */
const ownTables = [
  'sessions',
  'oauth_identities',
  'api_tokens',
  'token_revocations',
  'idempotency_keys',
]

t.test('row-level security, with raw SQL', async (t) => {
  const database = await createDatabase(t)
  // No role may read this table; its policy is tried as if they might.
  const roleNames = `${logins.app.name}, ${logins.worker.name}`
  await database.admin.query(`GRANT SELECT ON member_usage TO ${roleNames}`)
  const mine = await createUser(database)
  const stranger = { tenantId: crypto.randomUUID(), userId: mine.userId + 1 }
  const found = await tablesUnderRls(database)
  const known = [
    ...[...Object.keys(samples), ...Object.keys(isolationRows)],
    ...[...ofUsers, ...chained, ...closed, ...ofServices, ...ofOperators],
  ]
  t.strictSame([...new Set(known).symmetricDifference(new Set(found))], [], 'every table has a row')
  const elsewhereTested = [...chained, ...closed, ...ofServices, ...ofOperators]
  const tables = found.filter((name) => !elsewhereTested.includes(name))
  const parents = parentsOf(mine)
  for (const [table, row] of parents) await database.admin.query(...insertion(table, row))
  const given = (table: string) => parents.filter(([parent]) => parent === table).length
  for (const table of tables) if (given(table) === 0) await giveRow(database, table, mine)
  // Their key would refuse that the member is deleted, whatever the policies say.
  await database.admin.query('UPDATE posts SET author_id = NULL')
  // The words of the rows above, beside the one that was given.
  await database.admin.query(`DELETE FROM posts_words WHERE word <> 'fence'`)
  const elsewhere: [string, Context][] = [
    ['no context', {}],
    ['the context of another tenant and user', stranger],
  ]
  const roles = { app: database.url, worker: database.workerUrl, owner: database.ownerUrl }
  for (const [role, url] of Object.entries(roles)) {
    const attempt = await attemptsAs(t, database, url)
    for (const table of tables) {
      // The owner's functions look into these before there is a scope.
      if (role === 'owner' && isIdentity(table)) continue
      const commands = await commandsOn(attempt, table)
      await t.test(`${table} as ${role}`, async (t) => {
        for (const [name, context] of elsewhere) {
          for (const { what, sql, may } of commands.slice(1)) {
            const outcome = await attempt(context, sql)
            t.match(outcome, may ? { rows: 0 } : denied, `${what} in ${name}`)
          }
        }
        for (const { what, sql, may } of commands.slice(1)) {
          const outcome = await attempt(mine, sql)
          // Not even the table's owner may change the log: no policy allows it.
          const touched = table === 'audit_log' && what !== 'SELECT' ? 0 : given(table) || 1
          t.match(outcome, may ? { rows: touched } : denied, `${what} of an own row`)
        }
        if (ofUsers.includes(table) && table !== 'tenants') return
        await checkInserts(t, attempt, table, commands[0]?.may === true)
      })
    }
  }

  async function checkInserts(t: Test, attempt: Attempt, table: string, may: boolean) {
    const fresh = { tenantId: crypto.randomUUID(), userId: mine.userId }
    const own = table === 'tenants' ? fresh : mine
    const [sql, values] = rowOf(table, own)
    t.match(await attempt(own, sql, values), may ? { rows: 1 } : denied, 'INSERT of an own row')
    const open = may && writtenForOthers.includes(table)
    for (const [name, context] of elsewhere) {
      const outcome = await attempt(context, sql, values)
      t.match(outcome, open ? { rows: 1 } : denied, `INSERT of another’s row in ${name}`)
      if (may && !open) t.match(outcome, { message: /row-level security/ }, 'by the policy')
    }
    if (table === 'orders' && may) {
      const half = { tenantId: stranger.tenantId, userId: mine.userId }
      t.match(await attempt(half, sql, values), denied, 'INSERT of an own order in another tenant')
    }
  }
})

t.test('the owner alone is not under the policies of identity tables', async (t) => {
  const database = await createDatabase(t)
  const mine = await createUser(database)
  await giveRow(database, 'sessions', mine)
  const outcomes = async (url: string) => {
    const attempt = await attemptsAs(t, database, url)
    return Promise.all(
      ['users', 'memberships', 'sessions'].map((name) => attempt({}, `SELECT FROM ${name}`)),
    )
  }
  t.match(await outcomes(database.ownerUrl), [{ rows: 1 }, { rows: 1 }, { rows: 1 }])
  t.match(await outcomes(database.url), [{ rows: 0 }, { rows: 0 }, { rows: 0 }])
  t.match(await outcomes(database.workerUrl), [{ rows: 0 }, { rows: 0 }, denied])
})

t.test('the owner of the audit log reads and deletes entries by their age alone', async (t) => {
  const database = await createDatabase(t)
  const { userId, tenantId } = await createUser(database)
  await database.admin.query(
    `INSERT INTO audit_log (action, outcome, user_id, tenant_id, at)
     VALUES ('x', 'done', $1, $2, now() - interval '40 days'), ('x', 'done', $1, $2, now())`,
    [userId, tenantId],
  )
  const attempt = await attemptsAs(t, database, database.ownerUrl)
  for (const sql of ['SELECT FROM audit_log', 'DELETE FROM audit_log']) {
    t.match(await attempt({}, sql), { rows: 0 }, sql)
  }
  const pruned = await attempt({}, 'SELECT entries FROM prune_records(30, 100)')
  t.match(pruned, { data: [{ entries: 1 }] })
})

t.test('tables of functions alone are closed to both roles, whatever the scope', async (t) => {
  const database = await createDatabase(t)
  const mine = await createUser(database)
  for (const url of [database.url, database.workerUrl]) {
    const attempt = await attemptsAs(t, database, url)
    for (const table of closed) {
      for (const sql of [
        `SELECT FROM ${table}`,
        `DELETE FROM ${table}`,
        `INSERT INTO ${table} DEFAULT VALUES`,
      ]) {
        t.match(await attempt(mine, sql), denied, sql)
      }
    }
  }
})

/** Tables whose rows people do not delete. */
const changes: Readonly<Record<string, string>> = {
  idempotency_keys: 'UPDATE idempotency_keys SET result = NULL',
  token_revocations: `UPDATE token_revocations SET status = 'revoking'`,
}

t.test(
  'people see themselves and the members of their tenant, and change what is theirs',
  async (t) => {
    const database = await createDatabase(t)
    const mine = await createUser(database, { role: 'admin' })
    const colleague = await createUser(database, { tenantId: mine.tenantId })
    const stranger = await createUser(database)
    await database.admin.query(
      `INSERT INTO memberships (tenant_id, user_id, role) VALUES ($1, $2, 'viewer')`,
      [stranger.tenantId, mine.userId],
    )
    for (const user of [mine, colleague, stranger]) {
      for (const table of ownTables) {
        await giveRow(database, table, user)
      }
    }
    const attempt = await attemptsAs(t, database, database.url)
    const ids = async (sql: string, context: Context = mine) => {
      const outcome = await attempt(context, sql)
      return 'data' in outcome
        ? outcome.data.map(({ id }) => Number(id)).toSorted()
        : outcome.refused
    }
    const [me, other] = [mine.userId, colleague.userId]
    t.strictSame(await ids('SELECT id FROM users'), [me, other])
    t.strictSame(await ids('SELECT id FROM users', { userId: me }), [me])
    t.strictSame(await ids('SELECT user_id AS id FROM memberships'), [me, me, other], 'all of mine')
    t.strictSame(await ids('SELECT user_id AS id FROM memberships', { tenantId: mine.tenantId }), [
      me,
      other,
    ])
    for (const table of ownTables) {
      const owner =
        table === 'idempotency_keys' ? `substr(holder, length('person ') + 1)` : 'user_id'
      t.strictSame(await ids(`SELECT ${owner} AS id FROM ${table}`), [me], table)
      t.match(
        await attempt({ tenantId: mine.tenantId }, `SELECT FROM ${table}`),
        { rows: 0 },
        table,
      )
      const change = changes[table] ?? `DELETE FROM ${table}`
      t.match(await attempt(mine, change), { rows: 1 }, table)
    }
    const change = `UPDATE memberships SET role = 'editor'`
    t.match(
      await attempt(mine, change),
      { rows: 2 },
      'members of the tenant, not my other membership',
    )
    t.match(await attempt({ userId: me }, change), { rows: 0 })
    const leave = `DELETE FROM memberships WHERE user_id = ${me}`
    t.match(await attempt({ userId: me }, leave), { rows: 0 })
    t.match(await attempt({ tenantId: stranger.tenantId }, change), { rows: 2 })
    const elsewhere = { ...mine, tenantId: stranger.tenantId }
    const token = insertion('api_tokens', samples.api_tokens?.(mine) ?? {})
    t.match(await attempt(mine, ...token), { rows: 1 })
    t.match(await attempt({ ...colleague, tenantId: mine.tenantId }, ...token), denied)
    t.match(await attempt(elsewhere, ...token), denied, 'a token of another of my tenants')
  },
)

t.test('a row cannot be moved to another tenant or user, even by the owner', async (t) => {
  const database = await createDatabase(t)
  const mine = await createUser(database)
  const yours = await createUser(database)
  const attempt = await attemptsAs(t, database, database.ownerUrl)
  for (const table of ['posts', 'invoices', 'orders']) await giveRow(database, table, mine)
  const moves = [
    ['UPDATE posts SET tenant_id = $1, author_id = NULL', yours.tenantId],
    ['UPDATE invoices SET tenant_id = $1', yours.tenantId],
    ['UPDATE orders SET user_id = $1', yours.userId],
  ] as const
  for (const [sql, value] of moves) {
    t.match(await attempt(mine, sql, [value]), { ...denied, message: /row-level security/ }, sql)
  }
})

t.test('a row that its author would not see is refused', async (t) => {
  const database = await createDatabase(t)
  // Only the worker makes invoices; the policy is tried as if people might.
  await database.admin.query(`GRANT INSERT ON invoices TO ${logins.app.name}`)
  const web = await connect(t, database.url)
  for (const [role, forManagers, isRefused] of [
    ['viewer', false, false],
    ['viewer', true, true],
    ['admin', true, false],
  ] as const) {
    const user = await createUser(database, { role })
    const cookie = await addSession(database, user)
    await inside(web, async () => {
      await enterSession(web, cookie)
      const refusal = await refusalOf(
        web.query(
          `INSERT INTO invoices (tenant_id, amount, currency, status, for_managers)
           VALUES ($1, 100, 'eur', 'paid', $2)`,
          [user.tenantId, forManagers],
        ),
      )
      t.equal(refusal, isRefused ? denied.refused : null, `${role}, ${forManagers}`)
    })
  }
})

async function tablesUnderRls({ admin }: TestDatabase): Promise<string[]> {
  const { rows } = await admin.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class
     WHERE relrowsecurity AND relnamespace = 'public'::regnamespace
     -- Last, because any writer of the tenant may add up what waits.
     ORDER BY relname = 'usage_changes', relname`,
  )
  return rows.map(({ name }) => name)
}

/** For each command: whether the role has the privilege, and a statement on every row. */
async function commandsOn(attempt: Attempt, table: string) {
  const outcome = await attempt(
    {},
    `SELECT attname AS column, has_column_privilege(attrelid, attnum, 'UPDATE') AS "UPDATE",
       has_table_privilege(attrelid, 'INSERT') AS "INSERT",
       has_any_column_privilege(attrelid, 'SELECT') AS "SELECT",
       has_table_privilege(attrelid, 'DELETE') AS "DELETE"
     FROM pg_attribute
     WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attidentity = ''
     ORDER BY has_column_privilege(attrelid, attnum, 'UPDATE') DESC, attnum DESC LIMIT 1`,
    [table],
  )
  const [may] = 'data' in outcome ? outcome.data : []
  const column = String(may?.column)
  const statements = {
    INSERT: '',
    SELECT: `SELECT FROM ${table}`,
    UPDATE: `UPDATE ${table} SET ${column} = ${column}`,
    DELETE: `DELETE FROM ${table}`,
  }
  return Object.entries(statements).map(([what, sql]) => ({ what, sql, may: may?.[what] === true }))
}

function isIdentity(table: string): boolean {
  return identityTables.some((name) => name === table)
}
