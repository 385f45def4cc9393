import t from 'tap'
import { buildAt } from '#test/support/app/at-time.ts'
import { owner } from '#test/support/callers/token-owner.ts'
import { asset } from '#test/support/small-app/test/asset.ts'

/* Each kind of field in the API and on its pages, by the asset of the small app, which has them all. */

const test = await buildAt(t)
const { user, send, cookie } = await owner(test, { role: 'admin' })

const money = 'must be a currency code of ISO 4217, such as EUR'
const date = 'must be a date of the calendar such as 2026-01-31'
const time = 'must be a time such as 2026-01-31T09:00:00Z (RFC 3339)'
const weight =
  'must be a string with a number with at most 6 digits before the point and 2 after it, such as "12.50"'
const address = 'must be a web address such as https://example.com/page, without a user name'
const line = 'must be one line that is not blank, without control or hidden characters'

const refused: readonly [field: string, value: unknown, pointer: string, detail: string][] = [
  ...[`not-a-dat`, '2026-02-30', '2025-02-29', '0000-01-01', '2026-1-1', '12026-01-01', ''].map(
    (value): [string, unknown, string, string] => ['boughtOn', value, '/boughtOn', date],
  ),
  ['boughtOn', 20260101, '/boughtOn', 'must be a string'],
  ['boughtOn', null, '/boughtOn', 'must be a string'],
  ['endsOn', 1, '/endsOn', 'must be a string'],
  ...['2026-03-01', '2026-03-01T25:00:00Z', '2026-03-01T10:00:00', '0000-01-01T00:00:00Z'].map(
    (value): [string, unknown, string, string] => ['seenAt', value, '/seenAt', time],
  ),
  ...['1.234', '1234567', '1e3', '01', '1,5', '.5', '5.', 'NaN', 'Infinity', ' 1', '+1'].map(
    (value): [string, unknown, string, string] => ['weight', value, '/weight', weight],
  ),
  ['weight', 1.5, '/weight', 'must be a string'],
  ['price', { amount: 1, currency: 'XXX' }, '/price/currency', money],
  ['price', { amount: 1, currency: 'eur' }, '/price/currency', money],
  ['price', { amount: 1.5, currency: 'EUR' }, '/price/amount', 'must be a whole number'],
  ['price', { amount: '1', currency: 'EUR' }, '/price/amount', 'must be a whole number'],
  [
    'price',
    { amount: 2 ** 53, currency: 'EUR' },
    '/price/amount',
    'must be at most 9007199254740991',
  ],
  ['price', { amount: 1 }, '/price/currency', 'is required'],
  ['price', { amount: 1, currency: 'EUR', digits: 2 }, '/price/digits', 'is not a known field'],
  ['price', 4_900, '/price', 'must be an object'],
  ['billedIn', 'EURO', '/billedIn', money],
  ['contact', 'ada', '/contact', 'must be an email address'],
  ...[
    'javascript:alert(1)',
    'ftp://a.example',
    'https://a@b.example',
    'https://',
    '//a.example',
    'https://a.example/"',
    'https://a.example/ b',
    ' https://a.example',
  ].map((value): [string, unknown, string, string] => ['manual', value, '/manual', address]),
  ['tags', 'blue', '/tags', 'must be a list'],
  ['tags', ['a\nb'], '/tags/0', line],
  ['tags', Array(21).fill('a'), '/tags', 'must have at most 20 items'],
  ['tags', ['a'.repeat(101)], '/tags/0', 'must have at most 100 characters'],
]

t.test('a value that is none of its kind is refused with its pointer and the remedy', async (t) => {
  for (const [field, value, pointer, detail] of refused) {
    const answer = await send('POST', '/assets', { ...asset.body, [field]: value })
    const words = `${field}: ${JSON.stringify(value)}`.slice(0, 80)
    t.equal(answer.statusCode, 400, words)
    t.strictSame(answer.json().errors, [{ in: 'body', pointer, detail }], words)
  }
  const { data } = (await send('GET', '/assets')).json()
  t.strictSame(data, [], 'nothing was created')
})

