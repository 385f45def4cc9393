import t, { type Test } from 'tap'
import { accessDocument, accessOverview } from '#src/access/overview.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { resources } from '#src/resources/running-app.ts'
import { actionsOf } from '#src/rows/actions.ts'
import { buildAt } from '#test/support/app/at-time.ts'
import { owner } from '#test/support/callers/token-owner.ts'
import { allowScopes } from '#test/support/database/scope.ts'

/* Rows that some members see only (`visible`), by the note of the office app. */

const test = await buildAt(t)
const [notes] = resources
if (notes === undefined) throw new Error('The office app has no notes.')

const manager = await owner(test, { role: 'manager' })
const { tenantId } = manager.user
const clerk = (department: string) => owner(test, { role: 'clerk', tenantId, department })
const people = {
  manager,
  author: await clerk('sales'),
  colleague: await clerk('sales'),
  assignee: await clerk('law'),
  other: await clerk('law'),
  teammate: await clerk('law'),
  payer: await clerk('law'),
}
const { admin } = test.database
const teamId = Number(
  (
    await admin.query(`INSERT INTO teams (tenant_id, name) VALUES ($1, 'Gates') RETURNING id`, [
      tenantId,
    ])
  ).rows[0]?.id,
)
const team = [tenantId, teamId, people.teammate.user.userId]
const joinTeam = () =>
  admin.query('INSERT INTO team_members (tenant_id, team_id, user_id) VALUES ($1, $2, $3)', team)
const leaveTeam = () =>
  admin.query(
    'DELETE FROM team_members WHERE tenant_id = $1 AND team_id = $2 AND user_id = $3',
    team,
  )
await joinTeam()
const setPlan = (plan: string | null, endsAt: string | null = null) =>
  admin.query('UPDATE users SET plan = $2, subscription_cancels_at = $3 WHERE id = $1', [
    people.payer.user.userId,
    plan,
    endsAt,
  ])
await setPlan('pro')
// Now, because a token needs a recent sign-in, and these tests may come minutes later.
const token = await people.other.make({ permissions: ['desk:use'] })
const tokenOfTeam = await people.teammate.make({ permissions: ['desk:use'] })
type Name = keyof typeof people
const names = Object.keys(people) as Name[]
const html = { accept: 'text/html' }

/** Each row with those who see it. */
const rows: readonly [body: object, seenBy: readonly Name[]][] = [
  [{ title: 'plain gate' }, ['manager', 'author']],
  [{ title: 'sold gate', department: 'sales' }, ['manager', 'author', 'colleague']],
  [
    { title: 'given gate', assigneeId: people.assignee.user.userId },
    ['manager', 'author', 'assignee'],
  ],
  [{ title: 'open gate', status: 'published' }, names],
  [{ title: 'team gate', teamId }, ['manager', 'author', 'teammate']],
  [{ title: 'paid gate', status: 'paid' }, ['manager', 'author', 'payer']],
  [{ title: 'gift gate', status: 'gift' }, names.filter((name) => name !== 'payer')],
  [{ title: 'robot gate', status: 'robot' }, ['manager', 'author']],
]

const made = await Promise.all(
  rows.map(async ([body, seenBy], place) => {
    const sent = { status: 'draft', place, ...body }
    const answer = await people.author.send('POST', '/notes', sent)
    return { row: answer.json(), seenBy }
  }),
)
const [plain, sold, given, open, ofTeam] = made.map(({ row }) => row)
const titlesOf = ({ data }: { data: { title: string }[] }) => data.map(({ title }) => title).sort()

