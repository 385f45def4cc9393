import t from 'tap'
import Type from 'typebox'
import { filtersOf, isFiltered, readFilters } from '#src/pages/kit/filters.ts'

const Time = Type.Optional(Type.String({ format: 'date-time' }))
const query = Type.Object({
  limit: Type.String(),
  cursor: Type.String(),
  from: Time,
  to: Time,
  status: Type.Optional(Type.Enum(['in-use', 'sold'])),
  'status[in]': Type.Optional(Type.String()),
  weight: Type.Optional(Type.String()),
  'weight[gte]': Type.Optional(Type.String()),
  'weight[lt]': Type.Optional(Type.String()),
  q: Type.Optional(Type.String({ maxLength: 100 })),
  sort: Type.Optional(Type.Enum(['-createdAt', 'createdAt'])),
  count: Type.Optional(Type.String()),
})

t.test('a query is read as the API takes it: without what is empty, times in UTC', async (t) => {
  const given = { status: '', q: ' a b ', cursor: 'x', count: 'true', sort: '-createdAt' }
  t.strictSame(readFilters(query, given), { q: 'a b' })
  const times = { from: '2026-01-31T10:00', to: '2026-02-01T00:00:00+02:00' }
  t.strictSame(readFilters(query, times), { from: '2026-01-31T10:00:00.000Z', to: times.to })
  for (const from of ['2026-02-30T10:00', '0000-01-01T00:00', '2026-01-01T25:00']) {
    t.throws(() => readFilters(query, { from }), { code: 'malformed' }, from)
  }
  t.equal(isFiltered({ sort: 'createdAt' }), false, 'an order is no filter')
  t.equal(isFiltered({ q: 'a' }), true)
})

t.test(
  'each parameter has an input, and what has none is shown with a way to remove it',
  async (t) => {
    const used = { 'status[in]': 'sold,<b>', 'weight[lt]': '2', sort: 'createdAt' }
    const looks = { 'status[in]': { label: 'Status' } }
    const { markup } = filtersOf({ path: '/list', query, used, looks })
    const names = [...markup.matchAll(/name="([^"]+)"/g)].map(([, name]) => name)
    t.strictSame(names, [
      'q',
      'status',
      'status[in]',
      'sort',
      'from',
      'to',
      'weight',
      'weight[gte]',
      'weight[lt]',
    ])
    t.match(markup, 'Status: sold, &lt;b&gt; <a href="/list?weight%5Blt%5D=2&amp;sort=createdAt"')
    t.match(markup, '<details class="more" open>')
    t.match(markup, '<option value="in-use">In use</option>')
    t.match(markup, '<legend>Created (UTC)</legend>')
    t.match(markup, '<option value="createdAt" selected>Oldest first</option>')
    const unused = filtersOf({ path: '/list', query, used: {} }).markup
    t.notMatch(unused, 'status[in]')
    t.notMatch(unused, 'open>')
    t.notMatch(unused, 'Clear filters')
  },
)
