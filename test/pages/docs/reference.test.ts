import t from 'tap'
import type { ApiDescription, Operation } from '#src/http/openapi/examples.ts'
import { fieldsOf, referencePage, typeText } from '#src/pages/docs/reference.ts'
import { build } from '#test/support/app/app.ts'

t.test('the reference at /docs/plain shows every operation without scripts', async (t) => {
  const { app } = await build(t)
  const page = await app.inject('/docs/plain')
  t.equal(page.statusCode, 200)
  t.match(page.headers['content-security-policy'], /default-src 'none'/)
  t.notMatch(page.body, /<script(?! src="\/assets\/)|style=/i)
  const { paths } = (await app.inject('/openapi.json')).json<ApiDescription>()
  const operations = Object.values(paths).flatMap((path) => Object.values(path))
  t.ok(operations.length > 50)
  for (const { operationId, summary } of operations) {
    t.match(page.body, `id="${operationId}"`, summary ?? '')
  }
  t.match(page.body, 'lineItems[].sku')
  t.match(page.body, '&quot;cardLast4&quot;: &quot;4242&quot;')
})

t.test('the description is rendered once, cached by clients and limited per address', async (t) => {
  const { app } = await build(t, { RATE_LIMIT_API: '8/60' })
  let described = 0
  const { describeApi } = app
  app.describeApi = () => {
    described += 1
    return describeApi()
  }
  for (const url of ['/docs/plain', '/openapi.json']) {
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
  const refused = await app.inject('/docs/plain')
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
  const page = referencePage({
    info: { title: 'T', version: '1' },
    paths: { '/<p>': { get: operation } },
  }).main.markup
  t.notMatch(page, /<i>|<u>|<p>\//)
  t.match(page, '<code>&lt;u&gt;</code>.</p>')
  t.match(page, '<p>Roles admin: of one’s tenant.</p>')
  t.match(page, 'Requires a session or an API token.')
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
})
