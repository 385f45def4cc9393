import formbody from '@fastify/formbody'
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import t, { type Test } from 'tap'
import Type, { type TSchema } from 'typebox'
import forms, { type FormPageRoute, type FormRoute } from '#plugins/pages/forms.ts'
import { type Acting, type Action, defineAction } from '#src/actions/action.ts'
import type { Entry } from '#src/db/entry.ts'
import { Problem } from '#src/http/problems.ts'

type Person = { readonly userId: number; readonly tenantId: string }
type Work = (tx: object, caller: Person) => Promise<unknown>

const common = {
  name: 'doThing',
  rule: { resource: 'post', action: 'update' },
  tag: 'things',
  summary: 'Do a thing',
  params: Type.Object({ id: Type.String(), part: Type.String() }),
  result: Type.Object({ id: Type.String() }),
} as const
const entry = {} as Entry<Person>
const entryOf = () => entry
const at = { entryOf, to: '/t' }
const fields = { part: Type.String(), name: Type.String({ minLength: 1 }), confirm: Type.String() }
const Fields = Type.Object(fields)
const OnceFields = Type.Object({ ...fields, submission: Type.String() })
const sent = { part: 'p', name: 'n', confirm: 'yes' }

/** A server whose transactions and submissions note what became of them. */
async function serve<Body extends TSchema, Fields extends TSchema>(
  t: Test,
  action: Action<Person, typeof common.params, Body>,
  route:
    | FormRoute<Person, Body, Fields, typeof common.params>
    | FormPageRoute<Person, Body, Fields, typeof common.params>,
) {
  const log: unknown[] = []
  const app = Fastify()
  t.teardown(() => app.close())
  for (const name of ['idempotency', 'pages']) app.register(fp(async () => {}, { name }))
  app.register(formbody)
  app.decorate('db', {
    async write(given: unknown, work: Work) {
      log.push(given === entry ? 'write' : 'another entry')
      const result = await work({}, { userId: 7, tenantId: 'a' })
      log.push('commit')
      return result
    },
    async close() {},
  } as never)
  app.decorate('clock', { now: () => new Date(0) } as never)
  app.decorate('readCustomerUrl', async (text: string) => {
    log.push('outside')
    return `${text}/`
  })
  app.decorateRequest('clientInfo', { getter: () => ({ userAgent: 'test', ip: null }) })
  app.decorateRequest('submitOnce', async (_: object, { userId }: object & Person, work: Work) => {
    const result = Object(await work({}, { userId, tenantId: 'a' }))
    log.push(['kept', userId, result])
    return result.path ?? null
  })
  app.decorateRequest('showAgain', (...shown: unknown[]) => void log.push(shown))
  app.decorateReply('sendPage', function (page: object) {
    return this.send(page)
  })
  app.setErrorHandler((error: Error & { code?: string; statusCode?: number }, _, reply) =>
    reply.code(error.statusCode ?? 500).send(`${error.code} ${error.message}`),
  )
  app.addHook('onRoute', ({ config, schema }) => void log.push({ ...config, hide: schema?.hide }))
  app.register(forms).after(() => {
    const register = async (scope: FastifyInstance) =>
      'page' in route
        ? scope.formPage('/t/:id', action, route)
        : scope.form('/t/:id', action, route)
    app.register(register, { prefix: '/app' })
  })
  await app.ready()
  const config = log.shift()
  const send = (payload: Record<string, string> = {}, id = 'a') =>
    app.inject({
      method: 'POST',
      url: `/app/t/${id}`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams(payload).toString(),
    })
  const open = (id = 'a') => app.inject(`/app/t/${id}`)
  return { send, open, config, log }
}

const thing = (run: (acting: Acting<Person>, input: object) => Promise<never> | Promise<unknown>) =>
  defineAction({ ...common, run: run as () => Promise<object> })

t.test('a form runs its action in a write of its entry, then leads to the result', async (t) => {
  const seen: unknown[] = []
  const action = thing(async ({ by, now }, input) => {
    seen.push(by, now, input)
    return { id: 'new/1' }
  })
  const { send, log, config } = await serve(t, action, {
    entryOf,
    to: '/t/:id',
    notice: 'done',
    fields: Fields,
  })
  t.match(config, { access: common.rule, hide: true })
  const { statusCode, headers } = await send(sent)
  t.equal(statusCode, 303)
  t.equal(headers.location, '/app/t/new%2F1?done=done')
  t.strictSame(log, ['write', 'commit'])
  const clientInfo = { userAgent: 'test', ip: null }
  t.strictSame(seen, [
    { userId: 7, tenantId: 'a', clientInfo },
    new Date(0),
    { params: { id: 'a', part: 'p' }, body: { part: 'p', name: 'n' } },
  ])
})

t.test('the path decides over a field of the same name', async (t) => {
  const seen: unknown[] = []
  const action = thing(async (_, input) => seen.push(Object(input).params.id) && true)
  const { send } = await serve(t, action, { ...at, fields: Type.Object({ id: Type.String() }) })
  t.equal((await send({ id: 'other' })).headers.location, '/app/t')
  t.strictSame(seen, ['a'])
})

t.test('a form that does not fit its fields, or a path that does not, does nothing', async (t) => {
  const params = Type.Object({ id: Type.String({ maxLength: 1 }), part: Type.String() })
  const action = defineAction({ ...common, params, run: async (_: Acting<Person>) => true })
  const { send, log } = await serve(t, action, { ...at, fields: Fields })
  t.equal((await send({ ...sent, name: '' })).statusCode, 400)
  t.equal((await send(sent, 'ab')).statusCode, 400)
  t.strictSame(log, [])
  t.equal((await send(sent)).statusCode, 303)
})

