import t from 'tap'
import { errorCodes } from '#src/http/problems.ts'
import { docPages } from '#src/pages/docs/viewer.ts'
import { eventTypes } from '#src/webhooks/events/types.ts'
import { build } from '#test/support/app/app.ts'

t.test('every page of the documentation is public; only the viewer sends requests', async (t) => {
  const { app } = await build(t)
  for (const { path, title } of docPages) {
    const page = await app.inject(path)
    t.equal(page.statusCode, 200, path)
    if (path === '/openapi.json') continue
    const policy = String(page.headers['content-security-policy'])
    t.match(policy, /script-src 'self'(;|$)/, path)
    t.equal(policy.includes('connect-src'), path === '/docs', path)
    t.notMatch(policy, /unsafe|https?:\/\/(?!127)/, path)
    t.notMatch(page.body, /\sstyle=/, path)
    if (path !== '/docs') t.notMatch(page.body, /<script(?! src="\/assets\/)/, title)
  }
  const [viewer] = docPages
  const assets = [
    ...(await app.inject(viewer.path)).body.matchAll(/(?:src|href)="(\/docs\/assets\/[^"]+)"/g),
  ]
  t.equal(assets.length, 4)
  for (const [, path = ''] of assets) t.equal((await app.inject(path)).statusCode, 200, path)
})

t.test('the guide has its topics, the catalogue every type of event', async (t) => {
  const { app } = await build(t)
  const guide = (await app.inject('/docs/guide')).body
  for (const id of [
    'authentication',
    'tenants',
    'paging',
    'errors',
    'limits',
    'idempotency',
    'webhooks',
  ]) {
    t.match(guide, `<h2 id="${id}"`)
  }
  t.match(guide, 'curl http://localhost:3000/me')
  t.notMatch(guide, '$BASE')
  const events = (await app.inject('/docs/events')).body
  for (const type of eventTypes) t.match(events, `<h2 id="${type}"`)
  t.match(events, 'data.lineItems[].sku')
  for (const code of errorCodes) {
    t.equal((await app.inject(`/docs/errors/${code}`)).statusCode, 200, code)
  }
})
