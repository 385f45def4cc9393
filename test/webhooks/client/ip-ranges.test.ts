import fc from 'fast-check'
import t from 'tap'
import { refusedRange } from '#src/webhooks/client/ip-ranges.ts'

// First and last address of a special range, and their neighbours: `x` if the neighbour is special
// too or does not exist.
const ipv4: readonly (readonly [first: string, last: string, before: string, after: string])[] = [
  ['0.0.0.0', '0.255.255.255', 'x', '1.0.0.0'],
  ['10.0.0.0', '10.255.255.255', '9.255.255.255', '11.0.0.0'],
  ['100.64.0.0', '100.127.255.255', '100.63.255.255', '100.128.0.0'],
  ['127.0.0.0', '127.255.255.255', '126.255.255.255', '128.0.0.0'],
  ['168.63.129.16', '168.63.129.16', '168.63.129.15', '168.63.129.17'],
  ['169.254.0.0', '169.254.255.255', '169.253.255.255', '169.255.0.0'],
  ['172.16.0.0', '172.31.255.255', '172.15.255.255', '172.32.0.0'],
  ['192.0.0.0', '192.0.0.255', '191.255.255.255', '192.0.1.0'],
  ['192.0.2.0', '192.0.2.255', '192.0.1.255', '192.0.3.0'],
  ['192.31.196.0', '192.31.196.255', '192.31.195.255', '192.31.197.0'],
  ['192.52.193.0', '192.52.193.255', '192.52.192.255', '192.52.194.0'],
  ['192.88.99.0', '192.88.99.255', '192.88.98.255', '192.88.100.0'],
  ['192.168.0.0', '192.168.255.255', '192.167.255.255', '192.169.0.0'],
  ['192.175.48.0', '192.175.48.255', '192.175.47.255', '192.175.49.0'],
  ['198.18.0.0', '198.19.255.255', '198.17.255.255', '198.20.0.0'],
  ['198.51.100.0', '198.51.100.255', '198.51.99.255', '198.51.101.0'],
  ['203.0.113.0', '203.0.113.255', '203.0.112.255', '203.0.114.0'],
  ['224.0.0.0', '239.255.255.255', '223.255.255.255', 'x'],
  ['240.0.0.0', '255.255.255.255', 'x', 'x'],
]

const high = 'ffff:ffff:ffff:ffff:ffff'
const ipv6: typeof ipv4 = [
  ['::', `1fff:ffff:ffff:${high}`, 'x', '2000::'],
  ['2001::', `2001:1ff:ffff:${high}`, `2000:ffff:ffff:${high}`, '2001:200::'],
  ['2001:db8::', `2001:db8:ffff:${high}`, `2001:db7:ffff:${high}`, '2001:db9::'],
  ['2002::', `2002:ffff:ffff:${high}`, `2001:ffff:ffff:${high}`, '2003::'],
  ['2620:4f:8000::', `2620:4f:8000:${high}`, `2620:4f:7fff:${high}`, '2620:4f:8001::'],
  ['3fff::', `3fff:fff:ffff:${high}`, `3ffe:ffff:ffff:${high}`, '3fff:1000::'],
  ['4000::', `ffff:ffff:ffff:${high}`, `3fff:ffff:ffff:${high}`, 'x'],
]

t.test('every special range is refused exactly', async (t) => {
  for (const [first, last, before, after] of [...ipv4, ...ipv6]) {
    t.type(refusedRange(first), 'string', `first: ${first}`)
    t.type(refusedRange(last), 'string', `last: ${last}`)
    if (before !== 'x') t.equal(refusedRange(before), null, `before: ${before}`)
    if (after !== 'x') t.equal(refusedRange(after), null, `after: ${after}`)
  }
})

t.test('public addresses are allowed', async (t) => {
  for (const address of ['1.1.1.1', '93.184.215.14', '2606:4700::1111', '2a00:1450:4001::200e']) {
    t.equal(refusedRange(address), null, address)
  }
})

