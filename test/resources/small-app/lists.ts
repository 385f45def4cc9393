import t from 'tap'
import { Prisma } from '#src/db/generated/client.ts'
import { maxCounted } from '#src/http/lists/pagination.ts'
import { maxRareWords, maxSearchedRows } from '#src/rows/search.ts'
import { buildAt } from '#test/support/app/at-time.ts'
import { owner } from '#test/support/callers/token-owner.ts'
import { allowScopes } from '#test/support/database/scope.ts'
import { asset } from '#test/support/small-app/test/asset.ts'

/* Filters and orders of lists, by the asset of the small app, and the list below another row. */

const test = await buildAt(t)
const ours = await owner(test, { role: 'admin' })
const theirs = await owner(test, { role: 'admin' })

type Row = { id: number; name: string } & Record<string, unknown>

const facts = [
  { name: 'a', boughtOn: '2026-01-01', endsOn: '2026-06-01', weight: '2', state: 'in-use' },
  { name: 'b', boughtOn: '2026-01-02', endsOn: '2026-05-01', weight: '10', state: 'sold' },
  { name: 'c', boughtOn: '2026-01-02', weight: '-1', state: 'sold' },
  { name: 'd', boughtOn: '2025-12-31', endsOn: '2026-05-01', weight: '10', state: 'in-use' },
  { name: 'e', boughtOn: '2026-03-01', weight: '0.5', state: 'in-use' },
]
const { endsOn: _, ...rest } = asset.body as Record<string, unknown>
for (const one of facts) {
  const { statusCode, body } = await ours.send('POST', '/assets', { ...rest, ...one })
  if (statusCode !== 201) throw new Error(body)
}
await theirs.send('POST', '/assets', { ...rest, name: 'foreign' })

const listed = async (query: string) => {
  const answer = await ours.send('GET', `/assets?${query}`)
  t.equal(answer.statusCode, 200, `${query}: ${answer.body.slice(0, 300)}`)
  return answer.json()
}
const namesOf = (rows: readonly Row[]) => rows.map(({ name }) => name).join('')

t.test('a list is filtered by one value, by several, and by a range', async (t) => {
  const filters = {
    'boughtOn=2026-01-02': 'cb',
    'boughtOn[gte]=2026-01-02': 'ecb',
    'boughtOn[lt]=2026-01-02': 'da',
    'boughtOn[gte]=2026-01-01&boughtOn[lt]=2026-01-02': 'a',
    'state[in]=sold': 'cb',
    'state[in]=sold,in-use': 'edcba',
    'weight=10.00': 'db',
    'weight[gte]=2': 'dba',
    'weight[lt]=0': 'c',
    'weight[gte]=2&state=sold': 'b',
  }
  for (const [query, names] of Object.entries(filters)) {
    t.equal(namesOf((await listed(query)).data), names, query)
  }
  const refused = {
    'boughtOn[gte]=2026-02-30': 'must be a date of the calendar such as 2026-01-31',
    'boughtOn[lte]=2026-01-01': 'is not a known query parameter',
    'state[in]=sold,gone': 'must be at most 50 values, separated by commas',
    'name=a': 'is not a known query parameter',
    'sort=name':
      'must be one of -createdAt, createdAt, -boughtOn, boughtOn, -endsOn, endsOn, -weight, weight, -seenAt, seenAt',
  }
  for (const [query, detail] of Object.entries(refused)) {
    const answer = await ours.send('GET', `/assets?${query}`)
    t.equal(answer.statusCode, 400, query)
    t.match(answer.json().errors, [{ in: 'query', detail }], query)
  }
})

