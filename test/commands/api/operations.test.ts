import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { build } from '#test/support/app/app.ts'
import { owner } from '#test/support/callers/token-owner.ts'
import { url as receiverUrl } from '#test/support/callers/webhook-admin.ts'
import { runProgram, temporaryFolder } from '#test/support/processes/program.ts'

/** A listening instance, and commands that act as one of its people. */
async function setUp(t: Test, role: 'admin' | 'viewer') {
  const test = await build(t)
  const { make } = await owner(test, { role })
  const { token } = await make()
  const url = await test.app.listen({ host: '127.0.0.1', port: 0 })
  const cwd = await temporaryFolder(t)
  const env = { NODE_ENV: 'production', GATEHOUSE_TOKEN: token, GATEHOUSE_URL: url }
  return async (...args: string[]) => {
    const program = await runProgram(t, args, env, { cwd })
    const status = await program.ended
    return { status, output: program.results(), told: program.messages() }
  }
}

t.test('an operation is called by its name, with its path, query and body', async (t) => {
  const run = await setUp(t, 'admin')
  const create = ['api', 'create-webhook-endpoint', '--url', receiverUrl]
  const types = ['--event-types', 'order.updated', 'post.updated']
  const limit = ['--rate-limit', '{"perSecond":3}', '--recover-when-disabled']
  const made = await run(...create, ...types, ...limit, '--description', 'null')
  t.equal(made.status, 0, made.told)
  const { id, secret, ...endpoint } = JSON.parse(made.output)
  t.match(endpoint, {
    eventTypes: ['order.updated', 'post.updated'],
    rateLimit: { perSecond: 3, burst: 1 },
    recoverWhenDisabled: true,
    description: null,
  })
  const rotate = ['rotate-webhook-endpoint-secret', id, '--overlap-seconds', '0']
  const rotated = JSON.parse((await run('api', ...rotate)).output)
  t.match(rotated, { id, secret: /^whsec_/, previousSecretExpiresAt: null })
  t.not(rotated.secret, secret)
  const changed = ['update-webhook-endpoint', id, '--no-recover-when-disabled']
  t.match(JSON.parse((await run('api', ...changed)).output), { recoverWhenDisabled: false })
  const page = await run('api', 'list-webhook-endpoints', '--limit', '1')
  t.match(JSON.parse(page.output), { data: [{ id }], nextCursor: null })

  const key = ['--idempotency-key', 'once']
  const post = ['api', 'create-post', '--title', 'Keys', '--body', '2', ...key]
  const first = JSON.parse((await run(...post)).output)
  t.match(first, { title: 'Keys', body: '2' }, 'a text of digits stays a text')
  t.equal(JSON.parse((await run(...post)).output).id, first.id, 'the header names the request')

  const items = '[{"sku":"GATE-OAK-200","quantity":1,"unitPrice":45900}]'
  const address = { name: 'Ada', line1: '1', city: 'Porto', postalCode: '4000', country: 'PT' }
  const order = ['--card-last4', '4242', '--line-items', items]
  const placed = await run(
    'api',
    'create-order',
    ...order,
    '--shipping-address',
    JSON.stringify(address),
  )
  t.match(JSON.parse(placed.output), { cardLast4: '4242', shippingAddress: address })

  const stale = await run('api', 'delete-webhook-endpoint', id, '--if-match', '"old"')
  t.match(stale, { status: 1, output: '', told: /gatehouse: 412 / })
  t.match(await run('api', 'delete-webhook-endpoint', id), { status: 0, output: '', told: '' })
  const gone = await run('api', 'get-webhook-endpoint', id)
  t.match(gone, { status: 1, output: '', told: /gatehouse: 404 Not found/ })
})

t.test('a short name is its operation', async (t) => {
  const run = await setUp(t, 'admin')
  const made = await run('endpoints', 'create', receiverUrl, '--json')
  const { id, secret } = JSON.parse(made.output)
  const rotated = JSON.parse(
    (await run('endpoints', 'rotate', id, '--overlap-seconds', '0')).output,
  )
  t.match(rotated, { id, previousSecretExpiresAt: null })
  t.not(rotated.secret, secret)
  t.match(JSON.parse((await run('endpoints', 'enable', id)).output), { id, status: 'active' })
  t.match(JSON.parse((await run('endpoints', 'show', id)).output), { id })
  t.match(await run('endpoints', 'show', id, 'more'), { status: 2, told: /too many arguments/ })
  t.equal((await run('endpoints', 'delete', id)).status, 0)
  for (const action of ['show', 'rotate', 'enable', 'delete']) {
    t.match(await run('endpoints', action, id), { status: 1, told: /404 Not found/ }, action)
  }
})

t.test('the token decides what a command may do', async (t) => {
  const run = await setUp(t, 'viewer')
  const refused = await run('api', 'create-webhook-endpoint', '--url', receiverUrl)
  t.match(refused, { status: 1, output: '', told: /gatehouse: 403 / })
  const session = await run('api', 'create-api-token', '--name', 'another')
  t.match(session, { status: 2, told: /unknown command 'create-api-token'/ }, 'needs a session')
})

t.test('help, wrong usage and completion follow the description', async (t) => {
  const run = await setUp(t, 'admin')
  const all = await run('api', '--help')
  t.equal(all.status, 0)
  t.match(all.output, /^webhook endpoints:\n[\s\S]*^ {2}rotate-webhook-endpoint-secret /m)
  const one = await run('api', 'rotate-webhook-endpoint-secret', '--help')
  t.match(one.output, /^Usage: gatehouse api rotate-webhook-endpoint-secret \[options\] <id>/)
  t.match(one.output, /^ {2}--overlap-seconds <json> +How long the previous secret still signs/m)
  t.equal((await run('endpoints', 'rotate', '--help')).output, one.output)

  const id = randomUUID()
  const wrong: [string[], RegExp][] = [
    [['rotate-webhook-endpoint-secre'], /Did you mean rotate-webhook-endpoint-secret\?/],
    [['get-webhook-endpoint'], /missing required argument 'id'/],
    [['get-webhook-endpoint', id, '--dance'], /unknown option '--dance'/],
    [['create-webhook-endpoint'], /required option '--url <text>' not specified/],
    [['rotate-webhook-endpoint-secret', id, '--overlap-seconds', 'soon'], /must be JSON/],
    [['create-webhook-endpoint', '--url', 'a', '--payload', 'odd'], /choices are full, thin/],
  ]
  for (const [args, message] of wrong) {
    t.match(await run('api', ...args), { status: 2, output: '', told: message }, args.join(' '))
  }

  const named = await run('complete', '--', 'api', 'rotate-w')
  t.match(named, { status: 0, output: /^rotate-webhook-endpoint-secret\tRotate the secret/m })
  const options = await run('complete', '--', 'api', 'rotate-webhook-endpoint-secret', '--over')
  t.match(options.output, /^--overlap-seconds\t/m)
})

t.test('without an instance there is the help of the command itself', async (t) => {
  const run = async (...args: string[]) => {
    const program = await runProgram(t, args, { NODE_ENV: 'production' })
    const status = await program.ended
    return { status, output: program.results(), told: program.messages() }
  }
  t.match(await run('api', '--help'), { status: 0, output: /^Usage: gatehouse api \[operation\]/ })
  t.match(await run('api', 'get-post', '1'), { status: 1, told: /GATEHOUSE_TOKEN: is missing/ })
  t.match(await run('complete', '--', 'api', ''), { status: 0, told: '' })
})