async function checkSight(t: Test) {
  for (const name of names) {
    const { send } = people[name]
    const seen = made.filter(({ seenBy }) => seenBy.includes(name)).map(({ row }) => row)
    const titles = seen.map(({ title }) => title).sort()
    const drafts = seen.filter(({ status }) => status === 'draft')
    const count = { rows: seen.length, more: false }
    for (const query of ['', '&sort=place', '&sort=-place', '&q=gate', '&q=GAT&sort=place']) {
      const list = (await send('GET', `/notes?count=true${query}`)).json()
      t.strictSame(titlesOf(list), titles, `${name} lists ${query}`)
      t.strictSame(list.count, count, `${name} counts ${query}`)
    }
    const filtered = (await send('GET', '/notes?status=draft&count=true')).json()
    t.strictSame(filtered.count, { rows: drafts.length, more: false }, `${name} filters`)
    const page = (await send('GET', '/app/notes', undefined, html)).body
    t.match(page, `${seen.length} in all.`, `${name} on the page`)
    for (const { row } of made) {
      const isSeen = seen.includes(row)
      const status = isSeen ? 200 : 404
      for (const path of [`/notes/${row.id}`, `/notes/${row.id}?expand=assignee`]) {
        t.equal((await send('GET', path)).statusCode, status, `${name} reads ${row.title}`)
      }
      const misspelt = await send('GET', `/notes/${row.id}?expands=assignee`)
      t.equal(misspelt.statusCode, 400, `${name} misspells a parameter`)
      const own = await send('GET', `/app/notes/${row.id}`, undefined, html)
      t.equal(own.statusCode, status, `${name} opens ${row.title}`)
      t.equal(page.includes(row.title), isSeen, `${name} sees ${row.title} on the page`)
    }
  }
}

t.test('the access table says who sees which rows', (t) => {
  const document = accessDocument(accessOverview())
  t.match(document, `\n| note | ${notes.visible?.words} |\n`)
  t.match(document, 'the person of authorId or the person of assigneeId')
  t.notMatch(document, '## Fields with a permission')
  t.end()
})

t.test('who does not see a row finds it in no list, count, search or page', checkSight)

t.test('the words of a row are seen by those who see the row', async (t) => {
  const enter = await allowScopes(test.database)
  const wordsFor = (userId: number, tenantId: string) =>
    test.app.db.read(
      enter({ userId, tenantId }),
      (tx) => tx.sql<{ word: string }>`SELECT DISTINCT word FROM notes_words ORDER BY word`,
    )
  for (const name of names) {
    const { userId } = people[name].user
    const seen = made.filter(({ seenBy }) => seenBy.includes(name)).map(({ row }) => row.title)
    const words = (await wordsFor(userId, tenantId)).map(({ word }) => word)
    t.strictSame(words, [...new Set(seen.join(' ').split(' '))].sort(), name)
    for (const { row } of made) {
      const first = row.title.split(' ')[0]
      const found = (await people[name].send('GET', `/notes?q=${first}&count=true`)).json()
      t.strictSame(found.count, { rows: seen.includes(row.title) ? 1 : 0, more: false }, first)
    }
  }
  const elsewhere = crypto.randomUUID()
  t.strictSame(await wordsFor(people.author.user.userId, elsewhere), [], 'in another tenant')
})

t.test('a token of a member sees what the member does, and what is for tokens', async (t) => {
  const seen = ['gift gate', 'open gate', 'robot gate']
  t.strictSame(titlesOf((await token.use('GET', '/notes')).json()), seen)
})

t.test('who has left the team or whose plan has ended sees its rows no more', async (t) => {
  const seenBy = async (name: Name) =>
    titlesOf((await people[name].send('GET', '/notes?count=true')).json())
  await leaveTeam()
  t.strictSame(await seenBy('teammate'), ['gift gate', 'open gate'])
  await joinTeam()
  t.strictSame(await seenBy('teammate'), ['gift gate', 'open gate', 'team gate'])
  await setPlan('pro', '2026-01-01')
  t.strictSame(await seenBy('payer'), ['gift gate', 'open gate'], 'it was cancelled')
  await setPlan('other')
  t.strictSame(await seenBy('payer'), ['open gate'], 'another plan')
  await setPlan(null)
  t.strictSame(await seenBy('payer'), ['gift gate', 'open gate'], 'no plan')
  await setPlan('team')
  t.strictSame(await seenBy('payer'), ['open gate', 'paid gate'])
  const setOfTenant = (plan: string | null, endsAt: string | null = null) =>
    admin.query('UPDATE tenants SET plan = $2, subscription_cancels_at = $3 WHERE id = $1', [
      ...[people.payer.user.tenantId, plan, endsAt],
    ])
  await setOfTenant('other')
  t.strictSame(await seenBy('payer'), ['open gate'], 'the plan of the tenant comes first')
  await setOfTenant('other', '2026-01-01')
  t.strictSame(await seenBy('payer'), ['open gate', 'paid gate'], 'until its end')
  await setPlan(null)
  await setOfTenant('pro')
  t.strictSame(await seenBy('payer'), ['open gate', 'paid gate'])
  await setOfTenant(null)
  await setPlan('team')
})

