import t from 'tap'
import { readForwardedRequest } from '#src/http/headers/forwarded-request.ts'

const base = 'https://app.example.com'
const read = (headers: Record<string, string>) => readForwardedRequest(headers, base)
const html = { accept: 'text/html' }

t.test('a request is safe only if every proxy header says so', (t) => {
  for (const [headers, isSafe] of [
    [{}, false],
    [{ 'x-forwarded-method': 'GET' }, true],
    [{ 'x-original-method': 'HEAD' }, true],
    [{ 'x-forwarded-method': 'OPTIONS' }, true],
    [{ 'x-forwarded-method': '' }, false],
    [{ 'x-forwarded-method': 'POST' }, false],
    [{ 'x-forwarded-method': 'get' }, false],
    [{ 'x-forwarded-method': 'GET', 'x-original-method': 'PUT' }, false],
    [{ 'x-forwarded-method': 'GET', 'sec-websocket-key': '' }, false],
  ] as const) {
    t.equal(read(headers).isSafe, isSafe, JSON.stringify(headers))
  }
  t.end()
})

t.test('a browser opens a page with GET and accepts HTML', (t) => {
  for (const [headers, isNavigation] of [
    [html, true],
    [{ ...html, 'x-forwarded-method': 'GET' }, true],
    [{ 'x-forwarded-method': 'GET' }, false],
    [{ ...html, 'x-forwarded-method': 'HEAD' }, false],
    [{ ...html, 'x-forwarded-method': 'POST' }, false],
    [{ ...html, 'x-forwarded-method': 'GET', 'sec-websocket-key': 'x' }, false],
  ] as const) {
    t.equal(read(headers).isNavigation, isNavigation, JSON.stringify(headers))
  }
  t.end()
})

t.test('the path is that of our own origin', (t) => {
  for (const [url, path] of [
    ['/', '/'],
    ['/a?b=/c', '/a?b=/c'],
    [`${base}/a?b`, '/a?b'],
    [base, null],
    [`${base}.evil.example/a`, null],
    [`${base}@evil.example/a`, null],
    [`${base}:8443/a`, null],
    ['http://app.example.com/a', null],
    ['https://evil.example/a', null],
    ['a', null],
    ['', null],
  ] as const) {
    t.equal(read({ 'x-forwarded-uri': url }).path, path, url)
    t.equal(read({ 'x-original-url': url }).path, path, url)
  }
  t.equal(read({}).path, null)
  t.end()
})

t.test('nginx takes no redirect', (t) => {
  t.equal(read({ 'x-original-url': '/' }).takesNoRedirect, true)
  t.equal(read({ 'x-forwarded-uri': '/' }).takesNoRedirect, false)
  t.end()
})
