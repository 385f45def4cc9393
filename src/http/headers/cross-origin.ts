import { readBearerToken } from './bearer-token.ts'

type Headers = {
  readonly 'sec-fetch-site'?: string | string[] | undefined
  readonly origin?: string | undefined
  readonly authorization?: string | undefined
  readonly cookie?: string | undefined
}

const safeMethods = ['GET', 'HEAD', 'OPTIONS']
const allowedSites = ['same-origin', 'none']

export function isSafeMethod(method: string): boolean {
  return safeMethods.includes(method)
}

/**
 * An unsafe request with a cookie must be same-origin according to `Sec-Fetch-Site` or, without it,
 * `Origin`, or come from one of `appOrigins`. Without both headers it does not come from a browser and
 * is allowed (contract 8). Bearer tokens are exempt, because other sites cannot make a browser send one.
 */
export function isCrossOrigin(
  { isSafe, headers }: { isSafe: boolean; headers: Headers },
  baseUrl: string,
  appOrigins: readonly string[] = [],
): boolean {
  const { 'sec-fetch-site': site, origin, authorization, cookie } = headers
  if (isSafe || cookie === undefined) return false
  if (readBearerToken(authorization) !== null) return false
  const isOfApp = origin !== undefined && appOrigins.includes(origin)
  if (site === undefined) return origin !== undefined && origin !== baseUrl && !isOfApp
  return !allowedSites.includes(String(site)) && !(isOfApp && site === 'same-site')
}