t.test('every order has stable cursors, forward and back, with NULL as the greatest', async (t) => {
  const orders = {
    '-boughtOn': 'ecbad',
    boughtOn: 'dabce',
    '-endsOn': 'ecadb',
    endsOn: 'bdace',
    '-weight': 'dbaec',
    weight: 'ceabd',
    '-createdAt': 'edcba',
    createdAt: 'abcde',
  }
  for (const [sort, names] of Object.entries(orders)) {
    t.equal(namesOf((await listed(`sort=${sort}`)).data), names, sort)
    for (const limit of [1, 2, 3]) {
      const walked: Row[] = []
      let cursor = ''
      let previous = ''
      do {
        const answer = await ours.send('GET', `/assets?sort=${sort}&limit=${limit}${cursor}`)
        const { data, nextCursor } = answer.json()
        walked.push(...data)
        cursor = nextCursor === null ? '' : `&cursor=${nextCursor}`
        const link = /cursor=([\w-]+)[^>]*>; rel="prev"/.exec(String(answer.headers.link))
        previous = link === null ? '' : `&cursor=${link[1]}`
      } while (cursor !== '')
      t.equal(namesOf(walked), names, `${sort} by ${limit}`)
      const before = await listed(`sort=${sort}&limit=${limit}${previous}`)
      const last = names.length % limit === 0 ? limit : names.length % limit
      const end = names.length - last
      t.equal(namesOf(before.data), names.slice(Math.max(0, end - limit), end), `back in ${sort}`)
    }
  }
  const { nextCursor } = await listed('sort=boughtOn&limit=1')
  for (const other of ['sort=-boughtOn', 'sort=weight', 'sort=boughtOn&state=sold', '']) {
    const answer = await ours.send('GET', `/assets?limit=1&cursor=${nextCursor}&${other}`)
    t.equal(answer.statusCode, 400, `the cursor of another order: ${other}`)
  }
})

t.test('a search finds the beginnings of words, whatever their case', async (t) => {
  const rows = [
    { name: 'Ölkanne', keeper: 'ada@acme.example' },
    { name: 'A red bicycle (old)' },
    { name: '100% steel_door', keeper: 'bob@acme.example' },
  ]
  const { send } = await owner(test, { role: 'admin' })
  for (const one of rows) await send('POST', '/assets', { ...rest, ...one })
  const searches = {
    ölk: 'Ölkanne',
    ÖLKANNE: 'Ölkanne',
    'bic OLD': 'A red bicycle (old)',
    '(old)': 'A red bicycle (old)',
    '  red  ': 'A red bicycle (old)',
    cycle: undefined,
    'red blue': undefined,
    '.*': undefined,
    '- red': 'A red bicycle (old)',
    olk: 'Ölkanne',
    '100%': '100% steel_door',
    bob: '100% steel_door',
    acme: '100% steel_door',
    STEEL_D: '100% steel_door',
  }
  const path = (q: string, rest = '') => `/assets?q=${encodeURIComponent(q)}${rest}`
  for (const [q, name] of Object.entries(searches)) {
    const answer = await send('GET', path(q))
    t.equal(answer.statusCode, 200, answer.body)
    t.equal(answer.json().data[0]?.name, name, q)
  }
  t.equal((await send('GET', path('a', '&sort=weight'))).json().data.length, 3, 'in an order')
  t.equal((await send('GET', path('red', '&state=sold'))).json().data.length, 0, 'with a filter')
  for (const q of ['', ' ', 'a '.repeat(9), 'a'.repeat(101)]) {
    t.equal((await send('GET', path(q))).statusCode, 400, `refused: ${q}`)
  }
  t.equal((await send('GET', '/issues?q=a')).statusCode, 400, 'no search is declared')
  const theirs = await owner(test, { role: 'admin' })
  t.strictSame((await theirs.send('GET', path('red'))).json().data, [], 'in the own tenant')
  const html = { accept: 'text/html' }
  const page = await send('GET', `/app${path('ölk', '&state=in-use')}`, undefined, html)
  t.match(page.body, 'name="q" value="ölk"')
  t.match(page.body, '<bdi>Ölkanne</bdi>')
  t.notMatch(page.body, 'bicycle')
})

