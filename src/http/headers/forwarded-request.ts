import { readBearerToken } from './bearer-token.ts'
import { isSafeMethod } from './cross-origin.ts'
import { acceptsHtml } from './media-type.ts'

/** The request that a proxy asks about, as its headers describe it. */
export type ForwardedRequest = {
  /** It changes nothing. False if the proxy does not say which method it has. */
  readonly isSafe: boolean
  /** A browser opens a page with it. */
  readonly isNavigation: boolean
  /** The origin of the app that it was sent to. */
  readonly origin: string
  /** Path and query; null if the proxy does not say, or names another origin. */
  readonly path: string | null
  /** Path and query of the page that sent it; null if the browser does not say, or it is of another origin. */
  readonly from: string | null
  /** The proxy takes no answer but 2xx, 401 and 403, so a redirect would be an error. */
  readonly takesNoRedirect: boolean
}

type Headers = Readonly<Record<string, string | string[] | undefined>> & {
  readonly accept?: string | undefined
  readonly authorization?: string | undefined
  readonly referer?: string | undefined
}

/** What scripts send that ask for HTML, from browsers that do not send `Sec-Fetch-Mode`. */
const scriptHeaders = ['hx-request', 'turbo-frame', 'x-turbo-request-id', 'x-pjax', 'x-inertia']

/**
 * Reads `X-Forwarded-Method` and `-Uri` (Caddy, Traefik) and `X-Original-Method` and `-URL` (nginx).
 * A client that sends them itself affects only its own request: they decide whether its cookie counts,
 * and to which of the allowed pages a sign-in returns.
 */
export function readForwardedRequest(headers: Headers, origin: string): ForwardedRequest {
  const methods = ['x-forwarded-method', 'x-original-method'].flatMap((name) => headers[name] ?? [])
  const url = headers['x-original-url'] ?? headers['x-forwarded-uri']
  const isWebSocket = headers['sec-websocket-key'] !== undefined
  return {
    // The handshake of a WebSocket is a GET, but what follows can change anything.
    isSafe: methods.length > 0 && methods.every(isSafeMethod) && !isWebSocket,
    isNavigation: methods.every((method) => method === 'GET') && opensPage(headers),
    origin,
    path: pathOf(String(url ?? ''), origin),
    from: pathOf(headers.referer ?? '', origin),
    takesNoRedirect: headers['x-original-url'] !== undefined,
  }
}

/** A redirect would lead a script to the pages of the provider, which it cannot read. */
function opensPage(headers: Headers): boolean {
  if (headers['sec-websocket-key'] !== undefined) return false
  if (readBearerToken(headers.authorization) !== null) return false
  const mode = headers['sec-fetch-mode']
  if (mode !== undefined) return mode === 'navigate'
  const isXhr = String(headers['x-requested-with']).toLowerCase() === 'xmlhttprequest'
  const isScript = isXhr || scriptHeaders.some((name) => headers[name] !== undefined)
  return acceptsHtml(headers.accept) && !isScript
}

/** @param url a path, or a URL with its origin */
function pathOf(url: string, origin: string): string | null {
  const path = url.startsWith(`${origin}/`) ? url.slice(origin.length) : url
  return path.startsWith('/') ? path : null
}
