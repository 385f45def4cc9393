import t from 'tap'
import type { ApiDescription, Operation, Schema } from '#src/http/openapi/examples.ts'
import { groupsOf } from '#src/pages/docs/operations.ts'
import { groupPage } from '#src/pages/docs/reference.ts'
import { samplesOf, takesToken } from '#src/pages/docs/samples.ts'
import { fieldsOf, typeText } from '#src/pages/kit/fields.ts'
import { build } from '#test/support/app/app.ts'

/** For every test: none changes anything. */
const { app } = await build(t)

t.test(
  'the reference shows every operation without scripts, each on the page of its group',
  async (t) => {
    const start = (await app.inject('/docs')).body
    const { paths } = (await app.inject('/openapi.json')).json<ApiDescription>()
    const operations = Object.values(paths).flatMap((path) => Object.values(path))
    t.ok(operations.length > 50)
    const groups = groupsOf(app.describeApi())
    t.equal(groups.flatMap(({ entries }) => entries).length, operations.length)
    for (const { href, entries } of groups) {
      t.match(start, `href="${href}"`)
      const page = await app.inject(href)
      t.equal(page.statusCode, 200, href)
      t.match(page.headers['content-security-policy'], /default-src 'none'/)
      t.notMatch(page.body, /<script(?! src="\/assets\/)|\sstyle=/i)
      for (const { operation } of entries) {
        t.match(page.body, `id="${operation.operationId}"`, operation.summary ?? '')
      }
    }
    const orders = (await app.inject('/docs/api/orders')).body
    t.match(orders, 'lineItems[].sku')
    t.match(orders, '&quot;cardLast4&quot;: &quot;4242&quot;')
    t.match(orders, 'href="/docs/errors/not-found"')
    t.equal((await app.inject('/docs/api/no-such')).statusCode, 404)
  },
)

t.test(
  'people find first what they need first, and the callbacks of the sign-in last',
  async (t) => {
    await app.ready()
    const sections = groupsOf(app.describeApi()).map(({ section }) => section)
    t.same(
      [...new Set(sections)],
      [...['Authentication', 'Resources', 'Webhooks', 'Billing', 'Sign-in']],
    )
  },
)

t.test('samples name the credential that the operation takes, and its example', async (t) => {
  await app.ready()
  const samples = groupsOf(app.describeApi()).flatMap(({ entries }) =>
    entries.flatMap((entry) =>
      samplesOf(entry, 'https://api.example').map(({ code }) => ({ ...entry, code })),
    ),
  )
  for (const { operation, code, path } of samples) {
    t.equal(/Authorization"?[:,]/.test(code), takesToken(operation), `${path}: ${code}`)
    t.notMatch(code, /[{]\w+[}]|undefined/, path)
  }
  const codeOf = (id: string) =>
    samples.filter(({ operation }) => operation.operationId === id).map(({ code }) => code)
  t.match(codeOf('getMe')[0], 'curl https://api.example/me')
  t.match(codeOf('createWebhookEndpoint')[0], '"url": "https://app.acme.example/webhooks"')
  t.match(codeOf('createWebhookEndpoint')[2], '"recoverWhenDisabled": True')
  t.same(
    codeOf('endOtherSessions').map((code) => code.includes('--cookie "sid=…"')),
    [true],
    'a session belongs to a browser',
  )
})

t.test('the description is rendered once, cached by clients and limited per address', async (t) => {
  const { app } = await build(t, { RATE_LIMIT_API: '8/60' })
  let described = 0
  const { describeApi } = app
  app.describeApi = () => {
    described += 1
    return describeApi()
  }
  for (const url of ['/docs/api/orders', '/openapi.json']) {
    const first = await app.inject(url)
    t.equal(first.headers['cache-control'], 'public, max-age=300')
    t.equal((await app.inject(url)).body, first.body)
    const { etag = '' } = first.headers
    for (const known of [etag, `"other", W/${etag}`]) {
      const again = await app.inject({ url, headers: { 'if-none-match': known } })
      t.equal(again.statusCode, 304)
      t.equal(again.body, '')
    }
  }
  t.equal(described, 2)
  const refused = await app.inject('/docs/api/orders')
  t.equal(refused.statusCode, 429)
  t.ok(Number(refused.headers['retry-after']) > 0)
})

t.test('descriptions are escaped; access notes and code spans are shown', async (t) => {
  const operation: Operation = {
    tags: ['<i>'],
    summary: '<b>',
    description: 'One `<u>`.\n\nRoles admin: of one’s tenant.',
    security: [{ session: [] }, { token: [] }],
    responses: {},
  }
  const groups = groupsOf({
    info: { title: 'T', version: '1' },
    paths: { '/<p>': { get: operation } },
  })
  const [group] = groups
  if (group === undefined) throw new Error('The description has no group.')
  const page = groupPage(groups, group, 'https://api.example').main.markup
  t.notMatch(page, /<i>|<u>|<p>\//)
  t.match(page, '<code>&lt;u&gt;</code>.</p>')
  t.match(page, '<p>Roles admin: of one’s tenant.</p>')
  t.match(page, 'Requires an API token, or a session.')
})

t.test('schemas are described in words', async (t) => {
  t.equal(
    typeText({ type: 'string', minLength: 1, maxLength: 5_000 }),
    'string, 1 to 5,000 characters',
  )
  t.equal(typeText({ anyOf: [{ type: 'integer' }, { type: 'null' }] }), 'integer, or null')
  t.equal(typeText({ enum: ['a', 'b'] }), '"a" | "b"')
  t.equal(
    typeText({ type: 'array', maxItems: 3, items: { type: 'string', format: 'uuid' } }),
    'list of UUID, 0 to 3 items',
  )
  const nested = { type: 'object', properties: { b: { type: 'string' } }, required: ['b'] }
  const list = { type: 'array', items: nested }
  t.match(
    fieldsOf({
      properties: { a: { anyOf: [nested, { type: 'null' }] }, l: list },
      required: ['a'],
    }),
    [
      { name: 'a', required: true },
      { name: 'a.b', required: true },
      { name: 'l', required: false },
      { name: 'l[].b', required: true },
    ],
  )
  const kindOf = (kind: string, data: Schema) => ({
    type: 'object',
    properties: { kind: { const: kind }, data, [`only-${kind}`]: { type: 'string' } },
    required: ['kind'],
  })
  const union = { oneOf: [kindOf('a', nested), kindOf('b', { type: 'object' })] }
  const rows = fieldsOf({ properties: { l: { type: 'array', items: union } } })
  t.strictSame(
    rows.map(({ name, type }) => [name, type]),
    [
      ['l', 'list of object'],
      ['l[].kind', '"a" or "b"'],
      ['l[].data', 'object'],
    ],
    'of a union, the fields that all have',
  )
})
