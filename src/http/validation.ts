import type { TSchema } from 'typebox'
import { currencyPattern } from '#src/runtime/currencies.ts'
import { idFilterPattern } from './lists/query.ts'
import type { FieldError, Place } from './problems.ts'
import {
  EntityTags,
  explanationOf,
  IdParams,
  Line,
  OptionalLine,
  OptionalText,
  PageQuery,
  Text,
  Uuid,
  VisibleAscii,
} from './schemas.ts'

/** A failed keyword of a schema, as ajv reports it. */
export type KeywordError = {
  keyword: string
  /** JSON pointer (RFC 6901) to the value. */
  instancePath: string
  schemaPath: string
  params: Record<string, unknown>
}

/** Errors that a response lists; further ones are left out. */
export const maxListedErrors = 20
// Bounds the work for a body full of mistakes.
const maxReadErrors = 200
// A pointer can end in a field name that the client chose.
const maxPointerLength = 200

/** One error for each refused value, in the order of the schema. */
export function toFieldErrors(place: Place, errors: readonly KeywordError[]): FieldError[] {
  const found = new Map<string, FieldError>()
  for (const error of mergeAlternatives(errors.slice(0, maxReadErrors))) {
    const pointer = pointerOf(error)
    // The first failed keyword of a value explains it best: a list too long, then its pattern.
    if (found.has(pointer)) continue
    found.set(pointer, { in: place, pointer, detail: textOf(error, place) })
  }
  return [...found.values()]
}

/** What a problem says about these errors in one sentence. */
export function describeErrors(errors: readonly FieldError[]): string | undefined {
  const [first] = errors
  if (first === undefined) return undefined
  const others = errors.length - 1
  const value = first.pointer === '' ? `The ${first.in}` : `${first.pointer} in the ${first.in}`
  const more =
    others === 0 ? '' : ` The other ${others === 1 ? 'error is' : 'errors are'} in \`errors\`.`
  return `${value} ${first.detail}.${more}`
}

function pointerOf({ instancePath, params }: KeywordError): string {
  const field = params.additionalProperty ?? params.missingProperty
  const last =
    typeof field === 'string' ? `/${field.replaceAll('~', '~0').replaceAll('/', '~1')}` : ''
  const pointer = `${instancePath}${last}`
  return pointer.length > maxPointerLength ? `${pointer.slice(0, maxPointerLength)}…` : pointer
}

type Wording = (params: Record<string, unknown>, place: Place) => string

const fields: Readonly<Record<Place, string>> = {
  path: 'path parameter',
  query: 'query parameter',
  header: 'header',
  body: 'field',
}

/** The text for each keyword. `null` in a type is added by `mergeAlternatives`. */
const wordings: Readonly<Record<string, Wording>> = {
  required: () => 'is required',
  additionalProperties: (_params, place) => `is not a known ${fields[place]}`,
  // Each query parameter is a text; one that is there twice is a list.
  type: ({ type }, place) =>
    place === 'query' && type === 'string'
      ? 'must be given only once'
      : `must be ${[type].flat().map(typeName).join(' or ')}`,
  enum: ({ allowedValues }) => `must be one of ${listOf(allowedValues)}`,
  const: ({ allowedValue }) => `must be ${String(allowedValue)}`,
  minLength: ({ limit }) =>
    limit === 1 ? 'must not be empty' : `must have at least ${limit} characters`,
  maxLength: ({ limit }) => `must have at most ${limit} characters`,
  minItems: ({ limit }) => `must have at least ${count(limit, 'item')}`,
  maxItems: ({ limit }) => `must have at most ${count(limit, 'item')}`,
  uniqueItems: () => 'must not have the same item twice',
  minProperties: ({ limit }) => `must have at least ${count(limit, 'field')}`,
  maxProperties: ({ limit }) => `must have at most ${count(limit, 'field')}`,
  minimum: ({ limit }) => `must be at least ${limit}`,
  maximum: ({ limit }) => `must be at most ${limit}`,
  exclusiveMinimum: ({ limit }) => `must be more than ${limit}`,
  exclusiveMaximum: ({ limit }) => `must be less than ${limit}`,
  multipleOf: ({ multipleOf }) => `must be a multiple of ${multipleOf}`,
  format: ({ format }) => formats[String(format)] ?? `must have the format ${format}`,
  pattern: ({ pattern }) => patternText(String(pattern)),
  oneOf: ({ names }) =>
    names === undefined
      ? 'has fields that exclude each other'
      : `must have exactly one of ${listOf(names)}`,
  anyOf: () => 'has none of the accepted forms',
  not: () => 'has fields that exclude each other',
}

function textOf({ keyword, params }: KeywordError, place: Place): string {
  const text = wordings[keyword]?.(params, place) ?? 'is not valid'
  return params.nullable === true ? `${text} or null` : text
}

const types: Readonly<Record<string, string>> = {
  string: 'a string',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  null: 'null',
}

function typeName(type: unknown): string {
  return types[String(type)] ?? String(type)
}

const formats: Readonly<Record<string, string>> = {
  uuid: 'must be a UUID in lower case',
  'date-time': 'must be a time such as 2026-01-31T09:00:00Z (RFC 3339)',
  date: 'must be a date of the calendar such as 2026-01-31',
  email: 'must be an email address',
}

