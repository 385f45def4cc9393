import Fastify from 'fastify'
import fp from 'fastify-plugin'
import t, { type Test } from 'tap'
import Type from 'typebox'
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
async function serve(
  t: Test,
  route: 'GET /t/:id' | 'POST /t/:id',
  action: Action<Person, typeof Params>,
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
  app.decorateRequest('clientInfo', { getter: () => ({ userAgent: 'test', ip: null }) })
  app.decorateReply('ifMatch', async (lock: () => Promise<unknown>) => {
    log.push(await lock())
  })
  app.setErrorHandler((error: { code?: string }, _request, reply) =>
    reply.code(404).send(error.code),
  )
  app.register(actions).after(() => app.api(route, action, { entryOf: () => entry, head: false }))
  await app.ready()
  return { app, log }
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
    t.equal(answer.body, 'not-found')
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
