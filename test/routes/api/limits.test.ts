import t from 'tap'
import { buildWithProvider, visit } from '#test/support/provider/sign-in-journey.ts'

const browserOf = (remoteAddress: string) => ({ remoteAddress })

t.test(
  'sign-in is limited per address: 3 pass, the 4th is 429, another address passes',
  async (t) => {
    const { app } = await buildWithProvider(t, { RATE_LIMIT_SIGN_IN: '3/60' })
    const paths = ['/auth/login', '/auth/callback?state=x', '/auth/signed-out', '/auth/login']
    const answers: number[] = []
    for (const url of paths) {
      answers.push((await app.inject({ url, ...browserOf('192.0.2.1') })).statusCode)
    }
    t.strictSame(answers, [302, 400, 200, 429], 'all share one count')
    const refused = await app.inject({ url: '/auth/login', ...browserOf('192.0.2.1') })
    t.match(refused.headers['retry-after'], /^\d+$/)
    t.match(refused.json(), { type: '/docs/errors/too-many-requests' })
    const other = await app.inject({ url: '/auth/login', ...browserOf('192.0.2.2') })
    t.equal(other.statusCode, 302)
  },
)

t.test('sign-in is limited per browser session, from any address', async (t) => {
  const { app } = await buildWithProvider(t, { RATE_LIMIT_SIGN_IN: '3/60' })
  const browser = { cookie: '' }
  await visit(app, browser, '/auth/login')
  const answers: number[] = []
  for (const last of [1, 2, 3, 4]) {
    const headers = { cookie: browser.cookie }
    const remote = browserOf(`192.0.2.${last}`)
    answers.push((await app.inject({ url: '/auth/login', headers, ...remote })).statusCode)
  }
  t.strictSame(answers, [302, 302, 302, 429])
  const stranger = await app.inject({ url: '/auth/login', ...browserOf('192.0.2.4') })
  t.equal(stranger.statusCode, 302, 'another session from that address passes')
})

t.test('an invented cookie is not a session: the request counts by address', async (t) => {
  const { app } = await buildWithProvider(t, { RATE_LIMIT_SIGN_IN: '1/60' })
  for (const last of [1, 2]) {
    const headers = { cookie: 'sid=made-up' }
    const remote = browserOf(`192.0.2.${last}`)
    const answer = await app.inject({ url: '/auth/login', headers, ...remote })
    t.equal(answer.statusCode, 302)
  }
})

t.test('unknown paths are limited per address, with any method', async (t) => {
  const { app } = await buildWithProvider(t, { RATE_LIMIT_API: '3/60' })
  const answers: number[] = []
  for (const method of ['GET', 'POST', 'HEAD', 'GET'] as const) {
    const url = `/${method}/${answers.length}`
    answers.push((await app.inject({ method, url, ...browserOf('192.0.2.1') })).statusCode)
  }
  t.strictSame(answers, [404, 404, 404, 429])
  const other = await app.inject({ url: '/x', ...browserOf('192.0.2.2') })
  t.equal(other.statusCode, 404)
  t.match(other.json(), { type: '/docs/errors/not-found' })
  const home = await app.inject({ url: '/', ...browserOf('192.0.2.1') })
  t.equal(home.statusCode, 200, 'known paths have their own limits')
})

t.test('the start page is limited too, per address without a session', async (t) => {
  const { app } = await buildWithProvider(t, { RATE_LIMIT_API: '2/60' })
  const answers: number[] = []
  for (const last of [1, 1, 1, 2]) {
    answers.push((await app.inject({ url: '/', ...browserOf(`192.0.2.${last}`) })).statusCode)
  }
  t.strictSame(answers, [200, 200, 429, 200])
})

t.test('`off` disables the limit', async (t) => {
  const { app } = await buildWithProvider(t)
  const browser = { cookie: '' }
  for (const _ of Array.from({ length: 40 })) {
    t.equal((await visit(app, browser, '/auth/login')).statusCode, 302)
    t.equal((await visit(app, browser, '/nowhere')).statusCode, 404)
  }
})
