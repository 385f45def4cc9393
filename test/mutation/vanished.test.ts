import { fileURLToPath } from 'node:url'
import t from 'tap'
import { createDatabase } from '#test/support/database/database.ts'
import { findDatabaseMutants } from './database-mutants.ts'
import { carryOut, form } from './hunt.ts'
import { findSourceMutants } from './source-mutants.ts'

t.test('everything that the mutation run looks for is there', async (t) => {
  const { superuserUrl } = await createDatabase(t)
  const root = fileURLToPath(new URL('../..', import.meta.url))
  t.strictSame((await findSourceMutants(root)).vanished, [], 'in the tree')
  t.strictSame((await findDatabaseMutants(superuserUrl)).vanished, [], 'in the database')
})

t.test('a form or a file in which nothing is found any more is named', async (t) => {
  const [lock, owner, shared] = [
    form(/FOR SHARE/g, ''),
    form(/owner = 1/g, 'true'),
    form(/if/g, ''),
  ]
  const file = (name: string, text: string) => ({ name, texts: [{ name, text }] })
  const { found, vanished } = carryOut([
    {
      name: 'a',
      groups: [file('one', 'if owner = 1'), file('two', 'nothing')],
      forms: [lock, owner, shared],
    },
    { name: 'b', groups: [file('three', 'owner = 1')], forms: [owner, shared] },
    { name: 'c', groups: [{ name: 'no file', texts: [] }], forms: [owner] },
  ])
  t.strictSame(vanished, ['a: nothing in two', 'c: nothing in no file', 'a: /FOR SHARE/g'])
  t.strictSame(
    found.map(({ finds }) => finds.map(({ name, cut }) => `${name} ${cut.name}`)),
    [['one 1: owner = 1', 'one 1: if'], ['three 1: owner = 1'], []],
  )
})
