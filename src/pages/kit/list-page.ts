import Type from 'typebox'
import { readList } from '#src/http/lists/pagination.ts'
import { CursorQuery } from '#src/http/schemas.ts'
import { filterSchemasOf, type ListQuery, readFilters } from './filters.ts'

/** The name of a list and the forms of its cursors, also by its order. */
type Listing = Parameters<typeof readList>[1]

/**
 * The page of a list, with the parameters that its route in the API has.
 * @param query of this route
 * @param limit rows of a page
 */
export function listPageOf(query: ListQuery, limit = '25') {
  const filters = filterSchemasOf(query)
  const parameters = { ...CursorQuery.properties, ...filters }
  return {
    query,
    /** Its parameters without and with the cursor, for a page that has more. */
    filters,
    parameters,
    querystring: Type.Object(parameters, { additionalProperties: false }),
    /**
     * Reads what a request asks for.
     * @returns what the list is filtered by, as its page shows it, and as the list takes it
     * @throws Problem `malformed` for a time that is none, and for a cursor of another list
     */
    read(
      { cursor, ...given }: Readonly<Record<string, string | undefined>>,
      listing: Listing | ((sort: string | undefined) => Listing),
    ) {
      const used = readFilters(query, given)
      const asked = { limit, ...(cursor !== undefined && { cursor }), ...used }
      const list = typeof listing === 'function' ? listing(used.sort) : listing
      return { used, ...readList(asked, list) }
    },
  }
}
