import t from 'tap'
import { readTrustProxy } from '#src/config/proxies.ts'

function read(text: string) {
  const faults: string[] = []
  const warnings: string[] = []
  return { ranges: readTrustProxy(text, faults, warnings), faults, warnings }
}

t.test('addresses, ranges and the names of private ranges are accepted', async (t) => {
  for (const text of [
    '',
    '127.0.0.1',
    '::1',
    '10.0.1.0/24, 2001:db8::/64',
    'loopback,uniquelocal',
  ]) {
    t.match(read(text), { faults: [], warnings: [] }, text)
  }
  t.strictSame(read(' 10.0.0.1 ,::1').ranges, ['10.0.0.1', '::1'])
})

t.test('a range of almost everyone is refused', async (t) => {
  for (const text of ['0.0.0.0/0', '::/0', '0.0.0.0/1,128.0.0.0/1', '2000::/3', '64.0.0.0/7']) {
    const { faults } = read(text)
    t.equal(faults.length, text.split(',').length, text)
    t.match(faults[0], /TRUST_PROXY: .* would let almost any client forge its address/)
  }
})

t.test('a broad range is reported', async (t) => {
  for (const text of ['10.0.0.0/8', '203.0.0.0/15', 'fc00::/7', '2001:db8::/32']) {
    const { faults, warnings } = read(text)
    t.strictSame(faults, [], text)
    t.match(warnings, [/broad range/], text)
  }
})

t.test('anything else is refused', async (t) => {
  for (const text of ['proxy.example', '10.0.0.0/33', '::/129', '10.0.0.0/', '1.2.3.4/8/8', '*']) {
    t.match(read(text).faults, [/neither an address nor a range/], text)
  }
})