t.test('a form reads its body from its fields, the path and the time', async (t) => {
  const Body = Type.Object({ text: Type.String() })
  const seen: unknown[] = []
  const action = defineAction({
    ...common,
    body: Body,
    run: async (_: Acting<Person>, { body }) => seen.push(body) > 0,
  })
  const { send } = await serve(t, action, {
    ...at,
    fields: Fields,
    read: ({ fields, params, now }) => ({ text: `${fields.name} ${params.id} ${+now}` }),
  })
  await send(sent)
  t.strictSame(seen, [{ text: 'n a 0' }])
})

t.test('a form with a submission is kept, with the secret that its page shows once', async (t) => {
  const seen: unknown[] = []
  const action = thing(async (_, input) => {
    seen.push(Object(input).body)
    return { id: 'b', token: 'gth_1' }
  })
  const secret = ({ token }: { token: string }) => ({ secret: token, note: null })
  const { send, log } = await serve(t, action, { ...at, fields: OnceFields, secret })
  const { headers } = await send({ ...sent, submission: 'x' })
  t.equal(headers.location, '/app/t')
  const kept = { path: '/app/t', secret: { secret: 'gth_1', note: null } }
  t.strictSame(log, ['write', ['kept', 7, kept], 'commit'])
  t.strictSame(seen, [{ part: 'p', name: 'n' }], 'the action does not see its id')
  const without = serve(t, action, { ...at, fields: Fields, secret })
  await t.rejects(without, /shows a secret, but has no submission/)
})

t.test('a missing object is 404 and commits nothing', async (t) => {
  for (const missing of [null, false]) {
    for (const fields of [Fields, OnceFields]) {
      const { send, log } = await serve(
        t,
        thing(async () => missing),
        { ...at, fields },
      )
      t.match((await send({ ...sent, submission: 'x' })).body, /^not-found /)
      t.strictSame(log, ['write'])
    }
  }
})

t.test('a refusal is committed, then it is the problem that the action declares', async (t) => {
  const refusals = { full: 'There is no room.', last: { code: 'last-sign-in-method' } } as const
  for (const [refusal, body] of [
    ['full', 'conflict There is no room.'],
    ['last', 'last-sign-in-method '],
    ['other', 'undefined doThing has no refusal other.'],
  ] as const) {
    const action = defineAction({ ...common, refusals, run: async (_: Acting<Person>) => refusal })
    for (const fields of [Fields, OnceFields]) {
      const { send, log } = await serve(t, action, { ...at, fields })
      t.match((await send({ ...sent, submission: 'x' })).body, body)
      t.equal(log.at(-1), 'commit')
    }
  }
})

t.test('only what the person can correct shows the form again', async (t) => {
  const shown = [
    [new Problem('conflict', { detail: 'Full.' }), 409, 'again n Full.'],
    [new Problem('malformed', { detail: 'Bad.' }), 400, 'again n Bad.'],
    [new Problem('not-found'), 500, /^not-found /],
    [new Problem('forbidden'), 500, /^forbidden /],
    [new Error('broken'), 500, /broken/],
  ] as const
  for (const [error, status, body] of shown) {
    const action = thing(() => Promise.reject(error))
    const { send, log } = await serve(t, action, {
      ...at,
      fields: Fields,
      again: async (request, reply, { detail }) =>
        reply.send(`again ${request.body.name} ${detail}`),
    })
    const answer = await send(sent)
    t.equal(answer.statusCode, status)
    t.match(answer.body, body)
    t.strictSame(log, ['write'], 'it is rolled back')
  }
  const refusals = { full: 'There is no room.' }
  const action = defineAction({ ...common, refusals, run: async (_: Acting<Person>) => 'full' })
  const { send } = await serve(t, action, {
    ...at,
    fields: Fields,
    again: async (_, reply) => reply.send('again'),
  })
  t.equal((await send(sent)).statusCode, 409)
})

t.test('a body is completed before the transaction', async (t) => {
  const action = defineAction({
    ...common,
    body: Type.Object({ name: Type.String() }),
    prepare: async (body, { readUrl }) => ({ name: await readUrl(body.name) }),
    run: async (_: Acting<Person>, { body }) => ({ id: body.name }),
  })
  const { send, log } = await serve(t, action, { entryOf, to: '/t/:id', fields: Fields })
  t.equal((await send(sent)).headers.location, '/app/t/n%2F')
  t.strictSame(log, ['outside', 'write', 'commit'])
})

t.test('a form with a page of its own opens under the rule of its action', async (t) => {
  const action = thing(async () => ({ id: 'b' }))
  const page = async (request: FastifyRequest) => ({ title: `for ${Object(request.params).id}` })
  const { send, open, config, log } = await serve(t, action, {
    ...{ entryOf, to: '/t/:id', fields: Fields },
    page: page as never,
  })
  t.match(config, { access: common.rule, hide: true })
  t.match(log.splice(0), [{ access: common.rule, hide: true }, { access: common.rule }])
  t.same((await open('x')).json(), { title: 'for x' })
  t.strictSame(log, [], 'it does nothing')
  t.equal((await send(sent)).headers.location, '/app/t/b')
})

t.test('a page shows its form again with what was entered, and why it was refused', async (t) => {
  const problem = new Problem('conflict', { detail: 'Full.' })
  const action = thing(() => Promise.reject(problem))
  const page = async () => ({ title: 'the form' }) as never
  const { send, log } = await serve(t, action, { ...at, fields: Fields, page })
  log.length = 0
  const refused = await send(sent)
  t.equal(refused.statusCode, 409)
  t.same(refused.json(), { title: 'the form' })
  t.same(log, ['write', [sent, problem]])
})
