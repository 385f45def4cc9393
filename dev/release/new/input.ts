import { parseArgs } from 'node:util'
import { titleOf } from '#src/resources/kit/define.ts'

/** A field as the command names it: `title:line:200:optional`. */
export type NewField = {
  readonly key: string
  readonly kind: 'line' | 'text' | 'choice' | 'integer' | 'flag'
  /** The maximum length, or the words of a choice. */
  readonly limit: number
  readonly words: readonly string[]
  readonly isOptional: boolean
}

export type NewResource = {
  readonly name: string
  /** The table. */
  readonly table: string
  readonly scope: 'owner' | 'tenant' | 'chain'
  /** The label of its pages; null for none. */
  readonly page: string | null
  readonly fields: readonly NewField[]
}

/** What exists already, that a new resource must not be called. */
export type Taken = {
  readonly rules: readonly string[]
  readonly tables: readonly string[]
  /** Titles of schemas in the API description. */
  readonly schemas: readonly string[]
  /** First segments of paths of the API and the pages. */
  readonly paths: readonly string[]
  readonly events: readonly string[]
}

export type Command =
  | { readonly kind: 'add'; readonly resource: NewResource }
  | { readonly kind: 'remove'; readonly name: string }

export const usage = `npm run new -- NAME FIELD… --scope owner|tenant|chain [--plural NAMES] [--page LABEL]
npm run new -- --remove NAME

FIELD  title:line:200, details:text:5000, status:choice:open/done, priority:integer, urgent:flag
       with :optional at the end if it may be missing`

/** A fault of the command line, with what to do about it. */
export class InputFault extends Error {}

/** @throws InputFault that names the argument and what is accepted */
export function readCommand(args: readonly string[], taken: Taken): Command {
  const { values, positionals } = parse(args)
  if (values.remove !== undefined) return { kind: 'remove', name: readName(values.remove) }
  const [first, ...rest] = positionals
  if (first === undefined) throw new InputFault(usage)
  const name = readName(first)
  const table = values.plural ?? pluralOf(name)
  if (!/^[a-z]+(_[a-z]+)*$/.test(table) || table.length > 40) {
    throw new InputFault(
      `--plural ${table}: use lower-case words with underscores, at most 40 characters.`,
    )
  }
  const { scope } = values
  if (scope !== 'owner' && scope !== 'tenant' && scope !== 'chain') {
    throw new InputFault(`--scope ${scope ?? ''}: use owner, tenant or chain.`)
  }
  const page = values.page ?? null
  if (page !== null && !/^[A-Za-z][A-Za-z0-9 -]{0,39}$/.test(page)) {
    throw new InputFault(
      `--page ${page}: use letters, digits, spaces and hyphens, at most 40 characters.`,
    )
  }
  const fields = rest.map(readField)
  const doubled = fields.find(
    ({ key }, index) => fields.findIndex((one) => one.key === key) < index,
  )
  if (doubled !== undefined) throw new InputFault(`${doubled.key}: the field is named twice.`)
  if (!fields.some(({ kind, isOptional }) => kind === 'line' && !isOptional)) {
    throw new InputFault('Name at least one line that is not optional, such as title:line:200.')
  }
  const resource: NewResource = { name, table, scope, page, fields }
  refuseTaken(resource, taken)
  return { kind: 'add', resource }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        scope: { type: 'string' },
        plural: { type: 'string' },
        page: { type: 'string' },
        remove: { type: 'string' },
      },
    })
  } catch (error) {
    throw new InputFault(`${error instanceof Error ? error.message : error}\n\n${usage}`)
  }
}

function readName(name: string): string {
  if (!/^[a-z]+(-[a-z]+)*$/.test(name) || name.length > 30) {
    throw new InputFault(`${name}: use lower-case words with hyphens, at most 30 characters.`)
  }
  if (reserved.has(name))
    throw new InputFault(`${name}: the word is reserved. Choose another name.`)
  return name
}

