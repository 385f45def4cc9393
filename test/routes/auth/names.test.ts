import t from 'tap'
import {
  buildWithProvider,
  type Journey,
  signInThrough,
} from '#test/support/provider/sign-in-journey.ts'

async function nameAfter(journey: Journey, claims: Record<string, unknown>) {
  journey.op.fault = { claims }
  await signInThrough(journey, { cookie: '' })
  const { rows } = await journey.database.admin.query('SELECT name FROM users')
  return rows.map(({ name }) => name)
}

t.test('a person has the name that the provider told at the latest sign-in', async (t) => {
  const journey = await buildWithProvider(t)
  t.same(await nameAfter(journey, { name: undefined }), [null])
  t.same(await nameAfter(journey, { name: '  Ada Okafor ' }), ['Ada Okafor'])
  t.same(await nameAfter(journey, { name: 'Ada King' }), ['Ada King'])
  t.same(await nameAfter(journey, { name: undefined }), ['Ada King'], 'no claim keeps it')
  t.same(await nameAfter(journey, { name: '   ' }), ['Ada King'], 'nor does an empty one')
  t.same(await nameAfter(journey, { name: 7 }), ['Ada King'], 'nor one that is no text')
  t.same(await nameAfter(journey, { name: 'ä'.repeat(250) }), ['ä'.repeat(200)])
})
