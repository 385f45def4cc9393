import pg from 'pg'
import t, { type Test } from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { checkUsage } from '#src/auth/members/usage.ts'
import { openSystemDatabase } from '#src/db/system-database.ts'
import { migrate } from '#src/schema/migrate.ts'
import { attemptsAs, denied } from '#test/db/attempt.ts'
import {
  createDatabase,
  createOwnedDatabase,
  type TestDatabase,
} from '#test/support/database/database.ts'
import { patient } from '#test/support/database/open.ts'

/* The words by which lists are searched: how texts are divided, who keeps them, and who sees them. */

t.test('a text is divided into words without case and accents', async (t) => {
  const { admin } = await createDatabase(t)
  const wordsOf = async (text: string | null) => {
    const { rows } = await admin.query('SELECT search_words($1) AS words', [text])
    return rows[0].words
  }
  const cases: [string | null, string[]][] = [
    [null, []],
    ['', []],
    [' -- .* ', []],
    ['Gate gate GATE', ['gate']],
    ['Ölkanne café', ['cafe', 'olkanne']],
    [
      'A red bicycle (old), 100% steel_door',
      ['100', 'a', 'bicycle', 'door', 'old', 'red', 'steel'],
    ],
    ['ada@acme.example', ['acme', 'ada', 'example']],
    ['ПРИВЕТ Ёлка ΣΊΣΥΦΟΣ', ['елка', 'привет', 'σισυφοσ']],
    ['Łódź Ørsted', ['lodz', 'orsted']],
    ['“quoted”—dash…', ['dash', 'quoted']],
    ['Straße １２ ﬁn', ['12', 'fin', 'straße']],
    ['日本語 テスト', ['テスト', '日本語']],
    ['x'.repeat(40), ['x'.repeat(32)]],
  ]
  for (const [text, words] of cases) {
    t.strictSame((await wordsOf(text)).toSorted(), words.toSorted(), String(text))
  }
  const many = Array.from({ length: 1_200 }, (_, n) => `w${n}`).join(' ')
  const kept = await wordsOf(many)
  t.equal(kept.length, 1_000)
  t.notOk(kept.includes('w1000'), 'the first ones')
})

async function post(database: TestDatabase, tenantId: string, title: string): Promise<string> {
  const { rows } = await database.admin.query(
    `INSERT INTO posts (tenant_id, title, body) VALUES ($1, $2, '') RETURNING id`,
    [tenantId, title],
  )
  return rows[0].id
}

/** The tenants whose counters differ from their rows. */
async function wrongCounts({ workerUrl }: TestDatabase) {
  const systemDb = openSystemDatabase(workerUrl, 1, patient)
  try {
    return (await checkUsage(systemDb, false)).wrong
  } finally {
    await systemDb.close()
  }
}

async function wordsIn({ admin }: TestDatabase, id: string): Promise<string[]> {
  const { rows } = await admin.query('SELECT word FROM posts_words WHERE id = $1 ORDER BY 1', [id])
  return rows.map(({ word }) => word)
}

t.test('the words of a row follow it, whoever writes it', async (t) => {
  const database = await createDatabase(t)
  const { admin } = database
  const { tenantId } = await createUser(database)
  const id = await post(database, tenantId, 'A red gate')
  t.strictSame(await wordsIn(database, id), ['a', 'gate', 'red'])
  await admin.query(`UPDATE posts SET title = 'A blue gate' WHERE id = $1`, [id])
  t.strictSame(await wordsIn(database, id), ['a', 'blue', 'gate'])
  await admin.query('UPDATE posts SET body = $2 WHERE id = $1', [id, 'not searched'])
  t.strictSame(await wordsIn(database, id), ['a', 'blue', 'gate'])
  await admin.query('DELETE FROM posts WHERE id = $1', [id])
  t.strictSame(await wordsIn(database, id), [])
  const other = await post(database, tenantId, 'Of a tenant')
  await admin.query('DELETE FROM memberships WHERE tenant_id = $1', [tenantId])
  await admin.query('DELETE FROM tenants WHERE id = $1', [tenantId])
  t.strictSame(await wordsIn(database, other), [], 'of a deleted tenant')
})

t.test('a tenant stores no more words than its quota has bytes for', async (t) => {
  const database = await createDatabase(t)
  const { admin } = database
  const { tenantId } = await createUser(database)
  const other = await createUser(database)
  const bytes = async (tenant = tenantId) => {
    t.strictSame(await wrongCounts(database), [], 'counters and rows are equal')
    const { rows } = await admin.query('SELECT resource_bytes FROM counted_usage($1)', [tenant])
    return Number(rows[0].resource_bytes)
  }
  const title = 'ab cd ef'
  const id = await post(database, tenantId, title)
  t.equal(await bytes(), title.length + 3 * 180)
  await admin.query(`UPDATE posts SET title = 'ab cd' WHERE id = $1`, [id])
  t.equal(await bytes(), 5 + 2 * 180, 'of a change, the words that are new or gone')
  t.equal(await bytes(other.tenantId), 0)

  const limited = async (text: string, limit: number) => {
    const client = await admin.connect()
    try {
      await client.query('BEGIN')
      await client.query(`SELECT set_config('app.quota', $1, true)`, [`{9,${limit},0,0}`])
      await client.query(`INSERT INTO posts (tenant_id, title, body) VALUES ($1, $2, '')`, [
        tenantId,
        text,
      ])
      await client.query('COMMIT')
    } finally {
      await client.query('ROLLBACK')
      client.release()
    }
  }
  const before = await bytes()
  const words = Array.from({ length: 50 }, (_, n) => `w${n}`).join(' ')
  const needed = before + words.length + 50 * 180
  await t.rejects(limited(words, needed - 1), { code: 'QU001' }, 'one byte too many')
  t.equal(await bytes(), before, 'nothing is left of the refused row')
  await limited(words, needed)
  t.equal(await bytes(), needed)
  await admin.query('DELETE FROM posts WHERE tenant_id = $1', [tenantId])
  t.equal(await bytes(), 0)
})

