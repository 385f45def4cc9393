import { fallbackUrl, list, loopbackHosts } from './parse.ts'

/** Exact origins as a browser sends them: a wildcard, a path or a trailing slash is refused. */
export function readCorsOrigins(
  value: string,
  production: boolean,
  faults: string[],
): readonly string[] {
  return readOrigins('CORS_ORIGINS', value, faults, (url) => insecurityOf(url, production))
}

/** The same for pages that may frame the portal. */
export function readFrameOrigins(
  value: string,
  production: boolean,
  faults: string[],
): readonly string[] {
  return readOrigins('PORTAL_FRAME_ORIGINS', value, faults, (url) => insecurityOf(url, production))
}

/** Exact origins with the scheme of BASE_URL. same-site.ts decides on their hosts. */
export function readAppOrigins(
  value: string,
  baseUrl: string,
  faults: string[],
): readonly string[] {
  const base = new URL(baseUrl)
  return readOrigins('APP_ORIGINS', value, faults, (url) => {
    if (baseUrl === fallbackUrl) return null // has its own fault
    if (url.protocol === base.protocol) return null
    return `must be ${base.protocol.slice(0, -1)}, as BASE_URL is.`
  })
}

/** Origins of an app behind a proxy: of the host of BASE_URL, because the session cookie goes to no other. */
export function readAudienceOrigins(
  origins: readonly string[],
  baseUrl: string,
  faults: string[],
): readonly string[] {
  const { protocol, hostname } = new URL(baseUrl)
  return readOrigins('IDENTITY_AUDIENCE', origins.join(), faults, (url) => {
    const isReached = url.protocol === protocol && url.hostname === hostname
    if (isReached || baseUrl === fallbackUrl) return null // which has its own fault
    return 'must have the scheme and the host of BASE_URL, because the session cookie goes to no other host. An app that gets only tokens needs no origin here.'
  })
}

/** @param faultOf the fault of an origin that is written well; null if it has none */
function readOrigins(
  name: string,
  value: string,
  faults: string[],
  faultOf: (url: URL) => string | null,
): readonly string[] {
  const origins = list(value)
  for (const origin of origins) {
    const url = URL.parse(origin)
    if (origin.includes('*')) {
      faults.push(`${name}: “${origin}” is a wildcard; list every origin.`)
    } else if (url?.origin !== origin || isUnquotable(origin)) {
      faults.push(
        `${name}: “${origin}” is not an origin as browsers send it, such as https://app.example.com: scheme and host in lower case, a port only if it is not the default, no path.`,
      )
    } else {
      const fault = faultOf(url)
      if (fault !== null) faults.push(`${name}: “${origin}” ${fault}`)
    }
  }
  return origins
}

/** A semicolon ends a directive of a content security policy. */
function isUnquotable(origin: string): boolean {
  return origin.includes(';')
}

function insecurityOf(url: URL, production: boolean): string | null {
  return isSecure(url, production)
    ? null
    : 'must be https (http only on loopback outside production).'
}

function isSecure({ protocol, hostname }: URL, production: boolean): boolean {
  return (
    protocol === 'https:' ||
    (protocol === 'http:' && !production && loopbackHosts.includes(hostname))
  )
}