t.test('a condition on an action knows the teams and the credential of the caller', async (t) => {
  const { manager: one, teammate, author } = people
  const stamp = `/notes/${ofTeam.id}/stamp`
  const buttonOf = async ({ send }: typeof one) =>
    (await send('GET', `/app/notes/${ofTeam.id}`, undefined, html)).body.includes('/stamp"')
  for (const other of [one, author]) {
    const refused = await other.send('POST', stamp)
    t.equal(refused.statusCode, 403)
    t.equal(refused.json().detail, 'The note is of another team.')
    t.notOk(await buttonOf(other))
  }
  const byToken = await tokenOfTeam.use('POST', stamp)
  t.equal(byToken.statusCode, 403)
  t.equal(byToken.json().detail, 'Stamp it yourself.')
  t.ok(await buttonOf(teammate))
  const stamped = await teammate.send('POST', stamp)
  t.match(stamped.json(), { place: 7 })
  const outside = await one.send('POST', `/notes/${open.id}/stamp`)
  t.equal(outside.statusCode, 200, 'a note of no team')
  for (const { row } of [{ row: open }, { row: ofTeam }]) {
    await one.send('PATCH', `/notes/${row.id}`, { place: row.place })
  }
})

t.test('what somebody does not see, they neither change nor delete', async (t) => {
  const { send } = people.other
  for (const one of [plain, sold, given]) {
    const missing = (await send('PATCH', '/notes/987654321', { title: 'x' })).json()
    const changed = await send('PATCH', `/notes/${one.id}`, { title: 'x' })
    t.equal(changed.statusCode, 404)
    t.equal(changed.json().detail, missing.detail)
    const matched = await send('PATCH', `/notes/${one.id}`, { title: 'x' }, { 'if-match': '"a"' })
    t.equal(matched.statusCode, 404)
    t.equal((await send('DELETE', `/notes/${one.id}`)).statusCode, 404)
    t.strictSame((await manager.send('GET', `/notes/${one.id}`)).json(), one, 'unchanged')
  }
})

t.test('a member cannot hide a row from themselves', async (t) => {
  const { send } = people.colleague
  for (const headers of [{}, { 'idempotency-key': crypto.randomUUID() }]) {
    const answer = await send('PATCH', `/notes/${sold.id}`, { department: 'law' }, headers)
    t.equal(answer.statusCode, 403)
    t.equal(answer.json().detail, 'You would not see this note any more.')
  }
  t.strictSame((await manager.send('GET', `/notes/${sold.id}`)).json(), sold, 'unchanged')
  const moved = await manager.send('PATCH', `/notes/${sold.id}`, { department: 'law' })
  t.equal(moved.statusCode, 200, 'the others may')
  t.equal((await send('GET', `/notes/${sold.id}`)).statusCode, 404)
  const back = await people.other.send('PATCH', `/notes/${sold.id}`, { status: 'published' })
  t.equal(back.statusCode, 200)
  t.equal((await send('GET', `/notes/${sold.id}`)).statusCode, 200)
  await manager.send('PATCH', `/notes/${sold.id}`, { department: 'sales', status: 'draft' })
})