t.test('the owner of the tables deletes a tenant with its words, in any scope', async (t) => {
  const database = await createDatabase(t)
  const { tenantId } = await createUser(database)
  const id = await post(database, tenantId, 'A red gate')
  const client = await openOwner(t, database)
  await client.query('BEGIN')
  await client.query('DELETE FROM memberships WHERE tenant_id = $1', [tenantId])
  await client.query('DELETE FROM tenants WHERE id = $1', [tenantId])
  await client.query('COMMIT')
  t.strictSame(await wordsIn(database, id), [])
})

async function openOwner(t: Test, { ownerUrl }: TestDatabase): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: ownerUrl })
  await client.connect()
  t.teardown(() => client.end())
  return client
}

t.test('a member sees the words of their own tenant and writes none', async (t) => {
  const database = await createDatabase(t)
  const [mine, theirs] = [await createUser(database), await createUser(database)]
  await post(database, mine.tenantId, 'Mine')
  await post(database, theirs.tenantId, 'Theirs')
  const attempt = await attemptsAs(t, database, database.url)
  const seen = `SELECT word FROM posts_words`
  t.strictSame(await attempt(mine, seen), { rows: 1, data: [{ word: 'mine' }] })
  t.match(await attempt({}, seen), { rows: 0 }, 'without a scope')
  const words = [mine.tenantId, theirs.tenantId].map(
    (tenantId) => `INSERT INTO posts_words (tenant_id, id, word) VALUES ('${tenantId}', 1, 'x')`,
  )
  for (const statement of [
    ...words,
    'DELETE FROM posts_words',
    `UPDATE posts_words SET word = 'x'`,
    'TRUNCATE posts_words',
  ]) {
    t.match(await attempt(mine, statement), denied, statement)
  }
  const owner = await attemptsAs(t, database, database.ownerUrl)
  t.match(await owner({}, seen), { rows: 0 }, 'the owner is under the policies too')
})

t.test('migrate writes the words of rows that are there before their table', async (t) => {
  const database = await createOwnedDatabase(t)
  const { admin } = database
  const { tenantId } = await createUser(database)
  const other = await createUser(database)
  // As the migration of an app that declares the search of a table with rows.
  const { rows } = await admin.query<{ made: string }>(
    `SELECT pg_get_indexdef('posts_words_tenant_id_word_id_idx'::regclass) AS made`,
  )
  const client = await openOwner(t, database)
  await client.query(`DROP TABLE posts_words; DROP TRIGGER keep_posts_words ON posts`)
  const ids = [
    await post(database, tenantId, 'First'),
    await post(database, other.tenantId, 'Ärger'),
  ]
  await client.query(`CREATE TABLE posts_words (tenant_id uuid NOT NULL, id bigint NOT NULL,
      word text COLLATE "C" NOT NULL, PRIMARY KEY (tenant_id, id, word));
    ${rows[0]?.made};
    ALTER TABLE posts_words ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY`)
  const urls = { ownerUrl: database.ownerUrl, url: database.url, workerUrl: database.workerUrl }
  t.equal((await migrate(urls)).defined, true)
  t.strictSame(await wordsIn(database, ids[0] ?? ''), ['first'])
  t.strictSame(await wordsIn(database, ids[1] ?? ''), ['arger'])
  const forced = await admin.query(
    `SELECT relname FROM pg_class WHERE relname IN ('posts', 'posts_words') AND relforcerowsecurity`,
  )
  t.equal(forced.rows.length, 2, 'under forced policies as before')
  t.strictSame(await wrongCounts(database), [], 'their words are counted')
  const { oid: table } = (await admin.query(`SELECT 'posts_words'::regclass::oid AS oid`)).rows[0]
  // Rows are not read again while nothing about the search has changed.
  await admin.query(`ALTER TABLE posts DISABLE TRIGGER keep_posts_words`)
  const unread = await post(database, tenantId, 'Unread')
  t.equal((await migrate(urls)).defined, true, 'the trigger is made again')
  t.strictSame(await wordsIn(database, unread), [])
  await admin.query(
    `COMMENT ON FUNCTION keep_posts_words() IS 'Words of r.body, into ${table}, 180 bytes each.'`,
  )
  await admin.query(`ALTER TABLE posts DISABLE TRIGGER keep_posts_words`)
  t.equal((await migrate(urls)).defined, true)
  t.strictSame(await wordsIn(database, unread), ['unread'], 'those of other fields are replaced')
  t.strictSame(await wrongCounts(database), [], 'and count no more')
})
