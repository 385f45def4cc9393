import t from 'tap'
import { readIdToken } from '#src/auth/oidc/tokens/id-token.ts'
import { isolatedText } from '#src/runtime/text.ts'
import { readEndpointUrl } from '#src/webhooks/client/url.ts'
import { build } from '#test/support/app/app.ts'
import { owner } from '#test/support/callers/token-owner.ts'

const hidden = [
  '\u061C',
  '\u200B',
  '\u200C',
  '\u200D',
  '\u200E',
  '\u200F',
  '\u202A',
  '\u202E',
  '\u2066',
  '\u2069',
  '\u2060',
  '\uFEFF',
]

t.test('a line from people has no characters that hide or turn text', async (t) => {
  const { send } = await owner(await build(t, { OUTBOUND_ALLOW: '127.0.0.1:9' }), { role: 'admin' })
  const bodies: [url: string, body: (line: string) => object][] = [
    ['/auth/tokens', (name) => ({ name, permissions: null })],
    ['/teams', (name) => ({ name })],
    ['/posts', (title) => ({ title, body: 'x' })],
    ['/webhook-endpoints', (description) => ({ url: 'http://127.0.0.1:9/', description })],
  ]
  for (const [url, body] of bodies) {
    for (const character of hidden) {
      const name = `${url} U+${character.codePointAt(0)?.toString(16)}`
      t.equal((await send('POST', url, body(`pay${character}gpj.exe`))).statusCode, 400, name)
    }
    t.not(
      (await send('POST', url, body('Zoë 写字 مرحبا 👍🏽'))).statusCode,
      400,
      `${url}: other scripts`,
    )
  }
})

/** What people and places are called, and how people write. */
const orthography: [language: string, text: string][] = [
  ['Persian', 'می\u200Cخواهم'],
  ['Persian', 'کتاب\u200Cها'],
  ['Persian with a mark', 'خانه\u0654\u200Cی'],
  ['Kurdish', 'به\u200Cڕێوه'],
  ['Urdu', 'بی\u200Cحد'],
  ['Sinhala', 'ශ්\u200Dරී ලංකා'],
  ['Sinhala', 'ක්\u200Dෂ'],
  ['Hindi', 'क्\u200Dष'],
  ['Hindi', 'क्\u200Cष'],
  ['Marathi', 'दर्\u200Dया'],
  ['Malayalam', 'അവന്\u200D'],
  ['Kannada', 'ರಾಜ್\u200Cಕುಮಾರ್'],
  ['Bengali', 'অর্\u200Cক'],
  ['family', '👨\u200D👩\u200D👧\u200D👦'],
  ['profession with a skin tone', '👩🏽\u200D⚕️'],
  ['flag', '🏳️\u200D🌈'],
  ['heart', '❤️\u200D🔥'],
  ['hair', '🧑🏿\u200D🦰'],
  ['Hebrew, a sign after a Latin name', 'ספר C++\u200E למתחילים'],
  ['Hebrew, a bracket at the end', 'שלום (Ada)\u200E'],
  ['Arabic, a number', 'طلب \u200E+49 30 1234'],
  ['Arabic, a bracket', 'Ada \u200F(عدا)\u200F'],
  ['kiss', '👩🏻\u200D❤️\u200D💋\u200D👨🏿'],
]

/** The same characters where they cannot be seen: two different texts would look the same. */
const deception: [place: string, text: string][] = [
  ['between Latin letters', 'pay\u200Dpal'],
  ['between Latin letters', 'pay\u200Cpal'],
  ['between Cyrillic letters', 'па\u200Cра'],
  ['between Chinese characters', '写\u200D字'],
  ['at the start', '\u200Cمی'],
  ['at the end', 'می\u200C'],
  ['before a space', 'می\u200C خواهم'],
  ['twice', 'می\u200C\u200Cخواهم'],
  ['after a letter that joins nothing', 'دا\u200Cد'],
  ['after a letter that joins on the right only', 'ر\u200Cم'],
  ['a zero-width joiner between Arabic letters', 'می\u200Dخواهم'],
  ['between Arabic and Latin', 'می\u200Ca'],
  ['without a virama', 'क\u200Dष'],
  ['before a vowel sign', 'क्\u200Dि'],
  ['non-joiner at the end', 'क्\u200C'],
  ['after an emoji', '👍\u200D'],
  ['between an emoji and a letter', '👍\u200Da'],
  ['non-joiner between emoji', '👨\u200C👩'],
  ['between digits', '1\u200D2'],
  ['alone', '\u200D'],
  ['a mark in Latin text', 'C++\u200E'],
  ['a mark between letters', 'של\u200Eום'],
  ['two marks', 'שלום (Ada)\u200E\u200E'],
  ['an override in Hebrew', 'שלום \u202EAda'],
  ['a mark alone', '\u200E'],
]

