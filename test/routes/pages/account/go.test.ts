import t, { type Test } from 'tap'
import { createUser, signIn, type TestUser } from '#dev/testing/people.ts'
import { pagePathOf } from '#src/resources/kit/names.ts'
import { resources } from '#src/resources/running-app.ts'
import { receive } from '#test/billing/received.ts'
import { build } from '#test/support/app/app.ts'
import { addIdentity } from '#test/support/callers/account.ts'
import { createOrder, createTestInvoice } from '#test/support/callers/objects.ts'
import { createDelivery } from '#test/support/receiver/delivery.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

const uuid = '0b1c2d3e-4f50-4a6b-8c7d-9e0f1a2b3c4d'

/** The page as a person of this role sees it. */
async function openAs(t: Test, role: string, isOperator = false) {
  const test = await build(t, isOperator ? { OPERATORS: 'demo:olga' } : {})
  const user = await createUser(test.database, { role })
  if (isOperator) await addIdentity(test, user.userId, 'olga')
  const { cookie } = await signIn(test, user)
  const headers = { accept: 'text/html', cookie }
  const get = (url: string) => test.app.inject({ url, headers })
  const search = (q: string) => get(`/app/go?${new URLSearchParams({ q })}`)
  const find = async (q: string) => {
    const { statusCode, headers, body } = await search(q)
    if (statusCode === 303) return [headers.location]
    t.equal(statusCode, 200, q)
    return linksOf(body)
  }
  return { get, search, find }
}

/** The results of the page. */
function linksOf(body: string): string[] {
  const results = body.slice(body.indexOf('aria-label="Results"'), body.indexOf('</main>'))
  return [...results.matchAll(/<a href="([^"]*)"/g)].map(([, href = '']) => href)
}

/** The links of the navigation. */
function navigationOf(body: string): string[] {
  const navigation = /<nav class="pages".*?<\/nav>/s.exec(body)?.[0] ?? ''
  return [...navigation.matchAll(/<a href="([^"]*)"/g)].map(([, href = '']) => href)
}

t.test('it is for signed-in people, and lists the pages of their navigation', async (t) => {
  const test = await build(t)
  const anonymous = await test.app.inject({ url: '/app/go', headers: { accept: 'text/html' } })
  t.equal(anonymous.statusCode, 302)
  t.equal(anonymous.headers.location, '/auth/login?return_to=%2Fapp%2Fgo')
  for (const role of ['admin', 'editor', 'viewer']) {
    const { get } = await openAs(t, role)
    const { statusCode, body } = await get('/app/go')
    t.equal(statusCode, 200)
    const pages = navigationOf(body)
    t.ok(pages.length >= 6)
    t.same(linksOf(body).slice(0, pages.length), pages, role)
    t.match(body, /<a class="go" href="\/app\/go"[^>]* aria-current="page">/)
  }
})

t.test(
  'every page and form that it lists opens, and has the part that the link names',
  async (t) => {
    const { get } = await openAs(t, 'admin', true)
    const links = linksOf((await get('/app/go')).body)
    for (const action of ['/app/webhooks/new', '/app/tenant/invitations/new', '/app/teams/new'])
      t.ok(links.includes(action), action)
    for (const href of links) {
      const [path = '', part] = href.split('#')
      const { statusCode, body } = await get(path)
      t.equal(statusCode, 200, href)
      // Without a folder there is no place for a new document.
      if (part !== undefined && path !== '/app/documents') t.match(body, `id="${part}"`, href)
    }
  },
)

t.test('nobody is offered what their role does not allow', async (t) => {
  const viewer = await openAs(t, 'viewer')
  t.same(await viewer.find('endpoint'), [])
  t.same(await viewer.find('invite'), [])
  t.same(await viewer.find('write a post'), [])
  t.same(await viewer.find(uuid), [])
  t.same(await viewer.find('msg_a'), [])
  const editor = await openAs(t, 'editor')
  t.same(await editor.find('write a post'), ['/app/posts/new'])
  const admin = await openAs(t, 'admin')
  t.same(await admin.find('billing'), [])
  t.same(await admin.find('evt_1'), [])
  const operator = await openAs(t, 'viewer', true)
  t.same(await operator.find('evt_1'), ['/app/billing/evt_1'])
})

t.test('an id leads to the objects that can have it, whether they exist or not', async (t) => {
  const { search, find } = await openAs(t, 'admin')
  const declared = resources.filter(({ page }) => page !== null).map(pagePathOf)
  const pages = ['/app/orders', ...declared, '/app/invoices'].map((path) => `${path}/12`)
  t.same(await find('12'), pages)
  t.match((await search('12')).body, 'Opening one says whether it exists')
  t.notMatch((await search('token')).body, 'Opening one says', 'a page exists')
  t.same(await find(uuid), [`/app/webhooks/${uuid}`, `/app/deliveries/${uuid}`])
  const event = await search(' msg_Ab-1 ')
  t.equal(event.statusCode, 303, 'one result')
  t.equal(event.headers.location, '/app/events/msg_Ab-1')
  t.same(await find('ORDER 12'), ['/app/orders/12'])
  for (const none of ['0', '-1', '1.5', '012', uuid.toUpperCase(), 'msg_a/../b', 'order']) {
    t.notMatch((await find(none)).join(), /\/(webhooks|deliveries|events|orders)\/./, none)
  }
})

