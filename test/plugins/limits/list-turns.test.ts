import Fastify, { type FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import t, { type Test } from 'tap'
import errors from '#plugins/http/errors.ts'
import listTurns from '#plugins/limits/list-turns.ts'
import { build } from '#test/support/app/app.ts'
import { owner } from '#test/support/callers/token-owner.ts'
import { untilBlocked } from '#test/support/database/until.ts'

const config = { access: { resource: 'post', action: 'read' } } as const
const querystring = { type: 'object', properties: { cursor: { type: 'string' } } }
const tick = () => new Promise((resolve) => setImmediate(resolve))

type Held = { name: string; finish(): void }

/** A server with a list and a read of one object, whose requests are in `held` until they are finished. */
async function open(t: Test) {
  const app: FastifyInstance = Fastify()
  t.teardown(() => app.close())
  const held: Held[] = []
  const hold = ({ headers }: { headers: Record<string, unknown> }) =>
    new Promise<string[]>((resolve, reject) => {
      const name = String(headers['x-name'])
      held.push({ name, finish: () => (name === 'fails' ? reject(new Error('x')) : resolve([])) })
    })
  await app.register(fp(async () => {}, { name: 'compression' }))
  await app.register(errors)
  app.decorateRequest('credential', {
    getter(): never {
      const token = this.headers['x-token']
      return (token === undefined ? null : { hash: Buffer.from(String(token)) }) as never
    },
  })
  app.decorateRequest('principalEntry', {
    getter(): never {
      return { holder: () => this.headers['x-tenant'] } as never
    },
  })
  await app.register(listTurns)
  app.get('/list', { config, schema: { querystring } }, hold)
  app.get('/one', { config }, hold)
  app.get('/search', { config: { ...config, takesTurn: true } }, hold)
  const names = () => held.map(({ name }) => name)
  const ask = (url: string, name: string, token = 'a', tenant = 'A', method = 'GET' as const) =>
    app.inject({ method, url, headers: { 'x-name': name, 'x-token': token, 'x-tenant': tenant } })
  return { app, held, names, ask }
}

t.test('a token has one turn, a tenant two, and all tenants four', async (t) => {
  const { held, names, ask } = await open(t)
  const asked = [
    ask('/list', 'a1', 'a', 'A'),
    ask('/list', 'a2', 'a', 'A'),
    ask('/search', 'a3', 'a', 'A'),
    ask('/list', 'b1', 'b', 'A'),
    ask('/list', 'c1', 'c', 'A'),
    ...['d', 'e', 'f'].map((token) => ask('/list', `${token}1`, token, token)),
    ask('/one', 'an object', 'a', 'A'),
  ]
  await tick()
  t.strictSame(names(), ['a1', 'b1', 'd1', 'e1', 'an object'])
  held.shift()?.finish()
  await asked[0]
  await tick()
  t.strictSame(names().slice(-1), ['f1'], 'a tenant without a turn goes before the rest of A')
  while (held.length > 0) {
    held.shift()?.finish()
    await tick()
    await tick()
  }
  for (const one of asked) t.equal((await one).statusCode, 200)
})

t.test('a failure, HEAD and a request without a credential leave nothing behind', async (t) => {
  const { app, held, names, ask } = await open(t)
  const failing = ask('/list', 'fails')
  await tick()
  held.shift()?.finish()
  t.equal((await failing).statusCode, 500)
  for (const method of ['HEAD', 'GET', 'HEAD'] as const) {
    const next = app.inject({ method, url: '/list', headers: { 'x-name': method, 'x-token': 'a' } })
    await tick()
    t.strictSame(names(), [method])
    held.shift()?.finish()
    t.equal((await next).statusCode, 200)
  }
  const anonymous = app.inject({ url: '/list', headers: { 'x-name': 'anonymous' } })
  await tick()
  held.shift()?.finish()
  t.equal((await anonymous).statusCode, 200)
})

t.test('beyond 128 lists that wait, a token is refused, and others have their lists', async (t) => {
  const test = await build(t)
  const [greedy, other] = [await owner(test, { role: 'admin' }), await owner(test)]
  const holder = await test.database.admin.connect()
  t.teardown(() => holder.release(true))
  await holder.query('BEGIN; LOCK TABLE posts IN ACCESS EXCLUSIVE MODE')
  const lists = Array.from({ length: 129 }, () => greedy.send('GET', '/posts'))
  await untilBlocked(test.database)
  const refused = await greedy.send('GET', '/orders')
  t.equal(refused.statusCode, 429)
  t.equal(refused.headers['retry-after'], '1')
  t.match(refused.json(), {
    type: '/docs/errors/too-many-requests',
    detail:
      /^All turns of lists of your session or token are in use \(1\), and 128 requests are wait/,
  })
  t.equal((await greedy.send('GET', '/me')).statusCode, 200, 'what is no list needs no turn')
  t.equal((await other.send('GET', '/orders')).statusCode, 200)
  await holder.query('COMMIT')
  const statuses = new Set((await Promise.all(lists)).map(({ statusCode }) => statusCode))
  t.ok(statuses.has(200), [...statuses].join())
})
