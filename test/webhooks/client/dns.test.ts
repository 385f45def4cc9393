import { networkInterfaces } from 'node:os'
import t from 'tap'
import { createHostCheck, createResolve, createUrlCheck } from '#src/webhooks/client/dns.ts'
import { AttemptError, PostponedError } from '#src/webhooks/client/errors.ts'
import { records, startNameServer } from '#test/support/receiver/name-server.ts'

const name = 'hooks.example.test'
const url = new URL(`https://${name}/in`)
const public4 = '93.184.215.14'
const public6 = '2606:4700::1111'
const answering =
  (...addresses: string[]) =>
  async () =>
    addresses

t.test('returns exactly the resolved addresses', async (t) => {
  const check = createHostCheck({ allow: [], resolve: answering(public4, public6) })
  t.same(await check(url), [public4, public6])
})

t.test('the whole guard checks the form of a URL, then its host', async (t) => {
  const check = createUrlCheck([], answering(public4))
  t.strictSame(await check('https://hooks.example.test/a/../in'), { url: url.href })
  t.strictSame(await check('http://hooks.example.test/in'), { refused: 'scheme' })
  const failing = (error: Error) => createUrlCheck([], () => Promise.reject(error))(url.href)
  t.strictSame(await failing(new AttemptError('blocked', '10.0.0.1 is private use')), {
    refused: 'blocked: 10.0.0.1 is private use',
  })
  const postponed = new PostponedError('name-servers', 'no answer')
  await t.rejects(failing(postponed), postponed, 'a fault of ours refuses nothing')
})

t.test('a name is refused if any of its addresses is forbidden', async (t) => {
  const forbidden = ['127.0.0.1', '10.1.2.3', '169.254.169.254', '::1', 'fd00::1', '::ffff:8.8.8.8']
  for (const address of [...forbidden, 'localhost', '']) {
    for (const addresses of [
      [address],
      [public4, address],
      [address, public6],
      [public4, public6, address],
    ]) {
      const check = createHostCheck({ allow: [], resolve: answering(...addresses) })
      await t.rejects(check(url), { code: 'blocked' }, addresses.join())
    }
  }
})

t.test('a lookup that fails or finds nothing is refused', async (t) => {
  const failing = createHostCheck({
    allow: [],
    resolve: () => Promise.reject(new Error('ESERVFAIL')),
  })
  await t.rejects(failing(url), { code: 'dns', message: 'ESERVFAIL' })
  const empty = createHostCheck({ allow: [], resolve: answering() })
  await t.rejects(empty(url), { code: 'dns' })
})

t.test('IP literals are checked without a lookup', async (t) => {
  const resolve = () => t.fail('looked up')
  const check = createHostCheck({ allow: [], resolve: async () => [String(resolve())] })
  t.same(await check(new URL(`https://${public4}/`)), [public4])
  t.same(await check(new URL(`https://[${public6}]/`)), [public6])
  for (const host of ['127.0.0.1', '2130706433', '[::1]', '[::ffff:8.8.8.8]']) {
    await t.rejects(check(new URL(`https://${host}/`)), { code: 'blocked' }, host)
  }
})

t.test('addresses of this server are refused, even public ones', async (t) => {
  const ownAddresses = () => [public4]
  const check = createHostCheck({ allow: [], resolve: answering(public4), ownAddresses })
  await t.rejects(check(url), {
    code: 'blocked',
    message: `${public4} is an address of this server`,
  })
  await t.rejects(check(new URL(`https://${public4}/`)), { code: 'blocked' })
  const own = Object.values(networkInterfaces()).flatMap((all) => all ?? [])
  for (const { address } of own) {
    const machine = createHostCheck({ allow: [], resolve: answering(address) })
    await t.rejects(machine(url), { code: 'blocked' }, address)
  }
})

t.test('attempts within a few seconds share a lookup, later ones do not', async (t) => {
  const counting = (cacheMs: number) => {
    let asked = 0
    const check = createHostCheck({
      allow: [],
      cacheMs,
      resolve: async () => {
        asked += 1
        return [public4]
      },
    })
    return { check, asked: () => asked }
  }
  const kept = counting(60_000)
  await Promise.all([kept.check(url), kept.check(url)])
  await kept.check(new URL(`https://${name}/other`))
  t.equal(kept.asked(), 1)
  await kept.check(new URL(`https://${name}:8443/`))
  t.equal(kept.asked(), 2)
  const unkept = counting(0)
  await unkept.check(url)
  await unkept.check(url)
  t.equal(unkept.asked(), 2)
})

t.test('a name that resolves differently the next time is checked again', async (t) => {
  const answers = [[public4], [public4, '127.0.0.1'], ['10.0.0.1'], [public4]]
  const server = await startNameServer(({ type }, count) => {
    const addresses = answers[Math.floor(count / 2)] ?? []
    return { records: type === 'A' ? records(name, addresses) : [] }
  })
  t.teardown(() => server.close())
  const resolve = createResolve({ servers: [server.address] })
  const check = createHostCheck({ allow: [], resolve, cacheMs: 0 })
  t.same(await check(url), [public4])
  await t.rejects(check(url), { code: 'blocked', message: '127.0.0.1 is loopback' })
  await t.rejects(check(url), { code: 'blocked', message: '10.0.0.1 is private use' })
  t.same(await check(url), [public4])
  await t.rejects(check(url), { code: 'dns' })
})

t.test('a chain of CNAMEs is checked by its final addresses', async (t) => {
  const server = await startNameServer(() => ({
    records: [
      { name, type: 'CNAME', ttl: 60, data: 'inside.example.test' },
      ...records('inside.example.test', ['192.168.0.1']),
    ],
  }))
  t.teardown(() => server.close())
  const check = createHostCheck({
    allow: [],
    resolve: createResolve({ servers: [server.address] }),
  })
  await t.rejects(check(url), { code: 'blocked', message: '192.168.0.1 is private use' })
})

t.test('exempt host:port pairs are resolved by the operating system and not checked', async (t) => {
  const check = createHostCheck({
    allow: ['localhost:4000', '127.0.0.1:4000'],
    resolve: answering(),
  })
  t.ok((await check(new URL('http://localhost:4000/'))).includes('127.0.0.1'))
  t.same(await check(new URL('https://127.0.0.1:4000/')), ['127.0.0.1'])
  await t.rejects(check(new URL('https://127.0.0.1:4001/')), { code: 'blocked' })
  await t.rejects(check(new URL('https://localhost:4001/')), { code: 'dns' })
})
