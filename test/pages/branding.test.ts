import t from 'tap'
import { readConfig } from '#src/config/config.ts'
import { build } from '#test/support/app/app.ts'

const svg = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 2 2"><path d="M0 0h2v2z"/></svg>'
const html = { accept: 'text/html' }

t.test('every page has the name, logo, colours and links of the settings', async (t) => {
  const folder = t.testdir({ 'logo.svg': svg })
  const { app } = await build(t, {
    BRAND_NAME: 'Oak & Sons',
    BRAND_LOGO: `${folder}/logo.svg`,
    BRAND_ACCENT: '#7a1fa2,#d8a6ee',
    BRAND_SUPPORT_URL: 'mailto:help@oak.example',
    BRAND_TERMS_URL: 'https://oak.example/terms',
  })
  for (const url of ['/', '/docs/guide', '/docs/errors/not-found', '/no-such-page']) {
    const { body } = await app.inject({ url, headers: html })
    t.match(body, /<title>.* · Oak &amp; Sons<\/title>/, url)
    t.match(body, 'Oak &amp; Sons</a>', url)
    t.match(body, '<a href="mailto:help@oak.example">Support</a>', url)
    t.match(body, '<a href="https://oak.example/terms">Terms</a>', url)
  }
  const { body } = await app.inject({ url: '/', headers: html })
  const logo = /<img src="([^"]+)"/.exec(body)?.[1] ?? ''
  const image = await app.inject(logo)
  t.equal(image.body, svg)
  t.match(image.headers, {
    'content-type': 'image/svg+xml',
    'x-content-type-options': 'nosniff',
    'cache-control': 'public, max-age=31536000, immutable',
  })
  t.match(image.headers['content-security-policy'], /^default-src 'none'/)
  const style = /<link rel="stylesheet" href="(\/assets\/brand[^"]+)"/.exec(body)?.[1] ?? ''
  const colours = await app.inject(style)
  t.match(colours.body, '--accent: light-dark(#7a1fa2, #d8a6ee)')
  t.match(colours.headers, { 'cache-control': /immutable/, 'content-type': /^text\/css/ })
})

t.test('without settings there is neither a logo nor a style sheet', async (t) => {
  const { app } = await build(t)
  const { body } = await app.inject({ url: '/', headers: html })
  t.match(body, /<title>Welcome · Gatehouse<\/title>/)
  t.notMatch(body, /<img|brand\.css|Support|Terms/)
  for (const url of ['/assets/logo', '/assets/brand.css']) {
    t.equal((await app.inject(url)).statusCode, 404, url)
  }
})

t.test('a name that is empty, too long or has control characters is refused', async (t) => {
  for (const name of ['x'.repeat(41), 'a\u0007b']) {
    t.throws(() => readConfig({ BRAND_NAME: name }), /BRAND_NAME/, name)
  }
})
