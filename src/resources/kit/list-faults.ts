import type { Resource } from './define.ts'
import { wordsTableOf } from './names.ts'

const maxOrderedFilters = 16 // each is an index, which every write of a row updates

/** Each filter with each order of a list that it leaves open. */
export function orderedFiltersOf({ filters, sort }: Pick<Resource, 'filters' | 'sort'>) {
  return filters.flatMap((filter) =>
    sort.filter((one) => one !== filter).map((one): [string, string] => [filter, one]),
  )
}

/** What is wrong with the filters, orders and searches of a declaration. */
export function listFaultsOf(resource: Resource): [boolean, string][] {
  const { scope, fields, filters, sort, search } = resource
  const pairs = orderedFiltersOf(resource).length
  const unfiltered = filters.find((one) => fields[one]?.filter == null)
  const unsorted = sort.find((one) => !fields[one]?.hasOrder || fields[one]?.isHidden)
  const unsearched = search.find((one) => {
    const { column, control, isHidden } = fields[one] ?? {}
    const isText = control?.as === 'line' || control?.as === 'area'
    return column !== 'text' || !isText || isHidden
  })
  const counter = `count_${wordsTableOf(resource)}`
  const ofLists = filters.find((one) => listParameters.includes(one))
  const byTeams = sort.length > 0 ? 'sort' : search.length > 0 ? 'search' : undefined
  return [
    [unfiltered !== undefined, `has no filter by ${unfiltered}: ${kindsWith('filter')}`],
    [unsorted !== undefined, `has no order by ${unsorted}: ${kindsWith('sort')}`],
    [unsearched !== undefined, `has no search in ${unsearched}, which is no field of text`],
    [
      scope === 'chain' && byTeams !== undefined,
      `has the scope chain and a ${byTeams}: its lists read the rows of each team by their ids`,
    ],
    [
      pairs > maxOrderedFilters,
      `has ${filters.length} filters and ${sort.length} sorts, which need ${pairs} indexes together, ${maxOrderedFilters} at most: leave some out`,
    ],
    [
      search.length > 0 && counter.length > 63,
      `has a search and a table with a long name: its trigger function ${counter} would have one of more than 63 characters`,
    ],
    [ofLists !== undefined, `has a filter ${ofLists}, which every list has for itself`],
  ]
}

/** What to do about a field that a list cannot be sorted or filtered by. */
function kindsWith(means: 'filter' | 'sort'): string {
  const search = means === 'sort' ? ', or list a field of text in search' : ''
  return `fields of its kind have none. Remove it there${search}; docs/fields.md says which kinds have a ${means}`
}

const listParameters = ['cursor', 'limit', 'sort', 'from', 'to', 'q', 'count', 'expand']
