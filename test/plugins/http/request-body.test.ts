import { once } from 'node:events'
import { request } from 'node:http'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { collectRoutes } from '#dev/testing/access/collected-routes.ts'
import { createUser, signIn } from '#dev/testing/people.ts'
import { policy } from '#src/access/policy.ts'
import { build, type TestApp } from '#test/support/app/app.ts'
import { addIdentity } from '#test/support/callers/account.ts'
import { addAppToken } from '#test/support/callers/app-caller.ts'
import { portalOwner } from '#test/support/callers/portal.ts'
import { owner } from '#test/support/callers/token-owner.ts'

type Headers = Record<string, string>

/** Sends over a socket exactly these headers, and each chunk by itself. */
async function send(
  { app }: TestApp,
  call: { method: string; url: string; headers: Headers; chunks?: readonly (string | Buffer)[] },
) {
  const { method, url, headers, chunks = [] } = call
  const { port } = app.server.address() as { port: number }
  const sent = request({ port, method, path: url, headers })
  for (const chunk of chunks) sent.write(chunk)
  sent.end()
  const [response] = await once(sent, 'response')
  const received: Buffer[] = []
  for await (const chunk of response) received.push(chunk)
  const text = Buffer.concat(received).toString()
  return { status: response.statusCode, headers: response.headers, text }
}

async function listen(t: Test): Promise<TestApp> {
  const test = await build(t)
  await test.app.listen({ port: 0 })
  return test
}

/** What generated clients, proxies and people send with a request that has no body. */
const nothing: Headers[] = [
  {},
  { 'content-length': '0' },
  { 'content-type': 'application/json' },
  { 'content-type': 'application/json', 'content-length': '0' },
  { 'content-type': 'application/json; charset=utf-8', 'content-length': '0' },
  { 'content-type': 'APPLICATION/JSON', 'content-length': '0' },
  { 'content-type': 'application/json,application/json', 'content-length': '0' },
  { 'content-type': 'json' },
  { 'content-type': '' },
  { 'content-type': 'text/plain;charset=UTF-8', 'content-length': '0' },
  { 'content-type': 'application/octet-stream', 'content-length': '0' },
  { 'content-type': 'application/x-www-form-urlencoded', 'content-length': '0' },
  { 'content-type': 'multipart/form-data' },
  { 'content-type': 'application/json', 'content-encoding': 'gzip', 'content-length': '0' },
  { 'transfer-encoding': 'chunked' },
  { 'content-type': 'application/json', 'transfer-encoding': 'chunked' },
  { 'content-type': 'text/plain', 'transfer-encoding': 'chunked' },
]

t.test('an empty body is no body, whatever the headers say about it', async (t) => {
  const test = await listen(t)
  const { send: ask, make } = await owner(test, { role: 'admin' })
  for (const headers of nothing) {
    const name = JSON.stringify(headers)
    const { token } = await make()
    const authorization = `Bearer ${token}`
    const post = await ask('POST', '/posts', { title: 'a', body: 'b' })
    const { id } = post.json<{ id: number }>()
    const removed = await send(test, {
      method: 'DELETE',
      url: `/posts/${id}`,
      headers: { ...headers, authorization },
    })
    t.match(removed, { status: 204, text: '' }, `DELETE ${name}`)
    t.equal((await ask('GET', `/posts/${id}`)).statusCode, 404, 'and it is gone')
    const endpoint = await ask('POST', '/service-tokens', { name: 's', permissions: ['post:read'] })
    const rotated = await send(test, {
      method: 'POST',
      url: `/service-tokens/${endpoint.json().id}/rotate-secret`,
      headers: { ...headers, authorization },
    })
    t.notMatch(rotated, { status: 415 }, `POST ${name}`)
    const created = await send(test, {
      method: 'POST',
      url: '/posts',
      headers: { ...headers, authorization },
    })
    t.equal(created.status, 400, `POST that needs a body ${name}`)
    t.match(JSON.parse(created.text), { type: '/docs/errors/malformed', errors: [{ in: 'body' }] })
  }
})

t.test('an empty form of a page is still a form', async (t) => {
  const test = await listen(t)
  for (const length of [{}, { 'content-length': '0' }, { 'transfer-encoding': 'chunked' }]) {
    const { cookie } = await owner(test, { role: 'admin' })
    const headers = { cookie, 'content-type': 'application/x-www-form-urlencoded', ...length }
    const answer = await send(test, { method: 'POST', url: '/auth/logout', headers })
    t.match(answer, { status: 303, headers: { location: String } }, JSON.stringify(length))
  }
})

t.test('bytes of a type that nothing here reads are 415', async (t) => {
  const test = await listen(t)
  const { cookie } = await owner(test, { role: 'admin' })
  const types: Headers[] = [
    {},
    { 'content-type': 'text/plain' },
    { 'content-type': 'json' },
    { 'content-type': 'application/json,application/json' },
    { 'content-type': 'application/x-www-form-urlencoded' },
  ]
  for (const type of types) {
    for (const length of [{ 'content-length': '2' }, { 'transfer-encoding': 'chunked' }]) {
      const headers = { cookie, ...type, ...length } as Headers
      const answer = await send(test, { method: 'POST', url: '/posts', headers, chunks: ['{}'] })
      t.equal(answer.status, 415, JSON.stringify({ ...type, ...length }))
      t.match(JSON.parse(answer.text), { type: '/docs/errors/unsupported-media-type' })
    }
  }
})

