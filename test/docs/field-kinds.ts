import { readFile, writeFile } from 'node:fs/promises'
import t from 'tap'
import type { Statement } from '#src/db/connections/one-trip.ts'
import type { Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import type { Page } from '#src/http/lists/pagination.ts'
import { exampleOf } from '#src/http/openapi/examples.ts'
import type { Resource } from '#src/resources/kit/define.ts'
import { sectionOf } from '#src/resources/kit/derived.ts'
import { columnOf, pagePathOf, pathOf } from '#src/resources/kit/names.ts'
import { app } from '#src/resources/running-app.ts'
import { actionsOf } from '#src/rows/actions.ts'
import type { ListFilter } from '#src/rows/lists.ts'
import { prismaSchemaOf } from '#src/schema/app-tables/prisma-schema.ts'
import { build } from '#test/support/app/app.ts'
import { owner } from '#test/support/callers/token-owner.ts'
import { differentColumns } from '#test/support/database/difference.ts'
import { allowScopes } from '#test/support/database/scope.ts'
import { declared } from '#test/support/kinds-app/kinds.ts'

/*
 * The tables of docs/fields.md say what the running program does with each kind: each cell is an answer of its API,
 * its pages, its database or its export. TAP_SNAPSHOT=1 writes them.
 */

type Kind = (typeof declared)[number]

const test = await build(t)
const { admin } = test.database
const { user, send } = await owner(test, { role: 'admin' })
const enter = await allowScopes(test.database)
const project = (await send('POST', '/projects', { title: 'A fence' })).json()

/** The ids of rows differ from run to run, and the page has 1. */
const ids: Readonly<Record<string, number>> = { reference: project.id, member: user.userId }
const idOf = ({ words }: Kind) => ids[words.split('(')[0] ?? '']
const code = (text: string) => `\`${text}\``
const dash = (words: string) => (words === '' ? '–' : words)
const yes = (is: boolean) => (is ? 'yes' : '–')

/** A value of the kind, as a body has it. */
function exampleFor(kind: Kind): unknown {
  const { written } = kind.resource.fields[kind.writtenKey] ?? {}
  return idOf(kind) ?? exampleOf(JSON.parse(JSON.stringify(written)), kind.writtenKey)
}

function shown(kind: Kind, value: unknown): string {
  const id = idOf(kind)
  return code(JSON.stringify(value === id && id !== undefined ? 1 : value))
}

async function columnTypeOf({ resource, key }: Kind): Promise<string> {
  const { rows } = await admin.query(
    `SELECT format_type(atttypid, atttypmod) AS type FROM pg_attribute
     WHERE attrelid = $1::regclass AND attname = $2`,
    [resource.plural, columnOf(key)],
  )
  return String(rows[0]?.type).replace('timestamp(6)', 'timestamp')
}

/** The input of the form for a new row, which has a label. */
async function inputOf({ resource, key }: Kind): Promise<string> {
  if (resource.page === null) return ''
  const page = `${pagePathOf(resource)}/new`
  const { body } = await send('GET', page, undefined, { accept: 'text/html' })
  const [, form = ''] = body.split('<form class="form"')
  const [, tag, attributes = ''] =
    new RegExp(`<(input|textarea|select)( [^>]*name="${key}"[^>]*)>`).exec(form) ?? []
  if (tag === undefined) return ''
  t.match(form, /<label[^>]*>\s*Value/, `${resource.name}: the form names the field`)
  if (tag === 'textarea') return 'several lines'
  if (tag === 'select') return 'a choice'
  const [, type] = / type="([\w-]+)"/.exec(attributes) ?? []
  const [, mode] = / inputmode="([\w-]+)"/.exec(attributes) ?? []
  return code(type === undefined || type === 'text' ? (mode ?? 'text') : type)
}

/** What a list can be asked for, by the words of the page; each must find the row. */
const asked = (key: string, text: string): Record<string, Record<string, string>> => ({
  'one value': { [key]: text },
  several: { [`${key}[in]`]: text },
  'a range': { [`${key}[gte]`]: text },
  sort: { sort: key },
  search: { q: text },
})

async function answersTo({ resource, key }: Kind, value: unknown): Promise<Set<string>> {
  const found = new Set<string>()
  for (const [words, query] of Object.entries(asked(key, String(value)))) {
    const answer = await send('GET', `${pathOf(resource)}?${new URLSearchParams(query)}`)
    if (answer.statusCode === 400) continue
    t.equal(answer.json().data.length, 1, `${resource.name}: ${words}`)
    found.add(words)
  }
  return found
}

/** Of these questions those that an index answers under row-level security. */
async function indexedOf({ resource, key }: Kind, value: unknown, questions: Set<string>) {
  const text = String(value)
  const found: string[] = []
  const byWord = /Index Cond: .*\bword >= q\w*\.word\) AND \(word < q\w*\.beyond\)/
  const isIn = new RegExp(`Index Cond: .*\\b${columnOf(key)}\\b`)
  for (const [words, { sort, q, ...filter }] of Object.entries<ListFilter & { sort?: string }>(
    asked(key, text),
  )) {
    if (!questions.has(words)) continue
    const [first, later] = await test.app.db.read(enter(user), async (tx) => {
      const off = sort === undefined ? 'seqscan' : 'sort'
      await tx.sql(Prisma.raw(`SET LOCAL enable_${off} = off`))
      const plan = (after: Page['after']) =>
        planOf(
          tx,
          resource,
          { limit: 50, after },
          { ...filter, ...(q !== undefined && { q }) },
          sort,
        )
      return [await plan(null), await plan([text, '1'])]
    })
    const isFound = q === undefined ? isIn.test(String(first)) : byWord.test(String(first))
    if (sort === undefined && isFound) found.push(words)
    if (sort !== undefined && !/ Sort |Seq Scan/.test(String(first))) found.push(words)
    if (sort !== undefined && isIn.test(String(later))) found.push('later pages')
  }
  return found
}

