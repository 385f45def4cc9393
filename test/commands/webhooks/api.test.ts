import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { Agent, createServer } from 'node:http'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { findFreePort } from '#dev/demo/postgres/free-port.ts'
import { deliveryStatuses as offeredStatuses } from '#src/commands/webhooks/command-line.ts'
import { deliveryStatuses } from '#src/webhooks/history/deliveries.ts'
import { newEndpointSecret, signDelivery } from '#src/webhooks/signing/signature.ts'
import { askPatiently } from '#test/reliability/instance.ts'
import { untilTrue } from '#test/support/database/until.ts'
import { runDemo, runProgram, temporaryFolder } from '#test/support/processes/program.ts'

t.strictSame(offeredStatuses, deliveryStatuses)

t.test('endpoints, deliveries and events of the running demo, with a token', async (t) => {
  const { run, patch, receiverUrl } = await openDemo(t)

  const listed = await run('endpoints', 'list')
  t.equal(listed.status, 0, listed.told)
  t.match(
    listed.output,
    /^ID {36}STATE {4}URL +EVENTS +LIMITS\n[\da-f-]{36} {2}healthy {2}http:\S+ {2}all events/,
  )
  const made = await run('endpoints', 'create', receiverUrl, '--types', 'order.updated', '--json')
  const endpoint = JSON.parse(made.output)
  t.match(endpoint, { eventTypes: ['order.updated'], secret: /^whsec_/ })
  const tested = await run('endpoints', 'test', endpoint.id)
  t.equal(tested.status, 1, 'the receiver knows another secret')
  t.match(tested.output, /: 400 in \d+ ms\n/)
  const probed = await run('endpoints', 'probe', endpoint.id)
  t.equal(probed.status, 1)
  t.match(probed.output, /^✗ A correct delivery: 400, accept expected\nGrade F\n- .* Check that/)
  const [, own = ''] = /^([\da-f-]{36}) /m.exec(listed.output) ?? []
  const example = await run('endpoints', 'test', own, '--type', 'order.updated')
  t.match(example.output, /^succeeded: 200 in \d+ ms\n/)
  const good = await run('endpoints', 'probe', own)
  t.equal(good.status, 0, 'the sample receiver has no fault')
  t.match(good.output, /^✓ A correct delivery: 200, accept expected\n(✓ .*\n){11}Grade A\n$/)

  const since = new Date(Date.now() - 60_000).toISOString()
  await patch('1 Quay')
  const past = ['events', 'tail', '--from', since, '--no-follow']
  let tail = await run(...past, '--type', 'order.updated', '--json')
  // The feed waits for transactions of the worker.
  await untilTrue(async () => {
    if (tail.output === '') tail = await run(...past, '--type', 'order.updated', '--json')
    return tail.output !== ''
  })
  const events = tail.output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  t.match(events, [{ type: 'order.updated', data: { shippingAddress: { line1: '1 Quay' } } }])
  const lines = await run(
    'events',
    'tail',
    '--from',
    since,
    '--no-follow',
    '--type',
    'post.deleted',
  )
  t.match(lines, { status: 0, output: '' })

  let shown = ''
  await untilTrue(async () => {
    const of = ['--endpoint', endpoint.id, '--type', 'order.updated']
    shown = (await run('deliveries', 'list', ...of)).output
    return / 400$/m.test(shown)
  })
  const [, id = ''] = /^2\S+ {2}(\S+) {2}retrying \(\d+\) +/m.exec(shown) ?? []
  t.match(await run('deliveries', 'replay', id), { status: 0, output: `${id}  pending\n` })
  const missing = await run('deliveries', 'replay', crypto.randomUUID())
  t.match(missing, { status: 1, told: /gatehouse: 404 Not found\. .*the token of the same tenant/ })

  const refused = ['--endpoint', endpoint.id, '--http-status', '4xx']
  const matching = await run('deliveries', 'list', ...refused, '--type', 'order.updated')
  t.match(matching.output, / {2}order\.updated +400$/m)
  const everywhere = await run('deliveries', 'list', '--limit', '100')
  for (const one of [endpoint.id, own]) {
    const ofOne = await run('deliveries', 'list', '--endpoint', one, '--json')
    for (const { id } of JSON.parse(ofOne.output)) t.match(everywhere.output, id)
  }
  const counted = await run('deliveries', 'replay', ...refused)
  t.match(counted, { status: 0, output: '', told: /^\d+ deliver\w+ match\w*\.\nNothing was sent/m })
  const replayed = await run('deliveries', 'replay', ...refused, '--yes')
  const done = /^(\S+) {2}(\d+) of \2 deliveries scheduled$/m.exec(replayed.output)
  t.equal(replayed.status, 0, replayed.told)
  const [, replayId = ''] = done ?? []
  const none = await run('deliveries', 'replay', '--endpoint', endpoint.id, '--http-status', '302')
  t.match(none, { status: 0, told: /^0 deliveries match\.$/m })
  const ended = await run('deliveries', 'cancel', replayId, '--endpoint', endpoint.id)
  t.match(ended, { status: 0, output: /^\S+ {2}\d+ of \d+ deliveries scheduled$/m })
  t.equal((await run('deliveries', 'replay')).status, 2, 'neither ids nor an endpoint')
  t.equal((await run('deliveries', 'replay', id, ...refused)).status, 2, 'both')
  t.equal((await run('deliveries', 'list', '--endpoint', own, '--http-status', '4x')).status, 2)
})