const codings: Headers[] = [
  { 'content-encoding': 'gzip' },
  { 'content-encoding': 'GZIP' },
  { 'content-encoding': ' x-gzip ' },
  { 'content-encoding': 'deflate' },
  { 'content-encoding': 'br' },
  { 'content-encoding': 'zstd' },
  { 'content-encoding': 'identity, gzip' },
  { 'content-encoding': 'gzip, identity' },
  { 'content-encoding': 'utf-8' },
  { 'transfer-encoding': 'gzip, chunked' },
]

t.test('a body with an encoding is 415 and nothing is written', async (t) => {
  const test = await listen(t)
  const { send: ask, cookie } = await owner(test, { role: 'admin' })
  const json = JSON.stringify({ title: 'a', body: 'b' })
  for (const coding of codings) {
    for (const body of [json, gzipSync(json)]) {
      const length = { 'content-length': String(Buffer.byteLength(body)) }
      const headers: Headers = {
        cookie,
        'content-type': 'application/json',
        ...('transfer-encoding' in coding ? {} : length),
        ...coding,
      }
      const answer = await send(test, { method: 'POST', url: '/posts', headers, chunks: [body] })
      t.equal(answer.status, 415, JSON.stringify(coding))
      t.equal(answer.headers['accept-encoding'], 'identity', 'with what is accepted')
      t.match(JSON.parse(answer.text), {
        type: '/docs/errors/unsupported-media-type',
        detail: /Content-Encoding/,
      })
    }
  }
  t.strictSame((await ask('GET', '/posts')).json().data, [])
  for (const coding of ['identity', 'Identity', 'identity, identity', '']) {
    const headers = { cookie, 'content-type': 'application/json', 'content-encoding': coding }
    const answer = await send(test, { method: 'POST', url: '/posts', headers, chunks: [json] })
    t.equal(answer.status, 201, JSON.stringify(coding))
  }
})

t.test('a body with an encoding is 415 before any of it is read', async (t) => {
  const test = await listen(t)
  const { cookie } = await owner(test, { role: 'admin' })
  const { port } = test.app.server.address() as { port: number }
  const headers = {
    cookie,
    'content-type': 'application/json',
    'content-encoding': 'gzip',
    'content-length': '1000',
  }
  const sent = request({ port, method: 'POST', path: '/posts', headers })
  sent.flushHeaders()
  const [response] = await once(sent, 'response')
  t.equal(response.statusCode, 415, 'although no byte was sent')
  sent.on('error', () => {}).destroy()
})

t.test('no route reads an encoded body', async (t) => {
  const { built: test, routes } = await collectRoutes(() => build(t, { OPERATORS: 'demo:olga' }))
  const withBody = routes.filter(({ method }) => !['GET', 'HEAD', 'OPTIONS'].includes(method))
  t.ok(withBody.length > 90, `${withBody.length} routes`)
  const operator = await createUser(test.database, { role: 'admin' })
  await addIdentity(test, operator.userId, 'olga')
  const person = { cookie: (await signIn(test, operator)).cookie }
  const { token } = await addAppToken(test.database)
  const app = { authorization: `Bearer ${token}` }
  const { cookie } = await (await portalOwner(test)).enter()
  for (const { method, url, access, namesTenant } of withBody) {
    const isForm = /^\/(app|portal)\//.test(url)
    const type = isForm ? 'application/x-www-form-urlencoded' : 'application/json'
    const caller = namesTenant || isOfApps(access) ? app : person
    const answer = await test.app.inject({
      method: method as 'POST',
      url: url.replaceAll(/:(\w+)/g, '1'),
      headers: {
        ...(url.startsWith('/portal/') ? { cookie } : caller),
        'content-type': type,
        'content-encoding': 'gzip',
      },
      payload: gzipSync('{}'),
    })
    t.equal(answer.statusCode, 415, `${method} ${url}`)
  }
})

/** Whether only app tokens may call a route with this access rule. */
function isOfApps(access: unknown): boolean {
  const { resource, action } = { resource: '', action: '', ...Object(access) }
  const rules = policy.filter((rule) => rule.resource === resource && rule.action === action)
  return rules.length > 0 && rules.every(({ scope }) => scope === 'app')
}

t.test('a body that is not JSON is refused with the place of the fault', async (t) => {
  const test = await build(t)
  const { cookie } = await signIn(test, await createUser(test.database, { role: 'admin' }))
  const detailOf = async (payload: string) => {
    const headers = { cookie, 'content-type': 'application/json' }
    const answer = await test.app.inject({ method: 'POST', url: '/posts', headers, payload })
    t.equal(answer.statusCode, 400, payload)
    return answer.json().detail
  }
  t.equal(await detailOf('{'), 'The body is not JSON: see line 1, column 2.')
  t.equal(await detailOf('{\n  "a": 1,\n}'), 'The body is not JSON: see line 3, column 1.')
  t.equal(await detailOf('{"secret": hush}'), 'The body is not JSON: “h” is not expected.')
  t.equal(await detailOf('[1,'), 'The body is not JSON: it ends early.')
  t.match(await detailOf('{"__proto__": 1}'), 'a field `__proto__`')
})
