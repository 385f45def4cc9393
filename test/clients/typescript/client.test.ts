import t from 'tap'
import { build } from '#test/support/app/app.ts'
import { createOrder } from '#test/support/callers/objects.ts'
import { owner } from '#test/support/callers/token-owner.ts'
import { untilInFeed } from '#test/support/receiver/until-in-feed.ts'
import { ApiError } from '../../../clients/typescript/src/api-error.ts'
import { createClient, type Schemas, unwrap } from '../../../clients/typescript/src/client.ts'

const shippingAddress = {
  name: 'Ada',
  line1: '2 Quay',
  city: 'Porto',
  postalCode: '4000',
  country: 'PT',
}
const newOrder = {
  lineItems: [{ sku: 'GATE-OAK-200', quantity: 1, unitPrice: 45_900 }],
  shippingAddress,
  cardLast4: '4242',
}

/** A listening server and the token of an admin. */
async function serve(t: Parameters<typeof build>[0], settings: Record<string, string> = {}) {
  const test = await build(t, settings)
  const { user, make } = await owner(test, { role: 'admin' })
  const { token } = await make()
  const baseUrl = await test.app.listen({ host: '127.0.0.1', port: 0 })
  return { test, user, baseUrl, token }
}

t.test('an order is placed, read and changed, with numbers as ids', async (t) => {
  const { baseUrl, token } = await serve(t)
  const api = createClient({ baseUrl, token })
  const order: Schemas['Order'] = unwrap(await api.POST('/orders', { body: newOrder }))
  const at = { params: { path: { id: order.id } } }
  const changed = await api.PATCH('/orders/{id}', {
    ...at,
    body: { shippingAddress: { ...shippingAddress, city: 'Faro' } },
  })
  t.equal(changed.data?.shippingAddress.city, 'Faro')
  const read = await api.GET('/orders/{id}', at)
  t.strictSame(read.data, changed.data)

  const missing = await api.GET('/orders/{id}', { params: { path: { id: order.id + 1 } } })
  const type: '/docs/errors/not-found' | undefined =
    missing.error?.status === 404 ? missing.error.type : undefined
  t.equal(type, '/docs/errors/not-found')
  t.throws(() => unwrap(missing), {
    name: 'ApiError',
    status: 404,
    problem: { title: 'Not found' },
  })
})

t.test('a list is iterated page by page, with its filters', async (t) => {
  const { test, user, baseUrl, token } = await serve(t)
  const placed: number[] = []
  for (let number = 0; number < 5; number += 1) placed.push(await createOrder(test.database, user))
  const urls: string[] = []
  const api = createClient({
    baseUrl,
    token,
    fetch: (request) => {
      urls.push(request.url)
      return fetch(request)
    },
  })
  const ids: number[] = []
  const query = { limit: 2, sort: 'createdAt' } as const
  for await (const { id } of api.list('/orders', { params: { query } })) ids.push(id)
  t.strictSame(ids, placed)
  t.equal(urls.length, 3)
  for (const url of urls) t.match(url, /limit=2&sort=createdAt/)

  const sizes: number[] = []
  for await (const { data } of api.pages('/orders', { params: { query: { limit: 3 } } })) {
    sizes.push(data.length)
  }
  t.strictSame(sizes, [3, 2])
  for await (const _ of api.list('/events')) t.fail('there are no events')
  const stranger = createClient({ baseUrl, token: 'gth_none' })
  await t.rejects(stranger.list('/orders').next(), ApiError)
})

t.test('the feed of events is continued with its own cursor', async (t) => {
  const { test, user, baseUrl, token } = await serve(t)
  const api = createClient({ baseUrl, token })
  const id = await createOrder(test.database, user)
  const change = () =>
    api.PATCH('/orders/{id}', { params: { path: { id } }, body: { shippingAddress } })
  for (let number = 0; number < 3; number += 1) unwrap(await change())
  let after: string | undefined
  const seen: string[] = []
  const catchUp = async () => {
    await untilInFeed(test.database)
    const query = { limit: 2, ...(after !== undefined && { after }) }
    for await (const page of api.pages('/events', { params: { query } })) {
      for (const event of page.data) {
        if (event.type === 'order.updated') seen.push(`${event.data.id} ${event.id}`)
      }
      after = page.nextCursor ?? after
    }
  }
  await catchUp()
  t.equal(new Set(seen).size, 3)
  unwrap(await change())
  await catchUp()
  t.equal(new Set(seen).size, 4)
  t.equal(seen.length, 4, 'each event once')
})

