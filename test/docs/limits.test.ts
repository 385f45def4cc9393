import { globSync } from 'node:fs'
import t from 'tap'
import { readPage, root } from './page.ts'

/*
 * The table of every limit in docs/security.md is true: the code has the name and the figure, the test
 * exists, and no limit is missing.
 */

/** A limit that refuses, counts or shares is made by one of these. */
const makesLimit =
  /new Problem\('too-many-requests'|create(?:KeyedLimit|ByteBudget|TenantShares|SlowTime|AddressLimit|HostBudget|Slots)\(|const mostTenants =|const max(?:Open|Mails|Links|Portal|Tokens|ServiceTokens|Endpoints|AppTypes|KeysOfPart|KeptLength|PageBytes|Waiting)\w* =/

/** They define what a limit is, answer for one, or use the limit of another file. */
const mechanisms = [
  'plugins/http/errors.ts',
  'src/db/connections/tenant-share.ts',
  'src/db/database.ts',
  'src/runtime/byte-budget.ts',
  'src/runtime/keyed-limit.ts',
  'src/webhooks/checks/slow-time.ts',
  'src/webhooks/client/client.ts',
  'src/webhooks/delivery/dispatch.ts',
]

type Row = { figure: string; name: string; code: string; title: string; test: string }

const rowForm =
  /^\| .+ \| (?<figure>.+) \| .+ \| .+ \| \[`(?<name>\w+)`\]\(\.\.\/(?<code>[^)]+)\) \| \[(?<title>.+)\]\(\.\.\/(?<test>[^)]+)\) \|$/

async function readRows(): Promise<Row[]> {
  const page = await readPage('docs/security.md')
  const [, section = ''] = page.split('\n### Every limit\n')
  const [, table = ''] = section.split('|---|---|---|---|---|---|\n')
  const [lines = ''] = table.split('\n\n')
  return lines.split('\n').map((line) => {
    const { groups } = rowForm.exec(line) ?? {}
    if (groups === undefined) throw new Error(`The row is in another form: ${line}`)
    return groups as Row
  })
}

t.test('each row names the code that defines the limit, with its figure', async (t) => {
  const rows = await readRows()
  t.ok(rows.length > 40, `${rows.length} rows`)
  for (const { name, code, figure } of rows) {
    const text = await readPage(code)
    t.match(text, new RegExp(`\\b${name}\\b`), `${code} has ${name}`)
    const [, value] = new RegExp(`\\b${name} = ([\\d_]+)(?![\\d_.])`).exec(text) ?? []
    if (value === undefined) continue
    const shown = Number(value.replaceAll('_', '')).toLocaleString('en')
    t.ok(figure.split(/, |[ ;]/).includes(shown), `${name} is ${shown}: ${figure}`)
  }
})

t.test('each row has a test of that title', async (t) => {
  for (const { title, test } of await readRows()) {
    t.ok((await readPage(test)).includes(`'${title}'`), `${test}: ${title}`)
  }
})

t.test('each limit has a row', async (t) => {
  const known = new Set((await readRows()).map(({ code }) => code))
  const files = globSync('{src,plugins,routes}/**/*.ts', {
    cwd: root,
    exclude: ['src/db/generated/**'],
  })
  const found: string[] = []
  for (const file of files) {
    if (!mechanisms.includes(file) && makesLimit.test(await readPage(file))) found.push(file)
  }
  t.ok(found.length > 20, `${found.length} files`)
  t.strictSame(
    found.filter((file) => !known.has(file)),
    [],
  )
})
