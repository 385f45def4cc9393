type PageCursors = { nextCursor: string | null; previousCursor: string | null }

/** The cursors of a page of a list or feed; null for any other response. */
export function toPageCursors(payload: unknown): PageCursors | null {
  if (typeof payload !== 'object' || payload === null) return null
  if (!('data' in payload) || !('nextCursor' in payload)) return null
  const { nextCursor } = payload
  const previousCursor = 'previousCursor' in payload ? payload.previousCursor : null
  return { nextCursor: textOf(nextCursor), previousCursor: textOf(previousCursor) }
}

function textOf(cursor: unknown): string | null {
  return typeof cursor === 'string' ? cursor : null
}

/**
 * The value of `Link` (RFC 8288) for a page of a list: paths on this origin.
 * @param url path and query of the request
 * @param parameter query parameter that takes the cursor
 */
export function pageLinks(
  url: string,
  { nextCursor, previousCursor }: PageCursors,
  parameter: string,
): string {
  const [path = '', query = ''] = url.split('?', 2)
  const link = (rel: string, cursor: string | null) => {
    const parameters = new URLSearchParams(query)
    parameters.delete(parameter)
    if (cursor !== null) parameters.set(parameter, cursor)
    const text = parameters.toString()
    return `<${path}${text === '' ? '' : `?${text}`}>; rel="${rel}"`
  }
  return [
    link('first', null),
    ...(previousCursor === null ? [] : [link('prev', previousCursor)]),
    ...(nextCursor === null ? [] : [link('next', nextCursor)]),
  ].join(', ')
}