t.test('a POST whose response is lost is sent again and happens once', async (t) => {
  const { test, baseUrl, token } = await serve(t)
  const keys: (string | null)[] = []
  const api = createClient({
    baseUrl,
    token,
    fetch: async (request) => {
      keys.push(request.headers.get('idempotency-key'))
      const response = await fetch(request)
      if (keys.length === 1) throw new TypeError('the connection was lost')
      return response
    },
  })
  const { data, response } = await api.POST('/orders', { body: newOrder })
  t.equal(response.headers.get('idempotent-replayed'), 'true')
  t.equal(keys.length, 2)
  t.match(keys[0], /^[0-9a-f-]{36}$/)
  t.equal(keys[1], keys[0])
  const { rows } = await test.database.admin.query<{ id: string }>('SELECT id FROM orders')
  t.strictSame(rows, [{ id: String(data?.id) }])

  const other = await api.POST('/orders', { body: newOrder })
  t.equal(other.response.status, 201)
  t.not(keys[2], keys[0], 'another request has another key')
  await api.POST('/orders', { body: newOrder, headers: { 'idempotency-key': 'mine' } })
  t.equal(keys[3], 'mine')
  const endpoint = { url: 'https://8.8.8.8/hook' }
  const { id } = unwrap(await api.POST('/webhook-endpoints', { body: endpoint }))
  const enabled = await api.POST('/webhook-endpoints/{id}/enable', { params: { path: { id } } })
  t.equal(enabled.response.status, 200)
  t.equal(keys.at(-1), null, 'an operation that refuses a key gets none')
})

t.test('a PATCH whose response is lost is not sent again', async (t) => {
  const { test, user, baseUrl, token } = await serve(t)
  const id = await createOrder(test.database, user)
  let sent = 0
  const lost = new TypeError('the connection was lost')
  const api = createClient({
    baseUrl,
    token,
    fetch: async (request) => {
      sent += 1
      await fetch(request)
      throw lost
    },
  })
  const change = { params: { path: { id } }, body: { shippingAddress } }
  await t.rejects(api.PATCH('/orders/{id}', change), lost)
  t.equal(sent, 1)
})

t.test('a request beyond the limit waits as long as it is told, and succeeds', async (t) => {
  const { baseUrl, token } = await serve(t, { RATE_LIMIT_API: '2/3' })
  const statuses: number[] = []
  const api = createClient({
    baseUrl,
    token,
    fetch: async (request) => {
      const response = await fetch(request)
      statuses.push(response.status)
      return response
    },
  })
  for (let number = 0; number < 4; number += 1) {
    t.equal((await api.POST('/orders', { body: newOrder })).response.status, 201)
  }
  t.ok(statuses.includes(429))
  t.equal(statuses.filter((status) => status === 201).length, 4)
})

/** Wrong calls do not compile. */
export async function refusedByTheCompiler(api: ReturnType<typeof createClient>) {
  // @ts-expect-error there is no such path
  await api.GET('/nothing')
  // @ts-expect-error the body is missing
  await api.PATCH('/orders/{id}', { params: { path: { id: 1 } } })
  // @ts-expect-error an id is a number
  await api.GET('/orders/{id}', { params: { path: { id: '1' } } })
  // @ts-expect-error a limit is a number
  await api.GET('/orders', { params: { query: { limit: '1' } } })
  // @ts-expect-error it is no list
  api.list('/me')
  // @ts-expect-error there is no such filter
  api.list('/orders', { params: { query: { colour: 'red' } } })
  // @ts-expect-error the id of the endpoint is missing
  api.list('/webhook-endpoints/{id}/deliveries')
}
