import t from 'tap'
import { collectRoutes } from '#dev/testing/access/collected-routes.ts'
import { build } from '#test/support/app/app.ts'
import { owner } from '#test/support/callers/token-owner.ts'

t.test('a content type that the path does not accept is 415, after 401 and 403', async (t) => {
  const test = await build(t)
  const viewer = await owner(test)
  const editor = await owner(test, { role: 'editor' })
  for (const type of [
    'text/csv',
    'text/plain',
    'application/xml',
    'application/x-www-form-urlencoded',
  ]) {
    const post = (cookie: string | null, url: string) =>
      test.app.inject({
        method: 'POST',
        url,
        headers: { 'content-type': type, ...(cookie !== null && { cookie }) },
        payload: 'a',
      })
    t.equal((await post(null, '/posts')).statusCode, 401, type)
    t.equal((await post(viewer.cookie, '/posts')).statusCode, 403, type)
    const refused = await post(editor.cookie, '/posts')
    t.equal(refused.statusCode, 415, type)
    t.match(refused.json(), { type: '/docs/errors/unsupported-media-type' })
  }
})

t.test('what our own forms submit to accepts a form', async (t) => {
  const test = await build(t)
  const { cookie } = await owner(test)
  const answer = await test.app.inject({
    method: 'POST',
    url: '/auth/logout',
    headers: { 'content-type': 'application/x-www-form-urlencoded', cookie },
    payload: '',
  })
  t.equal(answer.statusCode, 303)
})

t.test(
  'a query parameter that a page does not know never breaks it; the API refuses it',
  async (t) => {
    const test = await build(t)
    const { cookie } = await owner(test, { role: 'admin' })
    const { routes } = await collectRoutes(() => build(t))
    const pages = routes.filter(
      ({ method, url }) =>
        method === 'HEAD' && /^\/(app|docs)?(\/|$)/.test(url) && !url.includes(':'),
    )
    t.ok(pages.length > 15)
    const headers = { cookie, accept: 'text/html' }
    for (const { url } of pages) {
      const plain = await test.app.inject({ url, headers })
      const followed = await test.app.inject({ url: `${url}?utm_source=newsletter`, headers })
      t.equal(followed.statusCode, plain.statusCode, url)
      t.notMatch(followed.body, 'newsletter', url)
    }
    const refused = await test.app.inject({
      url: '/orders?utm_source=newsletter',
      headers: { cookie },
    })
    t.equal(refused.statusCode, 400)
    const signIn = '/auth/login?provider=demo&utm_source=newsletter'
    const unknown = '/auth/login?provider=unknown&utm_source=newsletter'
    t.equal((await test.app.inject({ url: unknown, headers })).statusCode, 404)
    t.equal((await test.app.inject({ url: signIn })).statusCode, 400, 'a program')
  },
)
