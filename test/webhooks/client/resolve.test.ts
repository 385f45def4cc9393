import t, { type Test } from 'tap'
import { createResolve } from '#src/webhooks/client/dns.ts'
import { type NameAnswer, records, startNameServer } from '#test/support/receiver/name-server.ts'

const name = 'hooks.example.test'

async function resolverFor(
  t: Test,
  answer: Parameters<typeof startNameServer>[0],
  limits: { tryMs?: number; deadlineMs?: number } = {},
) {
  const server = await startNameServer(answer)
  t.teardown(() => server.close())
  return { server, resolve: createResolve({ servers: [server.address], ...limits }) }
}

t.test('finds all A and AAAA records, along chains of CNAMEs', async (t) => {
  const { resolve } = await resolverFor(t, () => ({
    records: [
      { name, type: 'CNAME', ttl: 60, data: 'one.example.test' },
      { name: 'one.example.test', type: 'CNAME', ttl: 60, data: 'two.example.test' },
      ...records('two.example.test', ['192.0.2.1', '127.0.0.1', '2001:db8::1']),
    ],
  }))
  t.same(await resolve(name), ['192.0.2.1', '127.0.0.1', '2001:db8::1'])
})

t.test('a response too long for UDP is read over TCP', async (t) => {
  const many = Array.from({ length: 200 }, (_, index) => `198.51.100.${index}`)
  const { resolve } = await resolverFor(t, () => ({ overTcp: records(name, many) }))
  t.same(await resolve(name), many)
})

t.test('one type of record may be missing, but not both', async (t) => {
  const missing: readonly NameAnswer[] = [{ records: [] }, { rcode: 'NXDOMAIN' }]
  for (const nothing of missing) {
    const only4 = await resolverFor(t, ({ type }) =>
      type === 'A' ? { records: records(name, ['192.0.2.1']) } : nothing,
    )
    t.same(await only4.resolve(name), ['192.0.2.1'])
    const only6 = await resolverFor(t, ({ type }) =>
      type === 'AAAA' ? { records: records(name, ['2001:db8::1']) } : nothing,
    )
    t.same(await only6.resolve(name), ['2001:db8::1'])
    const neither = await resolverFor(t, () => nothing)
    await t.rejects(neither.resolve(name), { message: 'the name has no address' })
  }
  const dangling = await resolverFor(t, () => ({
    records: [{ name, type: 'CNAME', ttl: 60, data: 'gone.example.test' }],
  }))
  await t.rejects(dangling.resolve(name))
})

t.test('what was answered counts if the name server fails for the other type', async (t) => {
  const faults: readonly NameAnswer[] = [
    { rcode: 'SERVFAIL' },
    { rcode: 'REFUSED' },
    { silent: true },
  ]
  const families = [
    ['A', '192.0.2.1'],
    ['AAAA', '2001:db8::1'],
  ] as const
  for (const fault of faults) {
    for (const [answered, address] of families) {
      const name1 = `${answered} and ${JSON.stringify(fault)}`
      let failing = true
      const both = families.map(([, one]) => one)
      const { resolve } = await resolverFor(
        t,
        ({ type }) => (type === answered || !failing ? { records: records(name, both) } : fault),
        { tryMs: 250 },
      )
      t.same(await resolve(name), [address], name1)
      failing = false
      t.same(await resolve(name), both, `${name1}: the next lookup asks for both again`)
    }
    const { resolve } = await resolverFor(t, () => fault, { tryMs: 250 })
    await t.rejects(resolve(name), `neither: ${JSON.stringify(fault)}`)
  }
})

t.test('slow name servers time out', async (t) => {
  const { resolve } = await resolverFor(t, () => ({ silent: true }), {
    tryMs: 400,
    deadlineMs: 20,
  })
  await t.rejects(resolve(name), { message: 'the name servers did not answer in time' })
})

t.test('every lookup queries again: nothing is cached', async (t) => {
  const { resolve, server } = await resolverFor(t, (_question, count) => ({
    records: records(name, [`192.0.2.${count}`]),
  }))
  const first = await resolve(name)
  t.notSame(await resolve(name), first)
  t.equal(server.questions.length, 4)
  t.ok(
    server.questions.every((question) => question.name === name),
    'no search list',
  )
})
