import t from 'tap'
import { InputFault, readCommand } from '#dev/release/new/input.ts'
import { editsOf } from '#dev/release/new/resource.ts'

const none = { rules: [], tables: [], schemas: [], paths: [], events: [] }

async function editsFor(...args: string[]) {
  const command = readCommand(args, none)
  if (command.kind !== 'add') throw new Error('The command adds nothing.')
  return editsOf(command.resource, '20260101000000')
}

t.test('a table whose indexes would have names that PostgreSQL cuts off is refused', async (t) => {
  const scoped = (scope: string, plural: string, ...fields: string[]) =>
    editsFor('note', 'title:line:200', ...fields, '--scope', scope, '--plural', plural)
  const choice = 'deliveryPriority:choice:low/high'
  for (const [scope, most, ...fields] of [
    ['chain', 27],
    ['tenant', 35],
    ['owner', 37],
    ['tenant', 28, choice],
  ] as const) {
    const edits = await scoped(scope, 'n'.repeat(most), ...fields)
    const names = edits.flatMap(({ text }) => [...text.matchAll(/INDEX (\w+) ON/g)])
    t.equal(Math.max(...names.map(([, name = '']) => name.length)), 63, `${scope} ${fields}`)
    const fault = new RegExp(`indexes of n{${most + 1}} would be 1 characters too long`)
    const refused = scoped(scope, 'n'.repeat(most + 1), ...fields)
    await t.rejects(refused, { constructor: InputFault, message: fault })
  }
})