/** Texts for the patterns of request schemas. A test finds those that are missing. */
const patterns: ReadonlyMap<string | undefined, string> = new Map([
  [patternOf(Line(1)), 'must be one line that is not blank, without control or hidden characters'],
  [patternOf(OptionalLine(1)), 'must be one line without control or hidden characters'],
  [patternOf(Text(1)), 'must not be blank, and must have no NUL and no lone surrogates'],
  [patternOf(OptionalText(1)), 'must have no NUL and no lone surrogates'],
  [currencyPattern, 'must be a currency code of ISO 4217, such as EUR'],
  [patternOf(Uuid), 'must be a UUID in lower case'],
  [patternOf(IdParams.properties.id), 'must be a whole number without sign or leading zeros'],
  [idFilterPattern, 'must be a whole number without sign or leading zeros'],
  [patternOf(PageQuery.properties.limit), 'must be a whole number from 1 to 100'],
  [patternOf(VisibleAscii(1)), 'must have only visible ASCII characters, and no spaces'],
  [patternOf(EntityTags), 'must be *, or ETags in double quotes, separated by commas'],
  ['^[0-9]{4}$', 'must be four digits'],
  ['^[A-Z]{2}$', 'must be two capital letters'],
  ['^[a-z][a-z0-9_]*$', 'must be a lower-case name: letters, digits and _, first a letter'],
  ['^[a-z][a-z-]{0,63}$', 'must be a lower-case name of letters and hyphens, first a letter'],
  [
    '^[a-z0-9_-]+(\\.[a-z0-9_-]+)*$',
    'must be lower-case words of letters, digits, _ and -, divided by full stops',
  ],
  ['^[0-9A-Za-z_-]{1,64}$', 'must be 1 to 64 letters, digits, _ or -'],
  ['^[ -~]{1,255}$', 'must have 1 to 255 printable ASCII characters'],
  ['^[^\\p{C}\\p{Zl}\\p{Zp}]+$', 'must be one line without control or hidden characters'],
  [
    '^([1-5][0-9]{2}|[1-5]xx|none)$',
    'must be a status such as 404, a class such as 4xx, or none for no response',
  ],
])

function patternOf(schema: TSchema & { pattern?: string }): string | undefined {
  return schema.pattern
}

const longestShownPattern = 40

function patternText(pattern: string): string {
  const isShort = pattern.length <= longestShownPattern
  return (
    patterns.get(pattern) ??
    explanationOf(pattern) ??
    (isShort ? `must match ${pattern}` : 'does not have the required form')
  )
}

function listOf(values: unknown): string {
  return Array.isArray(values) ? values.map(String).join(', ') : ''
}

function count(limit: unknown, noun: string): string {
  return limit === 1 ? `one ${noun}` : `${limit} ${noun}s`
}

/**
 * With alternatives (`anyOf`, `oneOf`), ajv reports the errors of each branch and then that none fits.
 * Null as an alternative is folded into the other branch, an empty text says nothing, constants become one
 * list of values.
 */
function mergeAlternatives(errors: readonly KeywordError[]): KeywordError[] {
  const parents = errors.filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf')
  return parents.reduce(mergeBranches, [...errors])
}

function mergeBranches(errors: KeywordError[], parent: KeywordError): KeywordError[] {
  const isWithin = ({ schemaPath, instancePath }: KeywordError) =>
    schemaPath.startsWith(`${parent.schemaPath}/`) && instancePath.startsWith(parent.instancePath)
  const within = errors.filter(isWithin)
  const isNull = ({ keyword, params }: KeywordError) => keyword === 'type' && params.type === 'null'
  // A form sends '' for what was left empty.
  const isEmpty = ({ keyword, params }: KeywordError) =>
    keyword === 'const' && params.allowedValue === ''
  const others = within.filter((error) => !isNull(error) && !isEmpty(error))
  const merged = mergeOthers(parent, others, within.some(isNull))
  return errors.flatMap((error) => {
    if (error === parent) return merged
    return within.includes(error) ? [] : [error]
  })
}

function mergeOthers(
  parent: KeywordError,
  others: readonly KeywordError[],
  nullable: boolean,
): KeywordError[] {
  const branches = new Set(
    others.map(({ schemaPath }) => schemaPath.slice(parent.schemaPath.length + 1).split('/', 1)[0]),
  )
  if (branches.size === 1) return others.map((error) => withNull(error, parent, nullable))
  const all = (keyword: string) =>
    others.length > 0 && others.every((one) => one.keyword === keyword)
  if (all('const')) {
    const allowedValues = others.map(({ params }) => params.allowedValue)
    return [{ ...parent, keyword: 'enum', params: { allowedValues, nullable } }]
  }
  if (parent.keyword === 'oneOf' && all('required')) {
    const names = others.map(({ params }) => params.missingProperty)
    return [{ ...parent, params: { names } }]
  }
  return [parent]
}

function withNull(error: KeywordError, parent: KeywordError, nullable: boolean): KeywordError {
  const isWhole = error.instancePath === parent.instancePath && error.keyword === 'type'
  return nullable && isWhole ? { ...error, params: { ...error.params, nullable } } : error
}
