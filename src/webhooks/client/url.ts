import { isIP } from 'node:net'
import { hiddenCharacters } from '#src/runtime/text.ts'
import { refusedRange } from './ip-ranges.ts'

/** The reason why a text is not a valid endpoint URL. */
export type UrlRefusal =
  | 'malformed'
  | 'too-long'
  | 'scheme'
  | 'credentials'
  | 'fragment'
  | 'port'
  | 'name'
  | 'address'

export type EndpointUrl = { url: URL } | { refused: UrlRefusal }

export const maxUrlLength = 2_048
const ports = ['443', '8443']
// The WHATWG parser silently drops tabs, line breaks, and spaces at the ends.
const ignoredCharacters = new RegExp(`[\\s\\p{Cc}${hiddenCharacters}]`, 'u')
const localSuffixes = ['.localhost', '.local', '.internal', '.home.arpa']

/**
 * The part of the address guard that needs no network. The text is parsed once, by WHATWG rules;
 * `url.href` is the normalized form to store.
 * @param allow exact `host:port` pairs of `OUTBOUND_ALLOW`; scheme, port and address are free there
 */
export function readEndpointUrl(text: string, allow: readonly string[]): EndpointUrl {
  if (text.length > maxUrlLength) return { refused: 'too-long' }
  if (ignoredCharacters.test(text)) return { refused: 'malformed' }
  const url = URL.parse(text)
  if (url === null) return { refused: 'malformed' }
  if (url.href.length > maxUrlLength) return { refused: 'too-long' }
  const refused = refusalOf(url, isExempt(url, allow))
  return refused === null ? { url } : { refused }
}

/**
 * The pair for `OUTBOUND_ALLOW` with which a URL of this machine or its network would be accepted; null for a host
 * that is public by its form, and for a URL that is refused with the pair too. Looks nothing up.
 */
export function localPairOf(text: string): string | null {
  const url = URL.parse(text)
  if (url === null || isPublicHost(hostOf(url))) return null
  const pair = `${url.hostname}:${portOf(url)}`
  return 'url' in readEndpointUrl(text, [pair]) ? pair : null
}

/** Whether the operator allows this host and port, whatever its address. */
export function isExempt(url: URL, allow: readonly string[]): boolean {
  return allow.includes(`${url.hostname}:${portOf(url)}`)
}

/** The port, with the default of the scheme filled in. */
function portOf({ port, protocol }: URL): string {
  if (port !== '') return port
  return protocol === 'https:' ? '443' : '80'
}

/** The host as a name or as an address without brackets. */
export function hostOf({ hostname }: URL): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
}

function refusalOf(url: URL, exempt: boolean): UrlRefusal | null {
  if (url.protocol !== 'https:' && !(exempt && url.protocol === 'http:')) return 'scheme'
  if (url.username !== '' || url.password !== '') return 'credentials'
  if (url.href.includes('#')) return 'fragment'
  if (exempt) return null
  if (!ports.includes(portOf(url))) return 'port'
  const host = hostOf(url)
  if (isPublicHost(host)) return null
  return isIP(host) === 0 ? 'name' : 'address'
}

/** Whether an address is public, or a name can be. */
function isPublicHost(host: string): boolean {
  return isIP(host) === 0 ? isPublicName(host) : refusedRange(host) === null
}

/** A name with a dot that is not reserved for local networks. */
function isPublicName(name: string): boolean {
  if (!name.includes('.') || name.endsWith('.')) return false
  return !localSuffixes.some((suffix) => name.endsWith(suffix))
}