t.test('mapped, compatible, translated and zoned forms are refused', async (t) => {
  const forms = [
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '::ffff:808:808',
    '0:0:0:0:0:FFFF:0808:0808',
    '::8.8.8.8',
    '::ffff:0:8.8.8.8',
    '64:ff9b::8.8.8.8',
    '64:ff9b::a00:1',
    '64:ff9b:1::1',
    '100::1',
    'fc00::1',
    'fd00:ec2::254',
    'fe80::1',
    'fe80::1%eth0',
    '2606:4700::1111%eth0',
    'fec0::1',
    'ff02::1',
    '2001:0:4136:e378:8000:63bf:3fff:fdd2',
    '2002:7f00:1::',
    '5f00::1',
  ]
  for (const address of forms) t.type(refusedRange(address), 'string', address)
})

t.test('anything but a plain IP address is refused', async (t) => {
  const texts = ['', 'example.com', '127.1', '0x7f.0.0.1', '010.0.0.1', '1.1.1.1 ', '[::1]']
  for (const text of [...texts, '1.1.1', '1.1.1.1.1', '256.1.1.1', '１.1.1.1', '::g']) {
    t.equal(refusedRange(text), 'not an address', text)
  }
})

/** The same rules in another implementation: numbers instead of block lists. */
const numberOf = (words: readonly number[], bits: bigint) =>
  words.reduce((sum, word) => (sum << bits) | BigInt(word), 0n)
const ipv4Number = (text: string) => numberOf(text.split('.').map(Number), 8n)
const ipv6Number = (text: string) => {
  const [head = '', tail = ''] = text.split('::')
  const words = (part: string) => (part === '' ? [] : part.split(':').map((it) => parseInt(it, 16)))
  const missing = text.includes('::') ? 8 - words(head).length - words(tail).length : 0
  return numberOf([...words(head), ...Array(missing).fill(0), ...words(tail)], 16n)
}
const isWithin =
  (ranges: typeof ipv4, read: (text: string) => bigint) =>
  (value: bigint): boolean =>
    ranges.some(([first, last]) => read(first) <= value && value <= read(last))

const edges = (ranges: typeof ipv4) =>
  fc
    .constantFrom(...ranges)
    .chain(([first, last]) =>
      fc.tuple(fc.constantFrom(first, last), fc.bigInt({ min: -300n, max: 300n })),
    )

t.test('IPv4: the same verdict as comparing numbers', async () => {
  const isSpecial = isWithin(ipv4, ipv4Number)
  const anywhere = fc.bigInt({ min: 0n, max: 2n ** 32n - 1n })
  const nearAnEdge = edges(ipv4).map(([edge, offset]) => ipv4Number(edge) + offset)
  fc.assert(
    fc.property(fc.oneof(anywhere, nearAnEdge), (value) => {
      fc.pre(value >= 0n && value < 2n ** 32n)
      const text = [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join('.')
      return (refusedRange(text) !== null) === isSpecial(value)
    }),
    { numRuns: 5_000 },
  )
})

t.test('IPv6: the same verdict as comparing numbers', async () => {
  const isSpecial = isWithin(ipv6, ipv6Number)
  const anywhere = fc.bigInt({ min: 0n, max: 2n ** 128n - 1n })
  const global = anywhere.map((value) => (value >> 3n) | (1n << 125n))
  const nearAnEdge = edges(ipv6).map(([edge, offset]) => ipv6Number(edge) + offset)
  fc.assert(
    fc.property(fc.oneof(anywhere, global, nearAnEdge), (value) => {
      fc.pre(value >= 0n && value < 2n ** 128n)
      const shifts = [112n, 96n, 80n, 64n, 48n, 32n, 16n, 0n]
      const text = shifts.map((shift) => ((value >> shift) & 0xffffn).toString(16)).join(':')
      return (refusedRange(text) !== null) === isSpecial(value)
    }),
    { numRuns: 5_000 },
  )
})
