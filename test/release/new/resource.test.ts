import { readFile } from 'node:fs/promises'
import t from 'tap'
import { InputFault, readCommand } from '#src/release/new/input.ts'
import { editsOf } from '#src/release/new/resource.ts'

/* A new resource of an owner is what orders are, by the same statements of the database. */

const none = { rules: [], tables: [], models: [], paths: [], events: [] }

async function editsFor(...args: string[]) {
  const command = readCommand(args, none)
  if (command.kind !== 'add') throw new Error('The command adds nothing.')
  return editsOf(command.resource, '20260101000000')
}

/** What is written to a file. */
async function written(path: string): Promise<string> {
  const edits = await editsFor('bookmark', 'title:line:200', '--scope', 'owner')
  return edits.flatMap((edit) => (edit.path === path ? [edit.text] : [])).join('')
}

async function read(path: string): Promise<string> {
  return readFile(new URL(`../../../${path}`, import.meta.url), 'utf8')
}

/** The body of the first function in a script, without its white space. */
function bodyIn(script: string): string | undefined {
  return /\$\$(.*?)\$\$/s.exec(script)?.[1]?.replaceAll(/\s+/g, ' ')
}

t.test('the function that enters the tenant of a row is that of orders', async (t) => {
  const [, ofOrders = ''] = (await read('prisma/functions/credentials.sql')).split(
    'FUNCTION enter_order_tenant',
  )
  const expected = bodyIn(ofOrders)
    ?.replaceAll('public.orders o', 'public.bookmarks r')
    .replaceAll(/\bo\./g, 'r.')
    .replaceAll('order_id', 'row_id')
  t.equal(bodyIn(await written('prisma/functions/bookmarks.sql')), expected)
})

t.test('its sections of the downloads are those of orders', async (t) => {
  const path = 'prisma/functions/export.sql'
  const sections = (text: string, table: string) =>
    [...text.matchAll(new RegExp(`^  \\('\\w+', '${table}', '${table}',[^)]*.*?\\),$`, 'gms'))]
      .map(([section]) => section.replaceAll(/\s+/g, ' ').replaceAll("'{}'::text[]", "'{}'"))
      .map((section) => section.replaceAll('bookmarks', 'orders'))
      .toSorted()
  const ofOrders = sections(await read(path), 'orders')
  t.equal(ofOrders.length, 2, 'of a person, and of a tenant')
  t.strictSame(sections(await written(path), 'bookmarks'), ofOrders)
})

t.test(
  'a table whose indexes PostgreSQL would name otherwise than Prisma is refused',
  async (t) => {
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
  },
)
