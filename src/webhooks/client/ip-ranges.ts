import { BlockList, isIPv4, isIPv6 } from 'node:net'

type Range = readonly [cidr: string, name: string]

// All of the IANA IPv4 Special-Purpose Address Registry, globally reachable or not, and special
// addresses that it does not list.
const specialIpv4: readonly Range[] = [
  ['0.0.0.0/8', 'this network'],
  ['10.0.0.0/8', 'private use'],
  ['100.64.0.0/10', 'shared address space'],
  ['127.0.0.0/8', 'loopback'],
  ['169.254.0.0/16', 'link local'],
  ['172.16.0.0/12', 'private use'],
  ['192.0.0.0/24', 'protocol assignments'],
  ['192.0.2.0/24', 'documentation'],
  ['192.31.196.0/24', 'AS112'],
  ['192.52.193.0/24', 'AMT'],
  ['192.88.99.0/24', '6to4 relay'],
  ['192.168.0.0/16', 'private use'],
  ['192.175.48.0/24', 'AS112'],
  ['198.18.0.0/15', 'benchmarking'],
  ['198.51.100.0/24', 'documentation'],
  ['203.0.113.0/24', 'documentation'],
  ['224.0.0.0/4', 'multicast'],
  ['240.0.0.0/4', 'reserved'],
  ['168.63.129.16/32', 'host of a virtual machine'], // Azure: a public address that reaches the host
]

// Everything outside global unicast is refused, so only special blocks inside it are listed. Mapped,
// compatible and translated addresses (::ffff:0:0/96, ::/96, 64:ff9b::/96) are outside.
const globalUnicast: Range = ['2000::/3', 'global unicast']
const specialIpv6: readonly Range[] = [
  ['2001::/23', 'protocol assignments'],
  ['2001:db8::/32', 'documentation'],
  ['2002::/16', '6to4'],
  ['2620:4f:8000::/48', 'AS112'],
  ['3fff::/20', 'documentation'],
]

const ipv4Lists = specialIpv4.map((range) => listOf(range, 'ipv4'))
const ipv6Lists = specialIpv6.map((range) => listOf(range, 'ipv6'))
const globalList = listOf(globalUnicast, 'ipv6')

/**
 * The reason why a customer's endpoint may not have this address, for the operator; null if it may.
 * IPv4 is allowed unless special. IPv6 is refused unless global unicast and not special.
 * @param address an IP literal without brackets; anything else is refused
 */
export function refusedRange(address: string): string | null {
  if (isIPv4(address)) return ipv4Lists.find(({ list }) => list.check(address))?.name ?? null
  if (!isIPv6(address)) return 'not an address'
  if (address.includes('%')) return 'zoned'
  if (!globalList.list.check(address, 'ipv6')) return 'not global unicast'
  return ipv6Lists.find(({ list }) => list.check(address, 'ipv6'))?.name ?? null
}

function listOf([cidr, name]: Range, family: 'ipv4' | 'ipv6') {
  const [network = '', prefix] = cidr.split('/')
  const list = new BlockList()
  list.addSubnet(network, Number(prefix), family)
  return { name, list }
}
