import t from 'tap'
import { randomApiToken, tokenKindOf } from '#src/crypto/api-token.ts'

t.test('a token is recognized by its prefix and checksum', async (t) => {
  const tokens = Array.from({ length: 200 }, randomApiToken)
  t.equal(new Set(tokens).size, tokens.length)
  for (const token of tokens) {
    t.match(token, /^gth_[0-9A-Za-z]{49}$/)
    t.ok(tokenKindOf(token))
  }
})

t.test('a changed token is not recognized', async (t) => {
  const token = randomApiToken()
  for (let index = 0; index < token.length; index += 1) {
    const changed = token.at(index) === 'x' ? 'y' : 'x'
    t.notOk(tokenKindOf(token.slice(0, index) + changed + token.slice(index + 1)), `at ${index}`)
  }
  for (const text of [
    '',
    'gth_',
    token.slice(1),
    token.slice(0, -1),
    `${token}0`,
    ` ${token}`,
    `${token}\n`,
  ]) {
    t.notOk(tokenKindOf(text), JSON.stringify(text))
  }
})