t.test('a person sees no row of another tenant by role, department or value', async (t) => {
  const stranger = await owner(test, { role: 'manager', department: 'sales' })
  const list = (await stranger.send('GET', '/notes?count=true')).json()
  t.strictSame(list, { data: [], nextCursor: null, count: { rows: 0, more: false } })
  t.equal((await stranger.send('GET', `/notes/${open.id}`)).statusCode, 404)
})

t.test('who was in a department or had a role sees its rows no more', async (t) => {
  const path = `/users/${people.colleague.user.userId}`
  const count = async () =>
    (await people.colleague.send('GET', '/notes?count=true')).json().count.rows
  t.equal(await count(), 3)
  t.equal((await manager.send('PATCH', path, { department: 'law' })).statusCode, 200)
  t.equal(await count(), 2)
  t.equal((await manager.send('PATCH', path, { role: 'manager' })).statusCode, 200)
  t.equal(await count(), made.length)
  await manager.send('PATCH', path, { role: 'clerk', department: 'sales' })
  t.equal(await count(), 3)
})

t.test(
  'a statement that reads no column changes no row that its author does not see',
  async (t) => {
    const enter = await allowScopes(test.database)
    for (const name of names) {
      const { userId } = people[name].user
      const { length: seen } = made.filter(({ seenBy }) => seenBy.includes(name))
      for (const change of [`UPDATE notes SET title = 'changed'`, 'DELETE FROM notes']) {
        let changed = -1
        const write = test.app.db.write(enter({ userId, tenantId }), async (tx) => {
          await tx.sql(Prisma.raw(counting(change)))
          const [row] = await tx.sql<{ n: number }>`SELECT current_setting('app.changed')::int AS n`
          changed = row?.n ?? -1
          throw new Error('undone')
        })
        await t.rejects(write, { message: 'undone' })
        t.equal(changed, seen, `${name}: ${change}`)
      }
    }
  },
)

/** Does it and keeps the number of rows, without RETURNING, which reads columns. */
function counting(change: string): string {
  return `DO $$ DECLARE changed integer; BEGIN
    ${change}; GET DIAGNOSTICS changed = ROW_COUNT;
    PERFORM set_config('app.changed', changed::text, true); END $$`
}

t.test('each of the two locks hides them alone', async (t) => {
  const enter = await allowScopes(test.database)
  for (const name of names) {
    const { userId } = people[name].user
    const read = await test.app.db.read(
      enter({ userId, tenantId }),
      (tx) => tx.sql<{ title: string }>`SELECT title FROM notes ORDER BY title`,
    )
    const seen = made.filter(({ seenBy }) => seenBy.includes(name)).map(({ row }) => row.title)
    t.strictSame(
      read.map(({ title }) => title),
      seen.sort(),
      `${name} by row-level security`,
    )
  }
  const { rows: entries } = await admin.query<{ definition: string }>(
    `SELECT pg_get_functiondef('enter_test'::regproc) AS definition`,
  )
  const { userId } = people.other.user
  const others = { export: 'in the download of a person', order: 'in the tenant of their order' }
  for (const [kind, words] of Object.entries(others)) {
    await admin.query(String(entries[0]?.definition).replace(`'session'`, `'${kind}'`))
    const seen = await test.app.db.read(
      enter({ userId, tenantId }),
      (tx) => tx.sql<{ title: string }>`SELECT title FROM notes ORDER BY title DESC`,
    )
    t.strictSame(seen, [{ title: 'open gate' }, { title: 'gift gate' }], words)
  }
  await admin.query('ALTER TABLE notes DISABLE ROW LEVEL SECURITY')
  await checkSight(t)
  const { choices } = actionsOf(notes)
  const asking = { userId: people.other.user.userId, tenantId }
  const offered = await test.app.db.read(enter(asking), (tx) => {
    const facts = { role: 'clerk', tokenPermissions: null, sessionId: 'a', serviceId: null }
    return choices(tx, Object({ ...asking, ...facts }), 9)
  })
  t.strictSame(offered.map(({ heading }) => heading).sort(), ['gift gate', 'open gate'])
  await admin.query('ALTER TABLE notes ENABLE ROW LEVEL SECURITY')
})