t.test('the rate limit and the payload of an endpoint', async (t) => {
  const { run, receiverUrl } = await openDemo(t)
  const limits = ['--rate-limit', '20', '--burst', '5', '--thin']
  const made = await run('endpoints', 'create', receiverUrl, ...limits, '--json')
  const { id, ...endpoint } = JSON.parse(made.output)
  t.match(endpoint, { rateLimit: { perSecond: 20, burst: 5 }, payload: 'thin' })
  const shown = async () =>
    (await run('endpoints', 'list')).output.split('\n').find((line) => line.startsWith(id))
  t.match(await shown(), / {2}all events {2}20\/s, burst 5, thin$/)
  await run('endpoints', 'update', id, '--rate-limit', '3')
  t.match(await shown(), / {2}all events {2}3\/s, burst 1, thin$/, 'the payload stays')
  const lifted = await run('endpoints', 'update', id, '--no-rate-limit', '--no-thin')
  t.match(lifted, { status: 0, output: / {2}all events *$/m })
  t.match(await shown(), / {2}all events *$/)
  const wrong = [
    ['--burst', '5'],
    ['--rate-limit', '0'],
    ['--rate-limit', '1001'],
  ]
  for (const options of wrong) {
    t.equal((await run('endpoints', 'update', id, ...options)).status, 2, options.join(' '))
  }
  t.equal((await run('endpoints', 'update', id)).status, 1, 'nothing to change')
  t.equal((await run('endpoints', 'update', crypto.randomUUID(), '--thin')).status, 1)
})