t.test('a name or title has the joiners that its orthography needs, and no others', async (t) => {
  const { send } = await owner(await build(t, { OUTBOUND_ALLOW: '127.0.0.1:9' }), { role: 'admin' })
  const kinds: [url: string, field: string, body: object][] = [
    ['/auth/tokens', 'name', { permissions: null }],
    ['/teams', 'name', {}],
    ['/posts', 'title', { body: 'x' }],
  ]
  for (const [url, field, body] of kinds) {
    for (const [language, text] of orthography) {
      const made = await send('POST', url, { ...body, [field]: text })
      t.match(made.json(), { [field]: text }, `${url}, ${language}: ${text}`)
      t.equal(made.statusCode, 201)
    }
    for (const [place, text] of deception) {
      const refused = await send('POST', url, { ...body, [field]: text })
      t.equal(refused.statusCode, 400, `${url}, ${place}`)
    }
  }
})

t.test('what nobody sees alone is no name, title or body', async (t) => {
  const { send } = await owner(await build(t), { role: 'admin' })
  const unseen = ['\u2060', '\uFEFF', '\u3164', '\uFFA0', '\u00AD', '\uFE0F', '\u2800', '\u3000']
  for (const text of [...unseen, unseen.join(' ')]) {
    const name = [...text].map((one) => one.codePointAt(0)?.toString(16)).join(' ')
    t.equal((await send('POST', '/teams', { name: text })).statusCode, 400, name)
    t.equal((await send('POST', '/posts', { title: text, body: 'x' })).statusCode, 400, name)
    t.equal((await send('POST', '/posts', { title: 'x', body: text })).statusCode, 400, name)
  }
  for (const text of ['ㅤ가', '❤️', '·', 'co\u00ADop']) {
    t.equal((await send('POST', '/posts', { title: text, body: text })).statusCode, 201, text)
  }
})

t.test('a provider’s name is kept as its orthography needs it', async (t) => {
  const nameOf = (name: string) =>
    readIdToken('https://op.example', { sub: 'x', name } as never).name
  for (const [language, text] of orthography) t.equal(nameOf(text), text, language)
  for (const [place, text] of deception) t.equal(nameOf(text), null, place)
})

t.test('addresses have no joiners, whatever their script', async (t) => {
  for (const [language, text] of orthography) {
    const email = `${text.replaceAll(' ', '')}@example.com`
    const read = readIdToken('https://op.example', { sub: 'x', email } as never)
    t.equal(read.email, /[\u061C\u200C-\u200F]/.test(text) ? null : email, language)
    t.match(readEndpointUrl(`https://example.com/${text}`, []), { refused: 'malformed' })
  }
})

t.test('plain text keeps the joiners of an orthography and loses what turns text', async (t) => {
  for (const [language, text] of orthography) {
    t.equal(isolatedText(`${text}\u202E`), `\u2068${text}\u2069`, language)
  }
  t.equal(isolatedText('pay\u200Dpal\u2067'), '\u2068paypal\u2069')
})

t.test('a URL of a customer has none of them', async (t) => {
  for (const character of hidden) {
    t.match(readEndpointUrl(`https://example.com/${character}`, []), { refused: 'malformed' })
  }
})

t.test('a provider’s address or name with them counts as none', async (t) => {
  for (const character of hidden) {
    const claims = { sub: 'x', email: `ada${character}@example.com`, name: `Ada${character}` }
    const read = readIdToken('https://op.example', { ...claims, email_verified: true } as never)
    t.match(read, { subject: 'x', email: null, emailVerified: false, name: null })
  }
})
