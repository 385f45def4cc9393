import t from 'tap'
import { errorCodes } from '#src/http/problems.ts'
import { verifiers } from '#src/pages/docs/samples.ts'
import { html } from '#src/pages/kit/html.ts'
import { eventTypes } from '#src/webhooks/events/types.ts'
import { readPage } from '#test/docs/page.ts'
import { build } from '#test/support/app/app.ts'

/** For every test: none changes anything. */
const { app } = await build(t)

t.test(
  'the pages are public and share one navigation and search; only those with a form send requests',
  async (t) => {
    const paths = [
      ...['/docs', '/docs/guide', '/docs/events', '/docs/errors', '/docs/changelog'],
      ...['/docs/search', '/docs/errors/not-found', '/docs/api/orders'],
    ]
    const [, navigation = ''] =
      /<nav class="pages docs"[^>]*>(.*?)<\/nav>/s.exec((await app.inject('/docs')).body) ?? []
    const links = [...navigation.matchAll(/href="([^"]+)"/g)].map(([, href = '']) => href)
    t.ok(links.length > 20)
    for (const path of paths) {
      const page = await app.inject(path)
      t.equal(page.statusCode, 200, path)
      const policy = String(page.headers['content-security-policy'])
      t.match(policy, /script-src 'self'(;|$)/, path)
      t.equal(policy.includes('connect-src'), path.startsWith('/docs/api/'), path)
      t.notMatch(policy, /unsafe|https?:\/\/(?!127)/, path)
      t.notMatch(page.body, /\sstyle=|<script(?! src="\/assets\/)/, path)
      for (const href of links) t.match(page.body, `href="${href}"`, path)
      t.match(page.body, 'action="/docs/search"')
    }
    for (const href of links) t.equal((await app.inject(href)).statusCode, 200, href)
  },
)

t.test(
  'the search finds operations, topics, types of events and errors by all of its words',
  async (t) => {
    const linksOf = async (search: string) => {
      const url = `/docs/search?q=${encodeURIComponent(search)}&utm_source=mail`
      const page = await app.inject(url)
      t.equal(page.statusCode, 200)
      const [, results = ''] = /aria-label="Results">(.*)<\/main>/s.exec(page.body) ?? []
      return [...results.matchAll(/href="([^"]+)"/g)].map(([, href = '']) => href)
    }
    t.match(await linksOf('place ORDER'), ['/docs/api/orders#createOrder'])
    t.ok((await linksOf('idempotency')).includes('/docs/guide#idempotency'))
    t.match(await linksOf('invoice.created'), ['/docs/events#invoice.created'])
    t.match(await linksOf('quota-exceeded'), ['/docs/errors/quota-exceeded'])
    t.same(await linksOf('order nosuchword'), ['/docs'], 'a link to all operations')
    const hostile = (await app.inject('/docs/search?q=%3Cscript%3E')).body
    t.notMatch(hostile, '<script>')
  },
)

t.test('the guide has its topics, the catalogue every type of event', async (t) => {
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
  for (const [language, file] of Object.entries(verifiers)) {
    const program = await readPage(`docs/verifying-webhooks/${file}`)
    t.ok(guide.includes(html`>${program}<`.markup), `the whole program in ${language}`)
  }
  const events = (await app.inject('/docs/events')).body
  for (const type of eventTypes) t.match(events, `<h2 id="${type}"`)
  t.match(events, 'data.lineItems[].sku')
  for (const code of errorCodes) {
    t.equal((await app.inject(`/docs/errors/${code}`)).statusCode, 200, code)
  }
})
