/** A provider's subject or event id: 255 characters of up to four bytes, each encoded as %XX. */
export const maxParamLength = 3_060

/** The path given to requests that Node or the router would refuse before any hook. No route has it. */
export const unroutablePath = '/.unroutable'

type RawRequest = {
  readonly httpVersion: string
  readonly headers: { readonly host?: string | undefined }
  /** Names and values in turn. Node keeps only the first of several hosts in `headers`. */
  readonly rawHeaders: readonly string[]
}

export type RoutingFault = { code: 'malformed' | 'uri-too-long'; detail: string }

/** Why a request cannot be routed; null if it can. @param url as it was received */
export function routingFault(
  { httpVersion, headers, rawHeaders }: RawRequest,
  url: string,
): RoutingFault | null {
  if (httpVersion === '1.1' && headers.host === undefined) {
    return { code: 'malformed', detail: 'The Host header is missing.' } // RFC 9112, 3.2
  }
  if (hasSeveralHosts(rawHeaders)) {
    return { code: 'malformed', detail: 'There is more than one Host header.' } // the same section
  }
  const [path = ''] = url.split('?', 1)
  if (
    path.length > maxParamLength &&
    path.split('/').some(({ length }) => length > maxParamLength)
  ) {
    const detail = `Between two slashes the path has at most ${maxParamLength} characters.`
    return { code: 'uri-too-long', detail }
  }
  if (!path.includes('%') || isDecodable(path)) return null
  const detail =
    'A % in the path must be followed by two hexadecimal digits, and all bytes be UTF-8.'
  return { code: 'malformed', detail }
}

function hasSeveralHosts(rawHeaders: readonly string[]): boolean {
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.length === 4 && rawHeaders[at]?.toLowerCase() === 'host') hosts += 1
  }
  return hosts > 1
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path)
    return true
  } catch {
    return false
  }
}
