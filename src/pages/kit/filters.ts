import Type, { type TObject, type TSchema } from 'typebox'
import { Problem } from '#src/http/problems.ts'
import { isStorableTimeText } from '#src/http/times.ts'
import { inWords } from '#src/runtime/words.ts'
import { filterBar } from './components.ts'
import { type Cell, type Html, html } from './html.ts'
import { choices, listHref } from './list.ts'

/*
 * The filters of a list, made from the query of its route in the API: the page has the same parameters. Each may be
 * empty, because a form also sends its empty fields.
 */

/** The query of a list's route in the API. */
export type ListQuery = Pick<TObject, 'properties'>

/** How a filter looks beside its schema. */
export type FilterLook = {
  readonly label?: string
  /** The choice of no value. */
  readonly all?: string
  /** The values to choose from; without them those of the schema, in words. */
  readonly options?: readonly { readonly value: string; readonly label: Cell }[]
  /** Attributes of the input. */
  readonly attributes?: Readonly<Record<string, string | number>>
  /** It has no input: a link sets it, and the list says so. */
  readonly isKept?: true
}

/** By the name of the parameter; a range has that of its field, and `created` is `from` and `to`. */
export type FilterLooks = Readonly<Record<string, FilterLook>>

/** What a list is filtered by, as the API takes it, with its search and its order. */
export type Used = Readonly<Record<string, string>>

const noFilters = ['limit', 'cursor', 'after', 'count', 'expand']

/** What a browser sends of a time, which is in UTC here. */
const localTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?$/

/** The parameters of a page for those of a query of the API. */
export function filterSchemasOf(query: ListQuery): Record<string, TSchema> {
  const schemas = namesIn(query).map((name): [string, TSchema] => {
    const schema = query.properties[name] ?? Type.String()
    const local = isTime(schema) ? [Type.String({ pattern: localTime.source })] : []
    return [name, Type.Optional(Type.Union([Type.Literal(''), ...local, schema]))]
  })
  return Object.fromEntries(schemas)
}

/**
 * The filters that are in use.
 * @throws Problem `malformed` for a time that is none, such as 30 February
 */
export function readFilters(
  query: ListQuery,
  given: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const [newest] = valuesOf(query.properties.sort)
  const used = namesIn(query).flatMap((name): [string, string][] => {
    const text = given[name]?.trim() ?? ''
    if (text === '' || (name === 'sort' && text === newest)) return []
    return [[name, isTime(query.properties[name]) ? timeOf(name, text) : text]]
  })
  return Object.fromEntries(used)
}

function namesIn({ properties }: ListQuery): string[] {
  return Object.keys(properties).filter((name) => !noFilters.includes(name))
}

function timeOf(name: string, text: string): string {
  if (!localTime.test(text)) return text
  const at = `${text}Z`
  const time = isStorableTimeText(at) ? new Date(at).toISOString() : ''
  // A Date makes 2 March of 30 February.
  if (time.startsWith(text.slice(0, 16))) return time
  throw new Problem('malformed', { detail: `\`${name}\` must be a date and a time.` })
}

function isTime(schema: TSchema | undefined): boolean {
  return Object(schema).format === 'date-time'
}

/** The values of a schema that has some. */
function valuesOf(schema: TSchema | undefined): string[] {
  return Object(schema).enum ?? []
}

export function isFiltered(used: Used): boolean {
  return Object.keys(used).some((name) => name !== 'sort')
}

/** A list and what it is filtered by. */
export type FilteredList = {
  /** Path of the page, without a query. */
  readonly path: string
  readonly query: ListQuery
  readonly used: Used
  readonly looks?: FilterLooks
}

/** The search, the filters and the order of a list; ranges are folded away until one is in use. */
export function filtersOf(list: FilteredList): Html {
  const names = namesIn(list.query)
  const ranges = rangesIn(names)
  const inRange = ranges.flatMap((range) => range.names)
  const fields = names
    .filter((name) => !inRange.includes(name))
    .toSorted((one, other) => Number(isSearch(other)) - Number(isSearch(one)))
    .map((name) => fieldOf(list, name))
  const isOpen = inRange.some((name) => list.used[name] !== undefined)
  const folded =
    ranges.length === 0
      ? ''
      : html`<details class="more"${isOpen ? html` open` : ''}><summary>Ranges</summary>
            ${ranges.map((range) => rangeOf(list, range))}
            <button class="button plain slim">Apply</button>
          </details>`
  if (names.length === 0) return html``
  return filterBar(list.path, html`${fields}${folded}`, isFiltered(list.used))
}

