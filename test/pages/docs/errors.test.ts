import t from 'tap'
import { errorCodes, errorTable, problemType } from '#src/http/problems.ts'
import { build } from '#test/support/app/app.ts'

/** For every test: none changes anything. */
const { app } = await build(t)

t.test('the type of every problem opens its page: meaning, cause and remedy', async (t) => {
  const index = await app.inject('/docs/errors')
  t.equal(index.statusCode, 200)
  for (const code of errorCodes) {
    const page = await app.inject(problemType(code))
    t.equal(page.statusCode, 200, code)
    t.equal(page.headers['content-type'], 'text/html; charset=utf-8')
    t.match(page.headers['content-security-policy'], /default-src 'none'/)
    for (const heading of ['Meaning', 'Cause', 'What to do']) t.match(page.body, heading, code)
    t.match(page.body, String(errorTable[code].status))
    t.notMatch(page.body, /<script(?! src="\/assets\/)|`|undefined/, code)
    t.match(index.body, `href="${problemType(code)}"`)
  }
})

t.test('the type in a response leads to the page', async (t) => {
  for (const url of ['/me', '/no/such', '/docs/errors/no-such']) {
    const problem = (await app.inject(url)).json()
    t.equal((await app.inject(problem.type)).statusCode, 200, url)
  }
})

t.test('an unknown code has no page, also one that every object has', async (t) => {
  for (const code of ['no-such', 'constructor', '__proto__', 'toString', '%3Cscript%3E']) {
    const answer = await app.inject(`/docs/errors/${code}`)
    t.equal(answer.statusCode, 404, code)
  }
})

t.test('every text is a sentence', async (t) => {
  for (const code of errorCodes) {
    const { title, meaning, cause, remedy } = errorTable[code]
    for (const text of [meaning, cause, remedy]) t.match(text, /^[`A-Z].*\.$/, code)
    t.notMatch(title, /\.$/, code)
  }
})