t.test(
  'of frequent words a page of a search looks at a bounded number of rows and goes on',
  async (t) => {
    const { user, send } = await owner(test, { role: 'admin' })
    const each = maxSearchedRows + maxRareWords * 2
    await test.database.admin.query(
      `INSERT INTO projects (tenant_id, title, position)
     SELECT $1, CASE WHEN n IN (1, 2, 3, $3) THEN 'hay needle' WHEN n % 3 = 0 THEN 'needle' ELSE 'hay' END, n
     FROM generate_series(1, $2::int) AS n ORDER BY n`,
      [user.tenantId, each, maxRareWords * 2],
    )
    type Found = { data: { position: number }[]; nextCursor: string | null }
    for (const sort of ['-createdAt', 'createdAt', '-position', 'position']) {
      const found: number[] = []
      let cursor = ''
      let previous = ''
      let pages = 0
      do {
        const query = `/projects?q=NEED+hay&limit=2&sort=${sort}${cursor}`
        const answer = await send('GET', query)
        const { data, nextCursor }: Found = answer.json()
        found.push(...data.map(({ position }) => position))
        cursor = nextCursor === null ? '' : `&cursor=${nextCursor}`
        const link = /cursor=([\w-]+)[^>]*>; rel="prev"/.exec(String(answer.headers.link))
        if (link !== null) previous = `&cursor=${link[1]}`
        pages += 1
      } while (cursor !== '' && pages < 9)
      const inOrder = [1, 2, 3, maxRareWords * 2]
      t.strictSame(found, sort.startsWith('-') ? inOrder.toReversed() : inOrder, sort)
      t.ok(pages > 2, `${pages} pages`)
      const back: number[] = []
      for (pages = 0; previous !== '' && pages < 9; pages += 1) {
        const answer = await send('GET', `/projects?q=NEED+hay&limit=2&sort=${sort}${previous}`)
        back.unshift(...(answer.json() as Found).data.map(({ position }) => position))
        const link = /cursor=([\w-]+)[^>]*>; rel="prev"/.exec(String(answer.headers.link))
        previous = link === null ? '' : `&cursor=${link[1]}`
      }
      t.strictSame(back, found.slice(0, back.length), `back in ${sort}`)
      t.ok(back.length > 0)
    }
    const first = await send('GET', '/projects?q=needle+hay&limit=2')
    t.strictSame(first.json().data, [], 'the newest rows have no match')
    t.type(first.json().nextCursor, 'string')
    const page = await send('GET', '/app/projects?q=needle+hay', undefined, { accept: 'text/html' })
    t.match(page.body, 'No such projects among 20,000: “Older” searches on.')
  },
)

t.test('a rare word finds the oldest row at once, with any order and frequent words', async (t) => {
  const { user, send } = await owner(test, { role: 'admin' })
  await test.database.admin.query(
    `INSERT INTO projects (tenant_id, title, position)
     SELECT $1, CASE n WHEN 1 THEN 'hay pin' ELSE 'hay' END, n FROM generate_series(1, $2::int) AS n ORDER BY n`,
    [user.tenantId, maxSearchedRows + 10],
  )
  for (const query of ['pin', 'pin+hay', 'hay+PI&sort=-position', 'pin&limit=1&count=true']) {
    const answer = (await send('GET', `/projects?q=${query}`)).json()
    t.match(answer, { data: [{ position: 1 }], nextCursor: null }, query)
    t.equal(answer.data.length, 1)
  }
  const counted = (await send('GET', '/projects?q=pin&count=true')).json()
  t.strictSame(counted.count, { rows: 1, more: false })
})

t.test('a search finds what its owner wrote in any tenant, and nothing of others', async (t) => {
  const { user, send } = await owner(test, { role: 'admin' })
  const other = await owner(test, { role: 'admin', tenantId: user.tenantId })
  const made = await send('POST', '/memos', { title: 'Fence', details: 'Zaun\nand (gates)' })
  t.equal(made.statusCode, 201, made.body)
  const idsOf = async (who: typeof other, q: string) =>
    (await who.send('GET', `/memos?q=${q}`)).json().data.map(({ id }: Row) => id)
  const { id } = made.json()
  for (const q of ['fen', 'zaun+gate', 'AND'])
    t.strictSame(await idsOf({ user, send } as never, q), [id], q)
  t.strictSame(await idsOf(other, 'fence'), [], 'of another person in the tenant')
  await send('PATCH', `/memos/${id}`, { details: null })
  t.strictSame(await idsOf({ user, send } as never, 'zaun'), [], 'after a change')
  await send('DELETE', `/memos/${id}`)
  const { rows } = await test.database.admin.query('SELECT FROM memos_words WHERE id = $1', [id])
  t.equal(rows.length, 0, 'no word outlives its row')
})