t.test('listen forwards signed events, waits for the program and goes on', async (t) => {
  const { run, start, patch, cwd } = await openDemo(t)
  const secret = newEndpointSecret()
  const state = join(cwd, 'position.json')
  const program = await startProgram(t, secret)
  const listening = [...['listen', '--forward-to', program.url], '--state', state]
  const first = await start(listening, { GATEHOUSE_LISTEN_SECRET: secret })
  await first.says(/Events of http.* go to http/)
  await patch('1 Quay')
  await first.says(/^order\.updated {2}msg_\S+ {2}200 in \d+ ms$/m)
  program.status = 500
  await patch('2 Quay')
  await first.says(/^order\.updated {2}msg_\S+ {2}500 in \d+ ms {2}"no"$/m)
  await untilTrue(async () => (await readFile(state, 'utf8')).includes('after":"'))
  first.child.kill('SIGINT')
  await first.ended

  await patch('3 Quay')
  await program.close()
  const second = await start(listening, { GATEHOUSE_LISTEN_SECRET: secret })
  await second.says(/does not respond: .*Waiting for it\./)
  program.status = 200
  await program.open()
  await second.says(/^order\.updated {2}msg_\S+ {2}200 in \d+ ms$/m)
  // The event before is forwarded again if its position was not stored yet.
  const lines = () => program.received.map(({ data }) => data.shippingAddress.line1)
  await untilTrue(() => lines().includes('3 Quay'))
  t.strictSame([...new Set(lines())], ['1 Quay', '2 Quay', '3 Quay'])
  t.ok(program.isSigned, 'each with a valid signature')
  second.child.kill('SIGINT')
  await second.ended

  const elsewhere = await run(
    'listen',
    '--forward-to',
    program.url,
    '--state',
    '.data/secrets.json',
  )
  t.match(elsewhere, { status: 1, told: /secrets\.json is no state of this command/ })
})

t.test('what is missing or wrong is named with its remedy', async (t) => {
  const cwd = await temporaryFolder(t)
  const run = async (env: Record<string, string>, ...args: string[]) => {
    const program = await runProgram(t, args, { NODE_ENV: 'production', ...env }, { cwd })
    return { status: await program.ended, told: program.messages() }
  }
  const [url, token] = ['http://127.0.0.1:9', `gth_${'a'.repeat(43)}`]
  const wrong: [Record<string, string>, RegExp][] = [
    [{}, /GATEHOUSE_TOKEN: is missing\.[\s\S]*GATEHOUSE_URL: is missing/],
    [{ GATEHOUSE_TOKEN: token, GATEHOUSE_URL: 'app.example.com' }, /must be an origin/],
    [{ GATEHOUSE_TOKEN: token, GATEHOUSE_URL: 'ftp://app.example.com' }, /must be an origin/],
    [{ GATEHOUSE_TOKEN: token, GATEHOUSE_URL: url }, /127\.0\.0\.1:9 did not respond: .*Is it/],
  ]
  for (const [env, message] of wrong) {
    const { status, told } = await run(env, 'endpoints', 'list')
    t.equal(status, 1)
    t.match(told, message)
    t.notMatch(told, token)
    t.notMatch(told, /^ +at /m, 'no stack')
  }
})

t.test('address and token come from the same source, https except on loopback', async (t) => {
  const instance = await startInstance(t)
  const [url, elsewhere] = [instance.url, 'https://app.example.com']
  const token = `gth_${'a'.repeat(43)}`
  const list = async (shell: Record<string, string>, dotEnv: Record<string, string>) => {
    const cwd = await temporaryFolder(t)
    const lines = Object.entries(dotEnv).map(([name, value]) => `${name}=${value}\n`)
    await writeFile(join(cwd, '.env'), lines.join(''))
    const program = await runProgram(t, ['endpoints', 'list'], shell, { cwd })
    return { status: await program.ended, told: program.messages() }
  }
  const mixed: [shell: Record<string, string>, dotEnv: Record<string, string>, RegExp][] = [
    [{ GATEHOUSE_TOKEN: token }, { GATEHOUSE_URL: url }, /GATEHOUSE_URL: is set in \.env,/],
    [{ GATEHOUSE_TOKEN: token }, { BASE_URL: url }, /BASE_URL: is set in \.env,/],
    [
      { GATEHOUSE_TOKEN: token, BASE_URL: elsewhere },
      { GATEHOUSE_URL: url },
      /GATEHOUSE_URL: is set in \.env,/,
    ],
    [
      { GATEHOUSE_TOKEN: token },
      { GATEHOUSE_TOKEN: token, GATEHOUSE_URL: url },
      /in the same place/,
    ],
    [{ GATEHOUSE_URL: url }, { GATEHOUSE_TOKEN: token }, /GATEHOUSE_TOKEN in \.env\. Set both/],
  ]
  for (const [shell, dotEnv, message] of mixed) {
    const { status, told } = await list(shell, dotEnv)
    t.equal(status, 1, `${Object.keys(shell)} and ${Object.keys(dotEnv)}`)
    t.match(told, message)
    t.notMatch(told, token)
  }
  t.strictSame(instance.tokens, [], 'no token was sent')

  const open = { GATEHOUSE_TOKEN: token, GATEHOUSE_URL: 'http://app.example.com' }
  for (const [shell, dotEnv] of [
    [open, {}],
    [{}, open],
  ] as const) {
    t.match(await list(shell, dotEnv), { status: 1, told: /must be https, except on loopback/ })
  }

  const together = { GATEHOUSE_TOKEN: token, GATEHOUSE_URL: url }
  t.equal((await list(together, {})).status, 0, 'both in the environment')
  t.equal((await list({}, together)).status, 0, 'both in .env')
  t.equal((await list(together, { GATEHOUSE_URL: elsewhere })).status, 0, 'the environment wins')
  t.strictSame(instance.tokens, Array(3).fill(`Bearer ${token}`))
})

