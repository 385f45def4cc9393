import Fastify from 'fastify'
import fp from 'fastify-plugin'
import t, { type Test } from 'tap'
import Type, { type TSchema } from 'typebox'
import actions from '#plugins/api/actions.ts'
import { type Acting, type Action, defineAction } from '#src/actions/action.ts'
import type { Entry } from '#src/db/entry.ts'

type Person = { readonly userId: number }
type Work = (tx: object, caller: Person) => Promise<unknown>

const Params = Type.Object({ id: Type.String() })
const Thing = Type.Object({ id: Type.String() })
const common = {
  name: 'doThing',
  rule: { resource: 'post', action: 'update' },
  tag: 'things',
  summary: 'Do a thing',
  params: Params,
  result: Thing,
} as const
const entry = {} as Entry<Person>

/** A server whose transactions note how they were opened, and whose If-Match notes what it compares. */
async function serve<Body extends TSchema = TSchema>(
  t: Test,
  route: 'GET /t/:id' | 'POST /t/:id',
  action: Action<Person, typeof Params, Body>,
  named: { namesTenant?: true } = {},
) {
  const log: unknown[] = []
  const app = Fastify()
  t.teardown(() => app.close())
  for (const name of ['idempotency', 'preconditions']) app.register(fp(async () => {}, { name }))
  const open = (kind: string) => (given: unknown, work: Work) => {
    log.push(given === entry ? kind : 'another entry')
    return work({}, { userId: 7 })
  }
  app.decorate('db', { read: open('read'), write: open('write'), async close() {} } as never)
  app.decorate('clock', { now: () => new Date(0) } as never)
  app.decorate('readCustomerUrl', async (text: string) => {
    log.push('outside')
    return `${text}/`
  })
  app.decorateRequest('clientInfo', { getter: () => ({ userAgent: 'test', ip: null }) })
  app.decorateReply('ifMatch', async (lock: () => Promise<unknown>) => {
    log.push(await lock())
  })
  app.setErrorHandler((error: { code?: string; detail?: string; message: string }, _, reply) =>
    reply.code(404).send(`${error.code} ${error.detail ?? error.message}`),
  )
  app.addHook('onRoute', ({ config }) => void log.push(config))
  const registration = { entryOf: () => entry, head: false, ...named }
  app.register(actions).after(() => app.api(route, action, registration))
  await app.ready()
  return { app, config: log.shift(), log }
}

t.test(
  'an action runs in a write of its entry, with the caller, its client and the time',
  async (t) => {
    const seen: unknown[] = []
    const action = defineAction({
      ...common,
      async run({ by, now }: Acting<Person>, { params }) {
        seen.push(by, now)
        return { id: params.id, hidden: true }
      },
    })
    const { app, log } = await serve(t, 'POST /t/:id', action)
    const answer = await app.inject({ method: 'POST', url: '/t/a' })
    t.equal(answer.statusCode, 200)
    t.strictSame(answer.json(), { id: 'a' }, 'only what the result names')
    t.strictSame(log, ['write'])
    const clientInfo = { userAgent: 'test', ip: null }
    t.strictSame(seen, [{ userId: 7, clientInfo }, new Date(0)])
  },
)

t.test('a GET reads, and has a HEAD only if its registration does', async (t) => {
  const action = defineAction({ ...common, run: async (_: Acting<Person>, { params }) => params })
  const { app, log } = await serve(t, 'GET /t/:id', action)
  t.equal((await app.inject('/t/a')).statusCode, 200)
  t.strictSame(log, ['read'])
  t.notOk(app.hasRoute({ method: 'HEAD', url: '/t/:id' }))
})

t.test('null is 404, and false where nothing is returned', async (t) => {
  const results = [
    { status: {}, run: async () => null },
    { status: { status: 204 }, run: async () => false },
  ] as const
  for (const { status, run } of results) {
    const { app } = await serve(t, 'POST /t/:id', defineAction({ ...common, ...status, run }))
    const answer = await app.inject({ method: 'POST', url: '/t/a' })
    t.equal(answer.statusCode, 404)
    t.match(answer.body, /^not-found /)
  }
})

