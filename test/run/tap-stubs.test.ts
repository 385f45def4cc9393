import t from 'tap'

t.test('a date in a pattern is the same time', async (t) => {
  const found = { at: new Date(1), name: 'x' }
  t.match(found, { at: new Date(1) })
  t.match(found, { at: Date })
  t.match(found, { at: new Date(1).toISOString() })
  t.notMatch(found, { at: new Date(2) })
  t.notMatch([found], [{ at: new Date(2), name: 'x' }])
})