const forms: readonly [field: string, text: string, rule: string][] = [
  ['boughtOn', '2026-02-30', 'A date of the calendar'],
  ['seenAt', '2026-02-30T10:00', 'A date and a time, in UTC'],
  ['seenAt', '0000-01-01T10:00', 'A date and a time, in UTC'],
  ['weight', '1.234', 'A number with at most 6 digits before the point and 2 after it'],
  ['seats', '1.5', 'A whole number'],
  ...['49.00', '49.00 EURO', '49.001 EUR', '1.5 JPY', '49 ABC', '9999999999999.99 TND'].map(
    (text): [string, string, string] => [
      'price',
      text,
      'An amount and the code of its currency, such as 49.00 EUR',
    ],
  ),
  ['billedIn', 'EURO', 'The code of a currency, such as EUR'],
  ['contact', 'ada', 'An email address'],
  [
    'manual',
    'javascript:alert(1)',
    'A web address such as https://example.com/page, without a user name',
  ],
  ['manual', 'http://[', 'A web address such as https://example.com/page, without a user name'],
  ['marks', 'a\nb\nc\nd', 'At most 3 lines of at most 10 characters'],
  ['tags', 'a\u0000b', 'At most 20 lines of at most 100 characters'],
]

t.test('a form says the rule beside the field, and shows what was entered', async (t) => {
  for (const [field, text, rule] of forms) {
    const sent = { ...asset.forms?.create, [field]: text, submission: crypto.randomUUID() }
    const refused = await post('/app/assets/new', sent)
    t.equal(refused.statusCode, 400, `${field}: ${text}`)
    const draft = refused.cookies.find(({ name }) => name === 'draft')?.value
    const { body } = await test.app.inject({
      url: '/app/assets/new',
      headers: { accept: 'text/html', cookie: `${cookie}; draft=${draft}` },
    })
    t.ok(body.includes(`<span class="fault" id="fault-${field}">${rule}</span>`), rule)
  }
})

t.test('a page shows each value in words, and its form what was stored', async (t) => {
  const created = await post('/app/assets/new', {
    ...{ ...asset.forms?.create, submission: crypto.randomUUID() },
  })
  t.equal(created.statusCode, 303)
  const path = String(created.headers.location).split('?')[0] ?? ''
  const { body } = await send('GET', path, undefined, { accept: 'text/html' })
  for (const piece of [
    '<time datetime="2026-02-28">28 Feb 2026</time>',
    '<dd>1.50</dd>',
    '<dd>49.00 EUR</dd>',
    '<a href="https://acme.example" rel="noopener nofollow"><bdi>https://acme.example</bdi></a>',
    '<a href="mailto:ada@acme.example"',
    'type="date" required value="2026-02-28"',
    'type="datetime-local" step="any" required value="2026-03-01T10:00:00.000"',
    'type="number" step="0.01" required value="1.50"',
    'value="49.00 EUR"',
    'type="email"',
    'type="url"',
    '<textarea name="tags"',
    'blue\nold</textarea>',
  ]) {
    t.ok(body.includes(piece), piece)
  }
  const id = path.split('/').at(-1)
  const row = (await send('GET', `/assets/${id}`)).json()
  t.match(row, {
    ...{ price: { amount: 4_900, currency: 'EUR' }, weight: '1.50', tags: ['blue', 'old'] },
    ...{
      billedIn: 'EUR',
      endsOn: null,
      worth: null,
      marks: null,
      seenAt: '2026-03-01T10:00:00.000Z',
    },
  })
  const changed = await post(path, { ...asset.forms?.change })
  t.equal(changed.statusCode, 303)
  t.match((await send('GET', `/assets/${id}`)).json(), {
    ...{
      tags: [],
      worth: { amount: 1_000, currency: 'TND' },
      price: { amount: 49, currency: 'JPY' },
    },
    ...{ marks: ['x'], height: '1', endsOn: '2026-03-01' },
  })
})

async function post(url: string, fields: object) {
  const form = { ...fields, sender: String(user.userId) }
  return test.app.inject({
    ...{ method: 'POST', url, payload: new URLSearchParams(form).toString() },
    headers: {
      ...{ cookie, accept: 'text/html', 'sec-fetch-site': 'same-origin' },
      'content-type': 'application/x-www-form-urlencoded',
    },
  })
}