/** How PostgreSQL answers the statements of a list. */
async function planOf(
  tx: Tx,
  resource: Resource,
  page: Page,
  filter: ListFilter,
  sort: string | undefined,
): Promise<string> {
  const lines: string[] = []
  const explaining = Object.assign(Object.create(tx), {
    async sql({ text, values = [] }: Statement) {
      const rows = await tx.sql<object>({ text: `EXPLAIN ${text}`, values })
      lines.push(...rows.map((row) => Object.values(row).join()))
      return []
    },
  })
  const further = { sort, count: sort === undefined }
  await actionsOf(resource).list(explaining, { ...user, ...asking }, page, filter, further)
  return lines.join('\n')
}

const asking = { role: 'admin' }

/** Of several kinds of JSON, the one of the kind first. */
const wrong = [
  ...['none\nof these', 'none of these', '\u0000', 987_654_321, 0.5],
  ...[['a\nb'], { amount: 1, currency: 'XXX' }],
]

/** A value that the API refuses, and its words. */
async function refusalOf(
  { resource, key, writtenKey }: Kind,
  value: unknown,
): Promise<[string, string]> {
  const isLike = (one: unknown) =>
    typeof one === typeof value && Array.isArray(one) === Array.isArray(value)
  for (const one of wrong.toSorted((a, b) => Number(isLike(b)) - Number(isLike(a)))) {
    const answer = await send('POST', pathOf(resource), { [writtenKey]: value, [key]: one })
    if (answer.statusCode !== 400) continue
    const [error] = answer.json().errors
    t.ok(error.pointer.startsWith(`/${key}`), `${resource.name}: the pointer of the error`)
    return [JSON.stringify(one), error.detail]
  }
  throw new Error(`${resource.name} accepts everything.`)
}

/** The value in the export of the tenant. */
async function exportedOf({ resource, key }: Kind): Promise<string> {
  const { rows } = await admin.query(
    `SELECT (item -> $3)::text AS value FROM export_page('tenant', $1, NULL, $2, NULL, 100)`,
    [sectionOf(resource), user.tenantId, columnOf(key)],
  )
  return String(rows[0]?.value)
}

/** The rows of a kind in the two tables. */
async function rowsOf(kind: Kind): Promise<[string, string]> {
  const { resource, key, writtenKey, words } = kind
  const value = exampleFor(kind)
  const created = await send('POST', pathOf(resource), { [writtenKey]: value })
  t.equal(created.statusCode, 201, `${resource.name}: ${created.body}`)
  t.strictSame(created.json()[key], value, `${resource.name} as it was written`)
  const questions = await answersTo(kind, value)
  const indexed = await indexedOf(kind, value, questions)
  const filters = ['one value', 'several', 'a range'].filter((one) => questions.has(one))
  const again = await send('POST', pathOf(resource), { [writtenKey]: value })
  const exported = await exportedOf(kind)
  const refused = await refusalOf(kind, value)
  return [
    [
      ...[code(words), code(await columnTypeOf(kind)), shown(kind, value)],
      ...[dash(await inputOf(kind)), dash(filters.join(', '))],
      ...[yes(questions.has('sort')), yes(questions.has('search'))],
    ],
    [
      ...[code(words), code(refused[0]), refused[1]],
      ...[
        yes(again.statusCode === 409),
        dash(indexed.join(', ')),
        code(exported === String(idOf(kind)) ? '1' : exported),
      ],
    ],
  ].map((cells) => `| ${cells.join(' | ')} |`) as [string, string]
}

t.test('docs/fields.md says what the program does with each kind of field', async (t) => {
  const path = new URL('../../docs/fields.md', import.meta.url)
  const page = await readFile(path, 'utf8')
  const rows: [string, string][] = []
  for (const kind of declared) rows.push(await rowsOf(kind))
  const wanted = [0, 1].map((table) => rows.map((row) => `${row[table]}\n`).join(''))
  let place = 0
  const right = page.replace(
    /(?<=^\|(?:---\|)+\n)(?:\| `\w+\(.*\n)*/gm,
    (found) => wanted[place++] ?? found,
  )
  if (process.env.TAP_SNAPSHOT === '1') await writeFile(path, right)
  t.equal(page, right)
})

t.test('the schema for the typed client has the column of each kind', async (t) => {
  const content = prismaSchemaOf(app.resources)
  t.strictSame(await differentColumns(test.database.ownerUrl, content), [])
})
