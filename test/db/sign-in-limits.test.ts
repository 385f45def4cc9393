import t from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { addSession, connect, randomCredential } from './credentials.ts'

t.test('a person has a hundred sessions; one more ends their oldest and no other’s', async (t) => {
  const database = await createDatabase(t)
  const web = await connect(t, database.url)
  const [greedy, other] = [await createUser(database), await createUser(database)]
  await database.admin.query(
    `INSERT INTO oauth_identities (provider, provider_user_id, user_id, issuer)
     VALUES ('demo', 'greedy', $1, 'https://op')`,
    [greedy.userId],
  )
  await addSession(database, other, { idleSeconds: 20_000 })
  for (let n = 0; n < 100; n += 1) {
    await addSession(database, greedy, { idleSeconds: n === 99 ? 10_000 : n })
  }
  const [cookie, state, ticket] = [randomCredential(), randomCredential(), randomCredential()]
  await web.query(`SELECT start_attempt($1, $2, 'sign-in', 'demo', 'n', 'v', NULL, NULL, 600)`, [
    cookie,
    state,
  ])
  await web.query('SELECT * FROM take_attempt($1, $2, $3)', [cookie, state, ticket])
  await web.query('BEGIN')
  await web.query('SELECT * FROM enter_attempt($1)', [ticket])
  await web.query(`SELECT enter_identity('greedy')`)
  await web.query(`SELECT * FROM start_session($1, 'greedy', NULL, NULL, NULL, 3600, NULL)`, [
    randomCredential(),
  ])
  await web.query('COMMIT')
  const { rows } = await database.admin.query<{ user: number; count: number; idle: number }>(
    `SELECT user_id::int AS user, count(*)::int, max(extract(epoch FROM now() - last_seen_at))::int AS idle
     FROM sessions WHERE user_id IS NOT NULL GROUP BY 1 ORDER BY 1`,
  )
  t.match(rows, [
    { user: greedy.userId, count: 100 },
    { user: other.userId, count: 1 },
  ])
  t.ok(Number(rows[0]?.idle) < 5_000, 'the one that was used longest ago has ended')
})

t.test('a browser has fifty sign-ins in progress; one more ends its own oldest', async (t) => {
  const database = await createDatabase(t)
  const web = await connect(t, database.url)
  const [greedy, other] = [randomCredential(), randomCredential()]
  const start = (cookie: Buffer) =>
    web.query(`SELECT start_attempt($1, $2, 'sign-in', 'demo', 'n', 'v', NULL, NULL, 600)`, [
      cookie,
      randomCredential(),
    ])
  await start(other)
  for (let n = 0; n < 52; n += 1) await start(greedy)
  const { rows } = await database.admin.query<{ count: number }>(
    `SELECT count(*)::int FROM sign_in_attempts a JOIN sessions s ON s.id = a.session_id
     GROUP BY s.id_hash = sha256($1) ORDER BY 1`,
    [greedy],
  )
  t.strictSame(rows, [{ count: 1 }, { count: 50 }])
})