function fieldOf(list: FilteredList, name: string): Html {
  const { query, used, looks = {} } = list
  const { label = labelOf(name), all, isKept, options, attributes } = looks[name] ?? {}
  const value = used[name] ?? ''
  if (name === 'sort') return orderOf(query, value, options)
  if (isKept || name.endsWith('[in]')) {
    return value === '' ? html`` : keptOf(list, name, label)
  }
  const values = valuesOf(query.properties[name])
  const offered = options ?? values.map((one) => ({ value: one, label: inWords(one) }))
  if (offered.length > 0 || options !== undefined) {
    // A value that is not among those offered is one of a link, such as a row older than them.
    const isOffered = value === '' || offered.some((one) => one.value === value)
    const every = isOffered ? offered : [{ value, label: value }, ...offered]
    return choices(name, label, all ?? `Every ${label.toLowerCase()}`, every, value)
  }
  return inputOf(query.properties[name], {
    ...{ name, value, placeholder: label, 'aria-label': label },
    ...(isSearch(name) && { type: 'search' }),
    ...attributes,
  })
}

function isSearch(name: string): boolean {
  return name === 'q' || name === 'search'
}

function orderOf(query: ListQuery, value: string, options: FilterLook['options']): Html {
  const [, ...others] = valuesOf(query.properties.sort)
  const oldest = others.map((one) => ({ value: one, label: 'Oldest first' }))
  return choices('sort', 'Order', 'Newest first', options ?? oldest, value)
}

/** A filter without an input, with a link that removes it. */
function keptOf({ path, used }: FilteredList, name: string, label: string): Html {
  const { [name]: value = '', ...others } = used
  const words = value.split(',').join(', ')
  return html`<span class="kept"><input type="hidden" name="${name}" value="${value}">${label}: ${words} <a href="${listHref(path, others)}" aria-label="Remove the filter ${label}">Remove</a></span>`
}

type Range = { readonly key: string; readonly names: readonly string[] }

/** The fields that a list can be filtered by a range of, each with its parameters. */
function rangesIn(names: readonly string[]): Range[] {
  const keys = names.flatMap((name) => /^(.*)\[gte\]$/.exec(name)?.[1] ?? [])
  const ranges = keys.map((key) => ({ key, names: [key, `${key}[gte]`, `${key}[lt]`] }))
  return names.includes('from') ? [{ key: 'created', names: ['from', 'to'] }, ...ranges] : ranges
}

function rangeOf({ query, used, looks = {} }: FilteredList, { key, names }: Range): Html {
  const { label = labelOf(key), attributes } = looks[key] ?? {}
  const inUtc = names.some((name) => isTime(query.properties[name]))
  const inputs = names.map((name) => {
    const schema = query.properties[name]
    const words = endOf(name, schema)
    const value = shownValue(schema, used[name] ?? '')
    return html`<label>${words} ${inputOf(schema, { ...attributes, name, value })}</label>`
  })
  return html`<fieldset><legend>${label}${inUtc ? ' (UTC)' : ''}</legend><div class="row">${inputs}</div></fieldset>`
}

/** What an end of a range means. */
function endOf(name: string, schema: TSchema | undefined): string {
  const isCalendar = isTime(schema) || Object(schema).format === 'date'
  if (name === 'from' || name.endsWith('[gte]')) return isCalendar ? 'From' : 'At least'
  if (name === 'to' || name.endsWith('[lt]')) return isCalendar ? 'Before' : 'Less than'
  return 'Exactly'
}

/** A time as its input shows it. */
function shownValue(schema: TSchema | undefined, value: string): string {
  if (!isTime(schema) || value === '') return value
  return new Date(value).toISOString().replace(/(:00)?(\.000)?Z$/, '')
}

function inputOf(
  schema: TSchema | undefined,
  attributes: Readonly<Record<string, string | number>>,
): Html {
  const { maxLength, format } = Object(schema)
  const all = {
    ...(maxLength !== undefined && { maxlength: maxLength }),
    ...(format === 'date' && { type: 'date' }),
    ...(format === 'date-time' && { type: 'datetime-local', step: 'any' }),
    ...attributes,
  }
  const pairs = Object.entries(all).map(([key, value]) => html` ${key}="${value}"`)
  const isText = !('type' in all) || all.type === 'search'
  return html`<input${pairs}${isText ? html` data-search` : ''}>`
}

/** `Event type` of `eventType`, and of `eventType[in]` too. */
function labelOf(name: string): string {
  const [key = ''] = name.split('[')
  return inWords(key.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`))
}
