import { isIP, isIPv4, isIPv6, SocketAddress } from 'node:net'

const unknownAddress = 'unknown'

/** The part of a request that says where it came from. */
type Hops = {
  readonly ip?: string | undefined
  /** From the peer outwards, as far as trusted proxies forwarded; undefined if none is configured. */
  readonly ips?: readonly string[] | undefined
}

/**
 * The address of the client, in its one normalized form: the only place that reads it from a request.
 * A proxy may forward a text without an address, such as `unknown`: then that proxy's own address
 * counts. `unknown` if there is no address at all.
 */
export function clientAddressOf({ ip, ips = ip === undefined ? [] : [ip] }: Hops): string {
  for (const hop of ips.toReversed()) {
    const address = normalizeAddress(hop)
    if (address !== null) return address
  }
  return unknownAddress
}

// In quotes or brackets, and with a port, as proxies write it. An IPv6 address with a port has brackets.
const forwardedForm = /^"?(?:\[([^[\]]*)\]|([^[\]:]*))(?::\d{0,5})?"?$/

/**
 * The address in a text of `X-Forwarded-For` or of a socket, in canonical form: without white space,
 * quotes, brackets, port and zone, IPv6 as in RFC 5952, an IPv4-mapped one as IPv4.
 * @returns null if the text is not an address
 */
export function normalizeAddress(text: string | undefined): string | null {
  if (text !== undefined && isIPv4(text)) return text
  const trimmed = text?.trim() ?? ''
  const [, bracketed, plain] = isIPv6(trimmed) ? [] : (forwardedForm.exec(trimmed) ?? [])
  const [address = ''] = (bracketed ?? plain ?? trimmed).split('%', 1)
  const family = isIP(address)
  if (family === 0) return null
  if (family === 4) return address
  const canonical = new SocketAddress({ address, family: 'ipv6' }).address
  return canonical.startsWith('::ffff:') && canonical.includes('.') ? canonical.slice(7) : canonical
}

/** The network part of an address: /24 of IPv4, /48 of IPv6; null if it is no address. */
export function networkOf(address: string): string | null {
  const ipv4 = /^(?:::ffff:)?(\d+\.\d+\.\d+)\.\d+$/.exec(address)
  if (ipv4) return `${ipv4[1]}.0/24`
  const groups = address.split('::')[0]?.split(':').slice(0, 3) ?? []
  return address.includes(':') ? `${groups.filter((group) => group !== '').join(':')}::/48` : null
}
