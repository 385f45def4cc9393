import t from 'tap'
import { readIdToken } from '#src/auth/oidc/id-token.ts'
import { readEndpointUrl } from '#src/webhooks/client/url.ts'
import { build } from '#test/support/app/app.ts'
import { owner } from '#test/support/callers/token-owner.ts'

const hidden = ['\u200B', '\u200D', '\u200F', '\u202A', '\u202E', '\u2066', '\u2069']

t.test('a line from people has no characters that hide or turn text', async (t) => {
  const { send } = await owner(await build(t, { OUTBOUND_ALLOW: '127.0.0.1:9' }), { role: 'admin' })
  const bodies: [url: string, body: (line: string) => object][] = [
    ['/auth/tokens', (name) => ({ name })],
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