const limits = { line: 1_000, text: 100_000 } as const
const ownKeys = [
  ...['id', 'tenantId', 'userId', 'teamId', 'folderId', 'authorId', 'createdAt', 'updatedAt'],
  ...['cursor', 'limit', 'sort', 'from', 'to', 'done', 'version', 'submission', 'sender'],
  // The department of conditions.
  'department',
]

function readField(text: string): NewField {
  const parts = text.split(':')
  const isOptional = parts.at(-1) === 'optional'
  const [key = '', kind = '', value, ...more] = isOptional ? parts.slice(0, -1) : parts
  const fail = (words: string) => new InputFault(`${text}: ${words}`)
  if (!/^[a-z][A-Za-z0-9]{0,39}$/.test(key)) {
    throw fail('a field begins with a lower-case letter and has letters and digits, at most 40.')
  }
  if (ownKeys.includes(key)) throw fail(`the name ${key} is taken by the program.`)
  if (reserved.has(key.toLowerCase())) throw fail('the word is reserved. Choose another name.')
  if (more.length > 0) throw fail('there are too many parts.')
  const common = { key, isOptional, limit: 0, words: [] }
  if (kind === 'integer' || kind === 'flag') {
    if (value !== undefined) throw fail(`${kind} takes nothing further.`)
    return { ...common, kind }
  }
  if (kind === 'line' || kind === 'text') {
    const limit = /^[1-9]\d{0,5}$/.test(value ?? '') ? Number(value) : 0
    if (limit === 0 || limit > limits[kind]) {
      throw fail(`a ${kind} needs its greatest length, from 1 to ${limits[kind]}.`)
    }
    return { ...common, kind, limit }
  }
  if (kind !== 'choice') throw fail('the kinds are line, text, choice, integer and flag.')
  const words = (value ?? '').split('/')
  const isFit = words.every((word) => /^[a-z][a-z0-9-]{0,29}$/.test(word))
  if (!isFit || words.length < 2 || new Set(words).size < words.length) {
    throw fail('a choice needs two or more different words in lower case, such as open/done.')
  }
  return { ...common, kind, words }
}

function refuseTaken({ name, table }: NewResource, taken: Taken): void {
  const refuse = (words: string) =>
    new InputFault(`${name}: ${words} Choose another name or --plural.`)
  if (taken.rules.includes(name)) throw refuse(`the policy has rules for ${name} already.`)
  if (taken.schemas.includes(titleOf(name)))
    throw refuse(`the API description has ${titleOf(name)} already.`)
  if (taken.tables.includes(table)) throw refuse(`the table ${table} exists already.`)
  if (reserved.has(table)) throw refuse(`the word ${table} is reserved.`)
  const path = table.replaceAll('_', '-')
  if (taken.paths.includes(path)) throw refuse(`the path /${path} exists already.`)
  if (taken.events.some((type) => type.startsWith(`${name}.`))) {
    throw refuse(`there are events ${name}.… already.`)
  }
}

function pluralOf(name: string): string {
  const words = name.replaceAll('-', '_')
  if (/[^aeiou]y$/.test(words)) return `${words.slice(0, -1)}ies`
  return /(s|x|z|ch|sh)$/.test(words) ? `${words}es` : `${words}s`
}

/** Words of SQL (reserved in PostgreSQL), of JavaScript, and names that every table or object has. */
const reserved: ReadonlySet<string> = new Set(
  `all analyse analyze and any array as asc asymmetric authorization binary both case cast check collate
  collation column concurrently constraint create cross current_catalog current_date current_role
  current_schema current_time current_timestamp current_user default deferrable desc distinct do else end
  except false fetch for foreign freeze from full grant group having ilike in initially inner intersect into
  is isnull join lateral leading left like limit localtime localtimestamp natural not notnull null offset on
  only or order outer overlaps placing primary references returning right select session_user similar some
  symmetric system_user table tablesample then to trailing true union unique user using variadic verbose
  when where window with
  await break catch class const continue debugger delete enum export extends finally function if implements
  import instanceof interface let new package private protected public return static super switch this throw
  try typeof var void while yield
  cmax cmin ctid tableoid xmax xmin
  constructor prototype tostring valueof hasownproperty isprototypeof tolocalestring`
    .trim()
    .split(/\s+/),
)
