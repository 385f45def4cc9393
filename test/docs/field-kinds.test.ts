import { readFile } from 'node:fs/promises'
import t from 'tap'
import Type from 'typebox'
import { exampleOf } from '#src/http/openapi/examples.ts'
import { columns } from '#src/resources/kit/fields/columns.ts'
import type { Field } from '#src/resources/kit/fields/field.ts'
import { json } from '#src/resources/kit/fields/json.ts'
import { member } from '#src/resources/kit/fields/keys/member.ts'
import { reference } from '#src/resources/kit/fields/keys/reference.ts'
import { currency } from '#src/resources/kit/fields/numbers/currency.ts'
import { decimal } from '#src/resources/kit/fields/numbers/decimal.ts'
import { flag } from '#src/resources/kit/fields/numbers/flag.ts'
import { integer } from '#src/resources/kit/fields/numbers/integer.ts'
import { money } from '#src/resources/kit/fields/numbers/money.ts'
import { choice } from '#src/resources/kit/fields/texts/choice.ts'
import { email } from '#src/resources/kit/fields/texts/email.ts'
import { line } from '#src/resources/kit/fields/texts/line.ts'
import { lines } from '#src/resources/kit/fields/texts/lines.ts'
import { text } from '#src/resources/kit/fields/texts/text.ts'
import { url } from '#src/resources/kit/fields/texts/url.ts'
import { date } from '#src/resources/kit/fields/times/date.ts'
import { timestamp } from '#src/resources/kit/fields/times/timestamp.ts'

const kinds: Readonly<Record<string, Field>> = {
  'line(200)': line(200),
  'text(5_000)': text(5_000),
  "choice('open', 'done')": choice('open', 'done'),
  'email()': email(),
  'url()': url(),
  'lines(20, 100)': lines(20, 100),
  'integer()': integer(),
  'decimal(8, 2)': decimal(8, 2),
  'money()': money(),
  "currency('EUR')": currency('EUR'),
  'flag()': flag(),
  'date()': date(),
  'timestamp()': timestamp(),
  "reference('project', { onDelete: 'cascade' })": reference('project', { onDelete: 'cascade' }),
  'member()': member(),
  'json(shown, written)': json(Type.Object({}), Type.Object({})),
}

t.test('docs/fields.md has every kind of field as it is', async (t) => {
  const page = await readFile(new URL('../../docs/fields.md', import.meta.url), 'utf8')
  const [kindsOfPage = ''] = page.split('\n## ')
  const found = [...kindsOfPage.matchAll(/^\| (`\w+\(.*) \|$/gm)].map(([row]) => row)
  t.strictSame(
    found,
    Object.entries(kinds).map(([name, field]) => rowOf(name, field)),
  )
})

function rowOf(name: string, field: Field): string {
  const { column, columnType, written, control, filter, oneOf, hasOrder } = field
  const example = exampleOf(JSON.parse(JSON.stringify(written)), '')
  const input = control?.attributes?.type ?? control?.attributes?.inputmode ?? 'text'
  const asked = { line: `\`${input}\``, area: 'several lines', choice: 'a choice' }
  const filters = [
    ...(filter === null ? [] : ['one value']),
    ...(oneOf === undefined ? [] : ['several']),
    ...(hasOrder && filter !== null ? ['a range'] : []),
  ]
  const cells = [
    `\`${name}\``,
    `\`${columnType ?? columns[column].spelled}\``,
    `\`${JSON.stringify(example)}\``,
    control === null ? '–' : asked[control.as],
    filters.length === 0 ? '–' : filters.join(', '),
    hasOrder ? 'yes' : '–',
    column === 'text' && control?.as === 'line' ? 'yes' : '–',
  ]
  return `| ${cells.join(' | ')} |`
}
