import t from 'tap'
import type { ApiDescription } from '#src/http/openapi/examples.ts'
import { build } from '#test/support/app/app.ts'
import { owner } from '#test/support/callers/token-owner.ts'

t.test('201 names the new object in Location', async (t) => {
  const test = await build(t)
  const { send, make } = await owner(test, { role: 'admin' })
  const address = { name: 'A', line1: 'B', city: 'C', postalCode: '1', country: 'PT' }
  const lineItems = [{ sku: 'A', quantity: 1, unitPrice: 1 }]
  const team = await send('POST', '/teams', { name: 'a' })
  const made = {
    '/teams': team,
    '/posts': await send('POST', '/posts', { title: 'a', body: 'b' }),
    '/orders': await send('POST', '/orders', {
      lineItems,
      shippingAddress: address,
      cardLast4: '4242',
    }),
    '/folders': await send('POST', '/folders', { name: 'a', teamId: team.json().id }),
    '/auth/tokens': (await make()).answer,
    '/invitations': await send('POST', '/users', { email: 'a@b.example', role: 'viewer' }),
  }
  for (const [path, answer] of Object.entries(made)) {
    t.equal(answer.statusCode, 201, path)
    t.equal(answer.headers.location, `${path}/${answer.json().id}`)
    if (path === '/invitations') continue
    const read = await send('GET', String(answer.headers.location))
    t.equal(read.statusCode, 200, path)
    t.equal(read.json().id, answer.json().id)
  }
})

t.test('the description has Location for every 201, and Link for every page', async (t) => {
  const { app } = await build(t)
  const { paths } = (await app.inject('/openapi.json')).json<ApiDescription>()
  const answers = Object.values(paths)
    .flatMap((path) => Object.values(path))
    .flatMap(({ responses }) => Object.entries(responses))
  const created = answers.filter(([status]) => status === '201')
  t.ok(created.length > 5, `${created.length} operations`)
  for (const [, answer] of created) t.match(answer, { headers: { Location: {} } })
  const linked = answers.filter(([, answer]) => 'headers' in answer && answer.headers?.Link)
  t.ok(linked.length > 15, `${linked.length} lists`)
})
