import t from 'tap'
import type { AccessTable, ResourceAccess } from '#dev/testing/access/table.ts'
import { expectAccess, startTestApp, type TestApp } from '#dev/testing/index.ts'

const everybody = ['viewer', 'editor', 'admin']
const writers = ['editor', 'admin']
const address = {
  ...{ name: 'Ada Lovelace', line1: '1 Analytical Street', city: 'London' },
  ...{ postalCode: 'N1', country: 'GB' },
}
const order: ResourceAccess = {
  reach: 'owner',
  example: {
    ...{ currency: 'USD', cardLast4: '4242', shippingAddress: address },
    lineItems: [{ sku: 'GATE', quantity: 1, unitPrice: 900 }],
  },
  change: { shippingAddress: { ...address, city: 'Porto' } },
  ...{ read: everybody, create: everybody, update: everybody },
}
const post: ResourceAccess = {
  example: { title: 'Opening hours', body: 'The gate opens at nine.' },
  ...{ read: [...everybody, 'service'], create: [...writers, 'service'] },
  ...{ update: [...writers, 'service'], delete: ['admin', 'service'] },
}

/** The shop's, with one that is in the folder of a team of the person. */
function tableOf(app: TestApp): AccessTable {
  const document: ResourceAccess = {
    reach: 'chain',
    async example({ tenantId, userId }) {
      const { send } = await app.addPerson({ role: 'admin', tenantId })
      const team = (await send('POST', '/teams', { name: 'Team' })).body.id
      await send('PUT', `/teams/${team}/members/${userId}`)
      const folder = await send('POST', '/folders', { name: 'Folder', teamId: team })
      return { title: 'Rota', body: 'Who opens the gate.', folderId: folder.body.id }
    },
    change: { title: 'Another' },
    ...{ read: everybody, create: writers, update: writers },
  }
  const { name, ...rest } = address
  return {
    resources: { order, post, document },
    routes: {
      'GET /app/orders': { callers: everybody },
      'GET /app/orders/:id': { callers: everybody },
      'POST /app/orders/:id/address': {
        callers: everybody,
        body: { name, ...rest, line2: '' },
      },
    },
  }
}

t.test('an app that is as its table passes', async (t) => {
  const app = await startTestApp({ now: () => new Date('2026-03-02T12:00:00Z') })
  t.teardown(app.stop)
  await expectAccess(app, tableOf(app))
})

t.test('each difference is one sentence, whichever lock is missing', async (t) => {
  const app = await startTestApp({ now: () => new Date('2026-03-02T12:00:00Z') })
  t.teardown(app.stop)
  await app.sql('ALTER POLICY tenant_scope ON posts USING (true)')
  const right = tableOf(app)
  const resources = {
    ...right.resources,
    post: { ...post, create: writers, delete: { editor: 'own', admin: 'all', service: 'all' } },
  } as const
  const error = await expectAccess(app, { ...right, resources }).then(
    () => null,
    (error: Error) => error,
  )
  t.equal(error?.name, 'AssertionError')
  const lines = String(error?.message).split('\n  ')
  for (const line of [
    'The app and the table differ:',
    'service token may POST /posts: expected 403, got 201',
    'editor may not DELETE /posts/:id, their own: expected 204, got 403',
    'admin may GET /posts/:id, another tenant’s: expected 404, got 200 (row-level security alone)',
  ]) {
    t.ok(lines.includes(line), line)
  }
})

t.test('a table that does not fit the app is refused before anything is asked', async (t) => {
  const app = await startTestApp()
  t.teardown(app.stop)
  const right = tableOf(app)
  const { document: _, ...others } = right.resources ?? {}
  const { 'GET /app/orders': __, ...routes } = right.routes ?? {}
  const cases: [AccessTable, RegExp][] = [
    [{ ...right, resources: others }, /no row for the rule document:read/],
    [{ ...right, routes }, /no row for the route GET \/app\/orders/],
    [{ ...right, routes: { ...right.routes, 'GET /no': { callers: [] } } }, /GET \/no/],
    [{ resources: { post: { ...post, read: ['owner'] } } }, /lets owner do post:read/],
    [{ resources: { ...right.resources, page: post } }, /has the resource page/],
  ]
  for (const [table, message] of cases) await t.rejects(expectAccess(app, table), { message })
  await t.rejects(expectAccess({ ...app }, right), { message: /startTestApp/ })
})
