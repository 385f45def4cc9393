import { list, loopbackHosts } from '#src/config/parse.ts'

/** Where the newest state of an object is asked for; `url` has no trailing slash. */
export type BillingApiSetup = { url: string; key: string }

/** `null` when no API is configured: then an event's own state and time decide. */
export function readBillingApi(
  url: string | undefined,
  key: string | undefined,
  production: boolean,
  faults: string[],
): BillingApiSetup | null {
  if (url === undefined) {
    if (key !== undefined) faults.push('BILLING_API_KEY: is of no use without BILLING_API_URL.')
    return null
  }
  if (key === undefined) faults.push('BILLING_API_KEY: is missing; BILLING_API_URL needs one.')
  const parsed = URL.parse(url)
  const isPlain =
    parsed !== null && parsed.search === '' && parsed.hash === '' && parsed.username === ''
  const isLocal =
    parsed?.protocol === 'http:' && !production && loopbackHosts.includes(parsed.hostname)
  if (!isPlain || (parsed.protocol !== 'https:' && !isLocal)) {
    faults.push(
      'BILLING_API_URL: must be an https URL without user, query and fragment (http only on loopback outside production).',
    )
  }
  return { url: url.replace(/\/+$/, ''), key: key ?? '' }
}

/** The `provider:subject` pairs of the operators. */
export function readOperators(value: string, faults: string[]): ReadonlySet<string> {
  const pairs = list(value)
  for (const pair of pairs) {
    if (!/^[a-z][a-z0-9_]*:.{1,255}$/.test(pair)) {
      faults.push(`OPERATORS: “${pair}” is no provider:subject pair.`)
    }
  }
  return new Set(pairs)
}
