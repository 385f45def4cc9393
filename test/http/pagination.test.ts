import t from 'tap'
import { pageOf, readPage } from '#src/http/pagination.ts'
import { Problem } from '#src/http/problems.ts'

const forms = [/^\d+$/, /^[a-z]+$/]
const rows = Array.from({ length: 7 }, (_, index) => ({ id: index, name: 'row' }))
const page = (limit: number, after: readonly string[] | null = null) => ({ limit, after })

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
  t.same(readPage({ limit: '2', cursor: nextCursor ?? '' }, 'things', forms), page(2, ['1', 'row']))
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
  t.same(readPage({}, 'things', forms), page(50))
})

t.test(
  'a cursor that was modified, belongs to another list or has another format is malformed',
  async (t) => {
    const cursor = first().nextCursor ?? ''
    const refused = (text: string, list = 'things', of = forms) =>
      t.throws(
        () => readPage({ cursor: text }, list, of),
        new Problem('malformed', { detail: 'The cursor does not belong to this list.' }),
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