/** An instance without endpoints, and the tokens that were sent to it. */
async function startInstance(t: Test) {
  const tokens: (string | undefined)[] = []
  const server = createServer((request, response) => {
    tokens.push(request.headers.authorization)
    response.setHeader('content-type', 'application/json')
    response.end('{"data":[],"nextCursor":null}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return { url: `http://127.0.0.1:${port}`, tokens }
}

/** The demo, and commands in its folder that act as Ada. */
async function openDemo(t: Test) {
  const cwd = await temporaryFolder(t)
  const demo = await runDemo(t, cwd)
  const [, token = ''] = await demo.says(/export TOKEN=(gth_\S+)/)
  const web = { origin: demo.baseUrl, agent: new Agent() }
  const [, receiverUrl = ''] = await demo.says(/receiver at (http:\S+),/)
  const start = (args: string[], env: Record<string, string> = {}) =>
    runProgram(t, args, { GATEHOUSE_TOKEN: token, ...env }, { cwd })
  return {
    cwd,
    // A tenant has a URL once, and Acme has that without a query.
    receiverUrl: `${receiverUrl}/webhooks?second`,
    start,
    async run(...args: string[]) {
      const program = await start(args)
      const status = await program.ended
      return { status, output: program.results(), told: program.messages() }
    },
    async patch(line1: string) {
      const address = { name: 'Ada', line1, city: 'Porto', postalCode: '4000-001', country: 'PT' }
      const { status, body } = await askPatiently(web, {
        method: 'PATCH',
        path: '/orders/1',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ shippingAddress: address }),
      })
      if (status !== 200) throw new Error(`PATCH: ${status} ${body}`)
    },
  }
}

/** A program that receives webhooks, as a developer writes one. */
async function startProgram(t: Test, secret: string) {
  const program = {
    url: '',
    status: 200,
    isSigned: true,
    received: [] as { data: { shippingAddress: { line1: string } } }[],
    open: async () => {},
    close: async () => {},
  }
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const { 'webhook-id': id, 'webhook-timestamp': timestamp, ...others } = request.headers
    const signed = { profile: 'spec' as const, secrets: [secret], id: String(id), body }
    const expected = signDelivery({ ...signed, timestamp: Number(timestamp) })
    program.isSigned &&= others['webhook-signature'] === expected
    program.received.push(JSON.parse(body))
    response.writeHead(program.status).end(program.status === 200 ? 'thanks' : 'no')
  })
  // It is closed and opened again, so it must be a port that the system gives to nobody meanwhile.
  const port = await findFreePort()
  program.url = `http://127.0.0.1:${port}/hooks`
  program.open = async () => {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  }
  program.close = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  await program.open()
  t.teardown(() => server.listening && program.close())
  return program
}