t.test('a new object is 201 with its location, a removed one 204 without a body', async (t) => {
  const made = defineAction({ ...common, status: 201, run: async () => ({ id: 'b' }) })
  const created = await serve(t, 'POST /t/:id', made)
  const answer = await created.app.inject({ method: 'POST', url: '/t/a' })
  t.equal(answer.statusCode, 201)
  t.equal(answer.headers.location, '/t/a/b')
  const removed = await serve(
    t,
    'POST /t/:id',
    defineAction({ ...common, status: 204, result: Type.Null(), run: async () => true }),
  )
  const empty = await removed.app.inject({ method: 'POST', url: '/t/a' })
  t.equal(empty.statusCode, 204)
  t.equal(empty.body, '')
})

t.test('If-Match is compared with the locked object before the action runs', async (t) => {
  const order: unknown[] = []
  const action = defineAction({
    ...common,
    lock: async (_: Acting<Person>, { id }) => ({ locked: id }),
    async run() {
      order.push('run')
      return { id: 'a' }
    },
  })
  const { app, log } = await serve(t, 'POST /t/:id', action)
  await app.inject({ method: 'POST', url: '/t/a' })
  t.strictSame([...log, ...order], ['write', { locked: 'a' }, 'run'])
})

t.test('a body is completed before the transaction', async (t) => {
  const action = defineAction({
    ...common,
    body: Type.Object({ url: Type.String() }),
    prepare: async (body, { readUrl }) => ({ url: await readUrl(body.url) }),
    run: async (_: Acting<Person>, { body }) => ({ id: body.url }),
  })
  const { app, log } = await serve(t, 'POST /t/:id', action)
  const answer = await app.inject({ method: 'POST', url: '/t/a', payload: { url: 'https://x' } })
  t.strictSame(answer.json(), { id: 'https://x/' })
  t.strictSame(log, ['outside', 'write'])
})

t.test('a refusal is the 409 with its detail, and an undeclared one is an error', async (t) => {
  for (const [refusal, body] of [
    ['full', 'conflict There is no room.'],
    ['other', 'undefined doThing has no refusal other.'],
  ] as const) {
    const refusals = { full: 'There is no room.' }
    const action = defineAction({ ...common, status: 201, refusals, run: async () => refusal })
    const { app } = await serve(t, 'POST /t/:id', action)
    t.equal((await app.inject({ method: 'POST', url: '/t/a' })).body, body)
  }
})

t.test('a 202 has the location that its action names, and a 200 has none', async (t) => {
  const run = async () => ({ id: 'b' })
  const location = ({ id }: { id: string }) => `/progress/${id}`
  const accepted = defineAction({ ...common, status: 202, location, run })
  const { app } = await serve(t, 'POST /t/:id', accepted)
  const answer = await app.inject({ method: 'POST', url: '/t/a' })
  t.equal(answer.statusCode, 202)
  t.equal(answer.headers.location, '/progress/b')
  const plain = await serve(t, 'POST /t/:id', defineAction({ ...common, run }))
  t.notOk((await plain.app.inject({ method: 'POST', url: '/t/a' })).headers.location)
})

t.test(
  'the route states the rule, once, the version and whether its path names a tenant',
  async (t) => {
    const action = defineAction({ ...common, once: true, versioned: Thing, run: async () => null })
    const { config } = await serve(t, 'POST /t/:id', action, { namesTenant: true })
    const { rule: access } = common
    t.match(config, { access, idempotencyKey: true, versioned: Thing, namesTenant: true })
    const { config: other } = await serve(
      t,
      'POST /t/:id',
      defineAction({ ...common, run: async () => null }),
    )
    for (const key of ['idempotencyKey', 'versioned', 'namesTenant'])
      t.notOk(Object.hasOwn(Object(other), key), key)
  },
)

t.test('an action gets the query that its schema names, or the page of its list', async (t) => {
  const seen: unknown[] = []
  const run = async (_: Acting<Person>, { query, page }: { query: unknown; page: unknown }) => {
    seen.push(query, page)
    return { id: 'a' }
  }
  const query = Type.Object({ status: Type.String() })
  const filtered = await serve(t, 'GET /t/:id', defineAction({ ...common, query, run }) as never)
  await filtered.app.inject('/t/a?status=open')
  t.equal((await filtered.app.inject('/t/a')).statusCode, 404, 'the schema is checked')
  const list = { name: 'things', forms: [] }
  const paged = await serve(t, 'GET /t/:id', defineAction({ ...common, list, run }))
  await paged.app.inject('/t/a?limit=7')
  t.match(seen, [{ status: 'open' }, undefined, { limit: '7' }, { limit: 7, after: null }])
})