t.test('no index of texts answers a search under row-level security', async (t) => {
  const { user } = await owner(test, { role: 'admin' })
  const { admin } = test.database
  const words = `to_tsvector('simple', title)`
  await admin.query(`CREATE INDEX projects_gin ON projects USING gin (${words})`)
  t.teardown(() => admin.query('DROP INDEX projects_gin'))
  const enter = await allowScopes(test.database)
  const statement = `EXPLAIN SELECT id FROM projects WHERE ${words} @@ to_tsquery('simple', 'gate:*')`
  const planOf = (rows: object[]) => rows.flatMap((row) => Object.values(row)).join('\n')
  const own = await test.app.db.read(enter(user), async (tx) => {
    await tx.sql(Prisma.raw('SET LOCAL enable_seqscan = off'))
    return tx.sql(Prisma.raw(statement))
  })
  t.notMatch(planOf(own), 'projects_gin', 'its operator is not LEAKPROOF')
  const client = await admin.connect()
  await client.query('SET enable_seqscan = off')
  const { rows } = await client.query(statement)
  client.release(true)
  t.match(planOf(rows), 'projects_gin', 'a superuser has no policies')
})

t.test('a field may have a name that statements of lists use', async (t) => {
  const { send } = await owner(test, { role: 'admin' })
  const sent = { title: 'x', position: 7, found: '2026-01-02', before: 'y' }
  t.equal((await send('POST', '/projects', sent)).statusCode, 201)
  for (const sort of ['position', '-createdAt']) {
    t.match((await send('GET', `/projects?sort=${sort}`)).json().data, [sent], sort)
  }
})

t.test(
  'a page has the order in the heads of its table and as a choice, beside the filters',
  async (t) => {
    const { send } = await owner(test, { role: 'admin' })
    for (const one of facts) await send('POST', '/assets', { ...rest, ...one })
    const html = { accept: 'text/html' }
    const read = async (query: string) =>
      (await send('GET', `/app/assets${query}`, undefined, html)).body
    const order = (body: string) =>
      [...body.matchAll(/<bdi>([a-e])<\/bdi><\/a>/g)].map(([, name]) => name).join('')
    const head = (body: string) =>
      /aria-sort="(\w+)"><a class="order" href="([^"]*)">Bought on</.exec(body)?.slice(1)
    const first = await read('?state=in-use')
    t.equal(order(first), 'eda')
    t.strictSame(head(first), ['none', '/app/assets?state=in-use&amp;sort=boughtOn'])
    const up = await read('?state=in-use&sort=boughtOn')
    t.equal(order(up), 'dae')
    t.strictSame(head(up), ['ascending', '/app/assets?state=in-use&amp;sort=-boughtOn'])
    t.match(up, 'Bought on, earliest first.')
    t.match(up, '<option value="in-use" selected>')
    t.match(up, '<option value="boughtOn" selected>Bought on, earliest first</option>')
    const down = await read('?state=in-use&sort=-boughtOn')
    t.equal(order(down), 'ead')
    t.strictSame(head(down), ['descending', '/app/assets?state=in-use'])
    t.equal((await send('GET', '/app/assets?sort=name', undefined, html)).statusCode, 400)
  },
)

