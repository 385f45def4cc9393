import t from 'tap'
import { byId, idForm, pageOf, readList, readPage } from '#src/http/lists/pagination.ts'
import { Problem } from '#src/http/problems.ts'

const forms = [/^\d+$/, /^[a-z]+$/]
const rows = Array.from({ length: 7 }, (_, index) => ({ id: index, name: 'row' }))
const page = (limit: number, after: readonly string[] | null = null) => ({ limit, after })
const inOrder = { isBackward: false, isReversed: false, binding: '' }

function first(list = 'things') {
  return pageOf(
    rows.slice(0, 3),
    page(2),
    list,
    (row) => [String(row.id), row.name],
    (row) => row.id,
  )
}

t.test('a page has at most `limit` rows; the cursor points to its last row', async (t) => {
  const { data, nextCursor } = first()
  t.same(data, [0, 1])
  t.type(nextCursor, 'string')
  t.same(readPage({ limit: '2', cursor: nextCursor ?? '' }, 'things', forms), {
    ...page(2, ['1', 'row']),
    ...inOrder,
  })
})

t.test('the last page has no cursor', async (t) => {
  for (const count of [0, 1, 2]) {
    const last = pageOf(
      rows.slice(0, count),
      page(2),
      'things',
      (row) => [String(row.id)],
      ({ id }) => id,
    )
    t.equal(last.nextCursor, null, `${count} rows`)
    t.equal(last.data.length, count)
  }
})

t.test('the default limit is 50', async (t) => {
  t.same(readPage({}, 'things', forms), { ...page(50), ...inOrder })
})

t.test(
  'a cursor that was modified, belongs to another list or has another format is malformed',
  async (t) => {
    const cursor = first().nextCursor ?? ''
    const refused = (text: string, list = 'things', of = forms) =>
      t.throws(
        () => readPage({ cursor: text }, list, of),
        new Problem('malformed', {
          detail: 'The cursor does not belong to this list with these filters and this order.',
        }),
        text,
      )
    for (let index = 0; index < cursor.length; index += 1) {
      const changed = cursor.at(index) === 'A' ? 'B' : 'A'
      refused(cursor.slice(0, index) + changed + cursor.slice(index + 1))
    }
    for (const text of [
      '',
      'x',
      cursor.slice(1),
      cursor.slice(0, -1),
      `${cursor}A`,
      `${cursor}=`,
      `${cursor} `,
    ])
      refused(text)
    refused(cursor, 'others')
    refused(cursor, 'things', [/^\d+$/])
    refused(cursor, 'things', [/^\d+$/, /^[a-z]+$/, /^x$/])
    refused(cursor, 'things', [/^\d+$/, /^\d+$/])
  },
)

const byIdList = { name: 'numbers', forms: [idForm] }

/** A list of the ids 1 to 10, read as a database reads it. */
function readNumbers(query: { limit?: string; cursor?: string; sort?: string; kind?: string }) {
  const { page } = readList(query, byIdList)
  const { where, orderBy, take } = byId(page)
  const { lt = 11n, gt = 0n } = { ...where.id }
  const inRange = Array.from({ length: 10 }, (_, index) => BigInt(index + 1)).filter(
    (id) => id < lt && id > gt,
  )
  const read = orderBy.id === 'asc' ? inRange : inRange.toReversed()
  return pageOf(
    read.slice(0, take),
    page,
    byIdList.name,
    (id) => [String(id)],
    (id) => Number(id),
  )
}

t.test('the pages back from the last one are the pages there, in the same order', async (t) => {
  for (const sort of [undefined, '-createdAt', 'createdAt']) {
    const order = { limit: '4', ...(sort !== undefined && { sort }) }
    const there = [readNumbers(order)]
    for (let next = there[0]?.nextCursor; next; next = there.at(-1)?.nextCursor) {
      there.push(readNumbers({ ...order, cursor: next }))
    }
    const newestFirst = [
      [10, 9, 8, 7],
      [6, 5, 4, 3],
      [2, 1],
    ]
    const oldestFirst = [
      [1, 2, 3, 4],
      [5, 6, 7, 8],
      [9, 10],
    ]
    t.same(
      there.map(({ data }) => data),
      sort === 'createdAt' ? oldestFirst : newestFirst,
    )
    t.equal(there[0]?.previousCursor, null, 'the first page has no previous one')
    const middle = readNumbers({ ...order, cursor: there[2]?.previousCursor ?? '' })
    t.same(middle.data, there[1]?.data)
    t.equal(middle.nextCursor, there[1]?.nextCursor)
    const start = readNumbers({ ...order, cursor: middle.previousCursor ?? '' })
    t.same(start.data, there[0]?.data)
    t.equal(start.previousCursor, null)
  }
})

t.test('a cursor belongs to its filters and its order', async (t) => {
  const { nextCursor } = readNumbers({ limit: '4', kind: 'a' })
  const cursor = nextCursor ?? ''
  t.same(readNumbers({ limit: '2', kind: 'a', cursor }).data, [6, 5], 'the limit may change')
  t.same(readNumbers({ kind: 'a', cursor, sort: '-createdAt' }).data.length, 6, 'the default order')
  for (const other of [{}, { kind: 'b' }, { kind: 'a', sort: 'createdAt' }]) {
    t.throws(() => readNumbers({ ...other, cursor }), { code: 'malformed' }, JSON.stringify(other))
  }
})

t.test('the order of the filters in the query does not matter', async (t) => {
  const [given, turned] = [
    { from: 'x', to: 'y', limit: '1' },
    { limit: '1', to: 'y', from: 'x' },
  ]
  t.equal(readList(given, byIdList).page.binding, readList(turned, byIdList).page.binding)
})
