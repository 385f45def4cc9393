import t from 'tap'
import { readBearerToken } from '#src/http/headers/bearer-token.ts'

t.test('only the scheme Bearer presents a token', async (t) => {
  const headers: [string | undefined, string | null][] = [
    [undefined, null],
    ['', null],
    ['Basic x', null],
    ['Bearerx', null],
    ['Bearer-x', null],
    ['Bearer=x', null],
    ['x Bearer y', null],
    ['Bearer', ''],
    ['Bearer ', ''],
    ['Bearer\tx', ''],
    ['Bearer x y', ''],
    ['Bearer x', 'x'],
    ['bEARER  x', 'x'],
  ]
  for (const [header, token] of headers) t.equal(readBearerToken(header), token, String(header))
})
