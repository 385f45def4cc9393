import Type, { type TSchema } from 'typebox'
import { maxCounted } from '#src/http/lists/pagination.ts'
import { CreatedRange, SortBy } from '#src/http/lists/query.ts'
import { explained, means, PageOf, PageQuery } from '#src/http/schemas.ts'
import type { Field } from '#src/resources/kit/fields/field.ts'
import type { Further } from './lists.ts'
import { maxSearchedRows, SearchWords } from './search.ts'
import type { Declared } from './table.ts'

/** The query of a list, with further parameters. */
export function queryOf(resource: Declared, further: Record<string, TSchema> | null) {
  const { fields, filters } = resource
  const filtered = filters.flatMap((key) => filterQueryOf(key, fields[key]))
  return Type.Object(
    {
      ...PageQuery.properties,
      ...CreatedRange,
      ...(Object.fromEntries(filtered) as Record<string, TSchema>),
      ...searchQueryOf(resource),
      sort: sortOf(resource),
      count: Type.Optional(
        Type.Enum(['true'], { description: 'Counts the rows of all pages too' }),
      ),
      ...further,
    },
    { additionalProperties: false },
  )
}

export function furtherOf(
  { sort, count }: Record<string, string>,
  expand: readonly string[],
): Further {
  return { expand, sort, count: count !== undefined }
}

/** A page of a list that `?count=true` counts. */
export function CountedPageOf(item: TSchema & { title?: string }) {
  const page = PageOf(item)
  const description = `Of \`?count=true\`: the rows of all pages, up to ${maxCounted.toLocaleString('en')}, and whether there may be more`
  const properties = {
    rows: Type.Integer({ minimum: 0, description: 'Of all pages, as far as they were counted' }),
    more: Type.Boolean({ description: 'Whether the list has, or may have, more than `rows`' }),
  }
  const count = Type.Optional(Type.Object(properties, { title: 'Count', description }))
  return Type.Object({ ...page.properties, count }, { title: `${item.title}Page` })
}

/** The search in its fields, if it has one. */
function searchQueryOf({ search }: Declared): Record<string, TSchema> {
  if (search.length === 0) return {}
  const description = `Words that ${search.join(' and ')} ${search.length === 1 ? 'has' : 'have'}, or their beginnings. For frequent words a page looks at ${maxSearchedRows.toLocaleString('en')} rows; follow \`nextCursor\` even if it has none`
  return { q: Type.Optional(Type.String({ ...SearchWords, description, examples: ['fence'] })) }
}

/** The filters by a field: one value, several, or a range. */
function filterQueryOf(key: string, field: Field | undefined): [string, TSchema][] {
  const { filter = null, oneOf, hasOrder = false } = field ?? {}
  if (filter === null) return []
  const several = `^(${oneOf})(,(${oneOf})){0,49}$`
  const words = 'must be at most 50 values, separated by commas'
  return [
    [
      key,
      Type.Optional(
        'description' in filter ? filter : means(filter, `Only rows whose \`${key}\` is this`),
      ),
    ],
    ...(oneOf === undefined ? [] : [listOf(`${key}[in]`, explained(several, words))]),
    ...(hasOrder ? [bound(`${key}[gte]`, filter), bound(`${key}[lt]`, filter)] : []),
  ]
}

function listOf(name: string, pattern: string): [string, TSchema] {
  return [
    name,
    Type.Optional(
      Type.String({
        ...{ pattern, maxLength: 1_000 },
        description: 'One of several values, separated by commas',
      }),
    ),
  ]
}

function bound(name: string, filter: TSchema): [string, TSchema] {
  const description = name.endsWith('[gte]') ? 'At least this value' : 'Less than this value'
  return [name, Type.Optional(Type.String({ ...filter, description }))]
}

/** Newest first unless another order is asked for; `-` reverses an order. NULL is greater than any value. */
function sortOf({ sort }: Declared): TSchema {
  if (sort.length === 0) return SortBy('createdAt')
  const orders = ['createdAt', ...sort].flatMap((key) => [`-${key}`, key])
  return Type.Optional(
    Type.Enum(orders, {
      description:
        '`-createdAt`: newest first, the default. `-` begins with the greatest value; a row without one is before all others then, and otherwise after them',
    }),
  )
}