t.test('a list is counted up to a bound', async (t) => {
  const { user, send } = await owner(test, { role: 'admin' })
  const fill = (first: number, last: number) =>
    test.database.admin.query(
      `INSERT INTO projects (tenant_id, title)
       SELECT $1, CASE n % 2 WHEN 0 THEN 'even ' ELSE 'odd ' END || n FROM generate_series($2::int, $3) AS n`,
      [user.tenantId, first, last],
    )
  const count = async (query = '') =>
    (await send('GET', `/projects?count=true${query}`)).json().count
  const lead = async () =>
    (await send('GET', '/app/projects', undefined, { accept: 'text/html' })).body
  t.strictSame(await count(), { rows: 0, more: false })
  t.notMatch(await lead(), 'in all')
  await fill(1, maxCounted)
  t.strictSame(await count('&limit=1'), { rows: maxCounted, more: false })
  t.strictSame(await count('&q=even'), { rows: maxCounted / 2, more: false })
  t.match(await lead(), 'Newest first. 1,000 in all.')
  await fill(maxCounted + 1, maxCounted + 1)
  t.strictSame(await count('&sort=position'), { rows: maxCounted, more: true })
  t.match(await lead(), 'Newest first. Over 1,000.')
  await fill(maxCounted + 2, maxSearchedRows)
  t.strictSame(await count('&q=odd+1001'), { rows: 6, more: false })
  t.strictSame(await count('&q=odd'), { rows: maxCounted, more: true })
  const plain = await send('GET', '/projects?limit=1')
  t.strictSame(Object.keys(plain.json()), ['data', 'nextCursor'], 'only if it is asked for')
  const next = `/projects?limit=1&count=true&cursor=${plain.json().nextCursor}`
  t.equal((await send('GET', next)).statusCode, 200, 'a cursor is that of both')
  for (const query of ['count=false', 'count=']) {
    t.equal((await send('GET', `/projects?${query}`)).statusCode, 400, query)
  }
})

t.test('the list below a row has the rows that refer to it', async (t) => {
  const created = async (who: typeof ours, path: string, body: object) =>
    (await who.send('POST', path, body)).json().id
  const [projectId, other, foreign] = [
    await created(ours, '/projects', { title: 'A fence' }),
    await created(ours, '/projects', { title: 'A wall' }),
    await created(theirs, '/projects', { title: 'Theirs' }),
  ]
  const [first, second] = [
    await created(ours, '/issues', { title: 'x', projectId }),
    await created(ours, '/issues', { title: 'y', projectId }),
  ]
  const elsewhere = await created(ours, '/issues', { title: 'z', projectId: other })
  const read = async (query: string) => (await ours.send('GET', query)).json()
  const ids = ({ data }: { data: Row[] }) => data.map(({ id }) => id)
  t.strictSame(ids(await read(`/projects/${projectId}/issues`)), [second, first])
  t.strictSame(ids(await read(`/issues?projectId=${projectId}`)), [second, first])
  t.strictSame(ids(await read(`/issues?projectId[in]=${projectId},${other}`)), [
    elsewhere,
    second,
    first,
  ])
  const page = await read(`/projects/${projectId}/issues?limit=1&expand=project`)
  t.match(page.data, [{ id: second, project: { title: 'A fence' } }])
  const next = `/projects/${projectId}/issues?limit=1&cursor=${page.nextCursor}`
  t.strictSame(ids(await read(next)), [first])
  for (const id of [foreign, 987_654_321]) {
    t.equal((await ours.send('GET', `/projects/${id}/issues`)).statusCode, 404)
  }
  const html = { accept: 'text/html' }
  const shown = async (path: string) => (await ours.send('GET', path, undefined, html)).body
  const page1 = await shown(`/app/projects/${projectId}`)
  t.match(page1, `<a href="/app/issues/${first}"><bdi>x</bdi></a>`)
  t.match(page1, `<a href="/app/issues/${second}"><bdi>y</bdi></a>`)
  t.notMatch(page1, `/app/issues/${elsewhere}`, 'those of another row')
  t.notMatch(page1, 'All issues', 'there are no more')
  for (let n = 1; n < 10; n += 1) await created(ours, '/issues', { title: `z${n}`, projectId })
  const page2 = await shown(`/app/projects/${projectId}`)
  t.match(page2, `<a href="/app/issues?projectId=${projectId}">All issues</a>`)
  t.notMatch(page2, `/app/issues/${first}"`, 'the newest 10')
  const all = await shown(`/app/issues?projectId=${projectId}`)
  t.match(all, `/app/issues/${first}"`)
  t.match(all, '11 in all.')
  t.notMatch(all, `/app/issues/${elsewhere}"`)
  t.match(all, `<option value="${projectId}" selected><bdi>A fence</bdi></option>`)
  const moved = await ours.send('GET', next.replace(`/${projectId}/`, `/${other}/`))
  t.equal(moved.statusCode, 400, 'the cursor of another row')
})
