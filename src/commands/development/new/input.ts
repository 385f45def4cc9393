import { titleOf } from '#src/resources/kit/names.ts'
import { type Facts, isKind, type Kind, kinds } from './kinds.ts'

/** A field as the command names it: `title:line:200:optional`. */
export type NewField = {
  readonly key: string
  readonly kind: Kind
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
  readonly events: readonly string[]
  /** Whether there is a route of the API or a page. */
  isRouted(path: string): boolean
}

export type Options = {
  readonly scope: NewResource['scope']
  readonly plural?: string
  readonly page?: string | null
}

/** A fault of the command line, with what to do about it. */
export class InputFault extends Error {}

/** @throws InputFault that names the argument and what is accepted */
export function readResource(
  given: string,
  texts: readonly string[],
  { scope, plural, page = null }: Options,
  taken: Taken,
): NewResource {
  const name = readName(given)
  const table = plural ?? pluralOf(name)
  if (!/^[a-z]+(_[a-z]+)*$/.test(table) || table.length > 40) {
    throw new InputFault(
      `--plural ${table}: use lower-case words with underscores, at most 40 characters.`,
    )
  }
  if (page !== null && !/^[A-Za-z][A-Za-z0-9 -]{0,39}$/.test(page)) {
    throw new InputFault(
      `--page ${page}: use letters, digits, spaces and hyphens, at most 40 characters.`,
    )
  }
  const fields = texts.map(readField)
  const doubled = fields.find(
    ({ key }, index) => fields.findIndex((one) => one.key === key) < index,
  )
  if (doubled !== undefined) throw new InputFault(`${doubled.key}: the field is named twice.`)
  if (!fields.some(({ kind, isOptional }) => kind === 'line' && !isOptional)) {
    throw new InputFault('Name at least one line that is not optional, such as title:line:200.')
  }
  const ofMember = fields.find(({ kind }) => kind === 'member')
  if (scope === 'owner' && ofMember !== undefined) {
    throw new InputFault(`${ofMember.key}: rows of an owner name no member of a tenant.`)
  }
  const resource: NewResource = { name, table, scope, page, fields }
  refuseTaken(resource, taken)
  return resource
}

function readName(name: string): string {
  if (!/^[a-z]+(-[a-z]+)*$/.test(name) || name.length > 30) {
    throw new InputFault(`${name}: use lower-case words with hyphens, at most 30 characters.`)
  }
  if (reserved.has(name))
    throw new InputFault(`${name}: the word is reserved. Choose another name.`)
  return name
}

const ownKeys = [
  ...['id', 'tenantId', 'userId', 'teamId', 'folderId', 'authorId', 'createdAt', 'updatedAt'],
  ...['cursor', 'limit', 'sort', 'from', 'to', 'done', 'version', 'submission', 'sender'],
  // Conditions read the department of the caller.
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
  if (!isKind(kind)) throw fail(`the kinds are ${Object.keys(kinds).join(', ')}.`)
  const { longest, hasWords, isOfMembers }: Facts = kinds[kind]
  if (isOfMembers && !(isOptional && /.Id$/.test(key))) {
    throw fail('a member is optional, and its name ends in Id, such as assigneeId:member:optional.')
  }
  if (longest !== undefined) {
    const limit = /^[1-9]\d{0,5}$/.test(value ?? '') ? Number(value) : 0
    if (limit === 0 || limit > longest) {
      throw fail(`a ${kind} needs its greatest length, from 1 to ${longest}.`)
    }
    return { ...common, kind, limit }
  }
  if (!hasWords) {
    if (value !== undefined) throw fail(`${kind} takes nothing further.`)
    return { ...common, kind }
  }
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
  const path = `/${table.replaceAll('_', '-')}`
  const routed = [path, `/app${path}`].find((one) => taken.isRouted(one))
  if (routed !== undefined) throw refuse(`the path ${routed} exists already.`)
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
