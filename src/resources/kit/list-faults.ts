import type { Resource } from './define.ts'

/** What is wrong with the filters, orders and searches of a declaration. */
export function listFaultsOf({
  scope,
  fields,
  filters,
  sort,
  search,
}: Resource): [boolean, string][] {
  const unfiltered = filters.find((one) => fields[one]?.filter == null)
  const unsorted = sort.find((one) => !fields[one]?.hasOrder || fields[one]?.isHidden)
  const unsearched = search.find((one) => {
    const { column, control, isHidden } = fields[one] ?? {}
    return column !== 'text' || control?.as !== 'line' || isHidden
  })
  const ofLists = filters.find((one) => listParameters.includes(one))
  const byTeams = sort.length > 0 ? 'sort' : search.length > 0 ? 'search' : undefined
  return [
    [unfiltered !== undefined, `has no filter by ${unfiltered}`],
    [unsorted !== undefined, `has no order by ${unsorted}`],
    [
      unsearched !== undefined,
      `has no search in ${unsearched}, which is no field of one line of text`,
    ],
    [
      scope === 'chain' && byTeams !== undefined,
      `has the scope chain and a ${byTeams}: its lists read the rows of each team by their ids`,
    ],
    [ofLists !== undefined, `has a filter ${ofLists}, which every list has for itself`],
  ]
}

const listParameters = ['cursor', 'limit', 'sort', 'from', 'to', 'q']
