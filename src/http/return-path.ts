const anyOrigin = 'http://origin.invalid'
const maxLength = 2_000

// Paths that a proxy sends to this program; only its pages are returned to.
const ownPath = /^\/(?:auth|app|assets|docs|portal|webhooks|oauth2\/(?:auth|sign_in|start))(?:\/|$)/
// An app that redirects to a decoded path would send the browser to another origin.
const leavingPath = /^\/[/\\\p{Cc}]/u

/** The pattern of the paths that a route matches, such as `/app/invoices/:id`. */
export function pathPattern(route: string): RegExp {
  const segments = route
    .split('/')
    .map((segment) => (segment.startsWith(':') ? '[^/]+' : RegExp.escape(segment)))
  return new RegExp(`^${segments.join('/')}$`)
}

/**
 * True for a path, with or without a query, of one of the pages. It must be written exactly as a URL
 * parser writes it: no other origin, dot segments, backslashes, control characters or fragment.
 */
export function isPagePath(path: string, pages: readonly RegExp[]): boolean {
  const pathname = pathnameOf(path)
  return pathname !== null && pages.some((page) => page.test(pathname))
}

/** True for a path, with or without a query, of an app on our origin, written as for `isPagePath`. */
export function isAppPath(path: string): boolean {
  const pathname = pathnameOf(path)
  if (pathname === null) return false
  const decoded = decode(pathname)
  return decoded !== null && !ownPath.test(decoded) && !leavingPath.test(decoded)
}

function pathnameOf(path: string): string | null {
  const url = path.length <= maxLength ? URL.parse(path, anyOrigin) : null
  // For another origin the path is shorter than the text.
  return url === null || url.pathname + url.search !== path ? null : url.pathname
}

function decode(pathname: string): string | null {
  try {
    return decodeURIComponent(pathname)
  } catch {
    return null
  }
}

/**
 * True for a URL of one of the origins. It must be written exactly as a URL parser writes it: no user or
 * password, other port, dot segments, backslashes, control characters or fragment.
 */
export function isUrlOf(text: string, origins: readonly string[]): boolean {
  const url = text.length <= maxLength ? URL.parse(text) : null
  if (url === null || url.origin + url.pathname + url.search !== text) return false
  return origins.includes(url.origin)
}

/**
 * The page that the form of a POST is on: the nearest page at or above its path.
 * @returns null if there is none
 */
export function pageOfForm(path: string, pages: readonly RegExp[]): string | null {
  for (let page = path; page !== ''; page = page.slice(0, page.lastIndexOf('/'))) {
    if (isPagePath(page, pages)) return page
  }
  return null
}
