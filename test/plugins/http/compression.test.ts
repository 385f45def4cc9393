import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import t from 'tap'
import { build, type TestApp } from '#test/support/app/app.ts'
import { owner } from '#test/support/callers/token-owner.ts'

const publicPaths = [
  '/openapi.json',
  '/docs',
  '/docs/guide',
  '/docs/errors',
  '/assets/gatehouse.css',
]

/** For every test: each has a tenant and users of its own. */
const test = await build(t)
const { app } = test

t.test('public documents are compressed as the client accepts', async (t) => {
  for (const url of publicPaths) {
    const plain = await app.inject(url)
    t.notOk('content-encoding' in plain.headers, url)
    const accepted = {
      'gzip, deflate, br': 'br',
      'GZIP;q=1.0': 'gzip',
      'br;q=0, gzip;q=0.5': 'gzip',
      '*': 'br',
      'deflate, identity': undefined,
      'br;q=0': undefined,
    }
    for (const [accept, encoding] of Object.entries(accepted)) {
      const answer = await app.inject({ url, headers: { 'accept-encoding': accept } })
      t.equal(answer.statusCode, 200)
      t.equal(answer.headers['content-encoding'], encoding, `${url} ${accept}`)
      t.match(answer.headers.vary, /accept-encoding/)
      if (encoding === undefined) continue
      const decode = encoding === 'br' ? brotliDecompressSync : gunzipSync
      t.ok(answer.rawPayload.length < plain.rawPayload.length / 2, `${url} ${encoding}`)
      t.ok(decode(answer.rawPayload).equals(plain.rawPayload), `${url} ${encoding}`)
      t.equal(answer.headers['content-length'], String(answer.rawPayload.length))
    }
  }
})

t.test('each encoding has its own tag, and 304 for it alone', async (t) => {
  const get = (encoding: string, tag = '') =>
    app.inject({
      url: '/openapi.json',
      headers: { 'accept-encoding': encoding, 'if-none-match': tag },
    })
  const tags = new Set<string>()
  for (const encoding of ['identity', 'gzip', 'br']) {
    const tag = (await get(encoding)).headers.etag ?? ''
    t.match(tag, /^"[\w-]{22}"$/)
    tags.add(tag)
    const known = await get(encoding, tag)
    t.equal(known.statusCode, 304)
    t.equal(known.body, '')
    t.notOk('content-encoding' in known.headers)
  }
  t.equal(tags.size, 3)
  const [first = ''] = tags
  t.equal((await get('br', first)).statusCode, 200)
})

/** A user with a token and a session who reads a list of a few kilobytes. */
async function withLongList(test: TestApp) {
  const { send, make, cookie } = await owner(test, { role: 'admin' })
  for (let made = 0; made < 3; made += 1) {
    await send('POST', '/posts', { title: `Post ${made}`, body: 'x'.repeat(2_000) })
  }
  const { token } = await make()
  const encodings = { 'accept-encoding': 'gzip, br' }
  return {
    asToken: { authorization: `Bearer ${token}`, ...encodings },
    asSession: { cookie, ...encodings },
  }
}

t.test('JSON read with a token is compressed; nothing read with a session is', async (t) => {
  const { asToken, asSession } = await withLongList(test)
  const read = (url: string, headers: Record<string, string>) => test.app.inject({ url, headers })
  const plain = await read('/posts', asSession)
  t.notOk('content-encoding' in plain.headers, 'a session can be used by another site (BREACH)')
  t.notMatch(plain.headers.vary, /accept-encoding/)
  const compressed = await read('/posts', asToken)
  t.equal(compressed.headers['content-encoding'], 'br')
  t.match(compressed.headers.vary, /accept-encoding/)
  t.equal(compressed.headers['content-length'], String(compressed.rawPayload.length))
  t.equal(brotliDecompressSync(compressed.rawPayload).toString(), plain.body)
  t.match(compressed.headers.link, /rel="first"/)
  const short = await read('/me', asToken)
  t.notOk('content-encoding' in short.headers, 'not worth it')
  for (const url of ['/', '/app/account', '/app/documents']) {
    for (const headers of [asSession, asToken]) {
      t.notOk('content-encoding' in (await read(url, headers)).headers, `the page ${url}`)
    }
  }
})

t.test('HEAD has the headers of GET', async (t) => {
  const { asToken } = await withLongList(test)
  const [get, head] = [
    await test.app.inject({ url: '/posts', headers: asToken }),
    await test.app.inject({ method: 'HEAD', url: '/posts', headers: asToken }),
  ]
  for (const name of ['content-encoding', 'content-length', 'vary', 'link']) {
    t.equal(head.headers[name], get.headers[name], name)
  }
  t.equal(head.body, '')
})

t.test('a secret that is shown once is never compressed', async (t) => {
  const { asToken } = await withLongList(test)
  const answer = await test.app.inject({
    method: 'POST',
    url: '/webhook-endpoints',
    headers: asToken,
    payload: { url: 'https://a.example/', description: 'x'.repeat(200) },
  })
  t.notOk('content-encoding' in answer.headers)
})

t.test('an error of a compressed response is a readable problem', async (t) => {
  const { asToken } = await withLongList(test)
  const answer = await test.app.inject({ url: '/posts?cursor=x', headers: asToken })
  t.equal(answer.statusCode, 400)
  t.notOk('content-encoding' in answer.headers)
  t.match(answer.json(), { status: 400 })
})