t.test('text of the search is shown as text', async (t) => {
  const { search } = await openAs(t, 'admin')
  const { statusCode, body } = await search('"><script>x</script>')
  t.equal(statusCode, 200)
  t.match(body, 'value="&quot;&gt;&lt;script&gt;x&lt;/script&gt;"')
  t.equal((await search('a'.repeat(101))).statusCode, 400)
})

t.test('objects are found by name, each only by those who may see it', async (t) => {
  const test = await build(t)
  const { admin: db } = test.database
  const admin = await createUser(test.database, { role: 'admin' })
  const { tenantId } = admin
  const viewer = await createUser(test.database, {
    role: 'viewer',
    tenantId,
    email: 'vera@a.example',
  })
  const stranger = await createUser(test.database, { role: 'admin' })
  const endpoint = await createEndpoint(test.database, admin, { url: 'https://8.8.8.8/<vera>' })
  await db.query(
    `INSERT INTO posts (tenant_id, author_id, title, body, department) VALUES ($1, $2, 'Vera opens', 'x', '')`,
    [tenantId, admin.userId],
  )
  const { rows } = await db.query('SELECT id FROM posts')
  const find = async (user: TestUser) => {
    const { cookie } = await signIn(test, user)
    const headers = { accept: 'text/html', cookie }
    return test.app.inject({ url: '/app/go?q=vera', headers })
  }
  const { body } = await find(admin)
  const member = `/app/tenant?search=${viewer.userId}#members`
  t.same(linksOf(body), [`/app/posts/${rows[0].id}`, `/app/webhooks/${endpoint}`, member])
  t.match(body, '<bdi>https://8.8.8.8/&lt;vera&gt;</bdi>')
  t.equal((await find(viewer)).headers.location, `/app/posts/${rows[0].id}`, 'the only result')
  t.same(linksOf((await find(stranger)).body), [], 'another tenant')
})

t.test(
  'while somebody types, only objects that exist and that they may read are suggested',
  async (t) => {
    const test = await build(t, { OPERATORS: 'demo:olga' })
    const { admin: db } = test.database
    const admin = await createUser(test.database, { role: 'admin' })
    const { tenantId } = admin
    const viewer = await createUser(test.database, { role: 'viewer', tenantId })
    const stranger = await createUser(test.database, { role: 'admin' })
    const operator = await createUser(test.database, { role: 'viewer' })
    await addIdentity(test, operator.userId, 'olga')
    const endpoint = await createEndpoint(test.database, admin, { url: 'https://8.8.8.8/<gate>' })
    const delivery = await createDelivery(test.database, { tenantId, endpointId: endpoint })
    const { rows: events } = await db.query('SELECT id FROM outbound_events')
    const order = await createOrder(test.database, admin)
    const invoice = await createTestInvoice(test.database, tenantId)
    await receive(test.database, { id: 'evt_1', status: 'dead' })
    const { rows: posts } = await db.query(
      `INSERT INTO posts (tenant_id, author_id, title, body, department)
     SELECT $1, $2, 'Gate ' || n, 'x', '' FROM generate_series(1, 30) AS n RETURNING id`,
      [tenantId, admin.userId],
    )
    const suggest = async (user: TestUser, q: string) => {
      const { cookie } = await signIn(test, user)
      const url = `/app/go/suggestions?${new URLSearchParams({ q })}`
      const { statusCode, body } = await test.app.inject({ url, headers: { cookie } })
      t.equal(statusCode, 200, q)
      return { body, paths: [...body.matchAll(/<a href="([^"]*)"/g)].map(([, path]) => path) }
    }
    const byName = await suggest(admin, ' gate ')
    const newest = posts.slice(-5).map(({ id }) => `/app/posts/${id}`)
    t.same(
      byName.paths,
      [...newest.toReversed(), `/app/webhooks/${endpoint}`],
      'a few of each kind',
    )
    t.match(byName.body, '<bdi>https://8.8.8.8/&lt;gate&gt;</bdi>')
    t.notMatch(byName.body, '<html')
    t.same((await suggest(admin, 'g')).paths, [], 'a letter is no name')
    t.same((await suggest(admin, '')).paths, [])
    const [post] = posts
    t.same((await suggest(admin, `post ${post?.id}`)).paths, [`/app/posts/${post?.id}`])
    t.match((await suggest(admin, `post ${post?.id}`)).body, '<bdi>Gate 1</bdi>')
    const objects: [string, string, TestUser[]][] = [
      ['/app/orders', String(order), [admin]],
      ['/app/invoices', String(invoice), [admin, viewer]],
      ['/app/posts', String(post?.id), [admin, viewer]],
      ['/app/webhooks', endpoint, [admin]],
      ['/app/deliveries', delivery, [admin]],
      ['/app/events', events[0].id, [admin]],
      ['/app/billing', 'evt_1', [operator]],
    ]
    for (const [path, id, readers] of objects) {
      for (const user of [admin, viewer, stranger, operator]) {
        const isIn = (await suggest(user, id)).paths.includes(`${path}/${id}`)
        t.equal(
          isIn,
          readers.includes(user),
          `${path} for ${[admin, viewer, stranger, operator].indexOf(user)}`,
        )
      }
    }
    t.same((await suggest(admin, '987654321')).paths, [], 'what does not exist')
    t.same((await suggest(stranger, 'gate')).paths, [], 'another tenant')
    t.equal((await test.app.inject('/app/go/suggestions?q=gate')).statusCode, 401)
  },
)
