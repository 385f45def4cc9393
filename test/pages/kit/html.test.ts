import t from 'tap'
import { html } from '#src/pages/kit/html.ts'

const hostile = `<script>alert("1")</script> & 'x'`
const escaped = '&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;x&#39;'

t.test('every interpolated string is escaped, as text and in an attribute', async (t) => {
  t.equal(html`<p>${hostile}</p>`.markup, `<p>${escaped}</p>`)
  t.equal(html`<a href="${hostile}">`.markup, `<a href="${escaped}">`)
})

t.test('each of the five characters is escaped exactly once, in every position', async (t) => {
  const pairs = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
  for (const [character, entity] of Object.entries(pairs)) {
    t.equal(html`${character}a${character + character}`.markup, `${entity}a${entity}${entity}`)
  }
  t.equal(html`${'&amp;'}`.markup, '&amp;amp;')
})

t.test('markup nests only as Html, single or in an array', async (t) => {
  const item = html`<li>${hostile}</li>`
  t.equal(html`<ul>${item}</ul>`.markup, `<ul><li>${escaped}</li></ul>`)
  t.equal(html`<ul>${[item, item]}</ul>`.markup, `<ul>${item.markup}${item.markup}</ul>`)
  t.equal(html`<ul>${[]}</ul>`.markup, '<ul></ul>')
})

t.test('numbers and other text are not changed', async (t) => {
  t.equal(html`${0}–${1.5}, ${'Füße ✓'}${''}`.markup, '0–1.5, Füße ✓')
  t.equal(html`plain`.markup, 'plain')
})
