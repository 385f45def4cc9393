import t from 'tap'
import { withRetries } from '../../../clients/typescript/src/retries.ts'

type Step = number | Error | [status: number, retryAfter: string]

/** A server that answers with each step once, and then with 200; `sent` are the bodies it got. */
function serverOf(...steps: Step[]) {
  const sent: string[] = []
  const left = [...steps]
  const send = async (request: Request) => {
    sent.push(await request.text())
    const step = left.shift() ?? 200
    if (step instanceof Error) throw step
    const [status, retryAfter] = [step].flat()
    return new Response(null, {
      status: Number(status),
      headers: { 'retry-after': String(retryAfter ?? 0) },
    })
  }
  return { sent, send }
}

const url = 'http://127.0.0.1/'
const lost = new TypeError('the connection was lost')
const request = (method: string, headers: Record<string, string> = {}) =>
  new Request(url, { method, headers, ...(method !== 'GET' && { body: 'body' }) })
const key = { 'idempotency-key': 'a' }

const cases: readonly [name: string, Request, Step, attempts: number][] = [
  ['429 to a GET', request('GET'), 429, 2],
  ['429 to a PATCH', request('PATCH'), 429, 2],
  ['429 to a POST', request('POST'), 429, 2],
  ['503 to a GET', request('GET'), 503, 2],
  ['503 to a PUT', request('PUT'), 503, 2],
  ['503 to a DELETE', request('DELETE'), 503, 2],
  ['503 to a POST with a key', request('POST', key), 503, 2],
  ['503 to a POST without a key', request('POST'), 503, 1],
  ['503 to a PATCH', request('PATCH'), 503, 1],
  ['502 to a GET', request('GET'), 502, 2],
  ['504 to a GET', request('GET'), 504, 2],
  ['500 to a GET', request('GET'), 500, 1],
  ['404 to a GET', request('GET'), 404, 1],
  ['409 to a POST with a key', request('POST', key), 409, 1],
  ['no response to a GET', request('GET'), lost, 2],
  ['no response to a POST with a key', request('POST', key), lost, 2],
  ['no response to a POST without a key', request('POST'), lost, 1],
  ['a longer wait than allowed', request('GET'), [429, '61'], 1],
  ['a date that has passed', request('GET'), [429, 'Wed, 21 Oct 2015 07:28:00 GMT'], 2],
]

t.test('a request is sent again only if that is safe and may help', async (t) => {
  for (const [name, asked, step, attempts] of cases) {
    const { send, sent } = serverOf(step)
    const isBody = asked.method === 'GET' ? '' : 'body'
    const outcome = await withRetries(send)(asked).then(({ status }) => status, String)
    const first = step instanceof Error ? String(step) : [step].flat()[0]
    t.equal(outcome, attempts === 2 ? 200 : first, name)
    t.strictSame(sent, Array(attempts).fill(isBody), name)
  }
})

t.test('attempts are bounded', async (t) => {
  const busy = serverOf(503, 503, 503, 503, 503)
  t.equal((await withRetries(busy.send)(request('GET'))).status, 503)
  t.equal(busy.sent.length, 4)
  const once = serverOf(429)
  t.equal((await withRetries(once.send, { max: 0 })(request('GET'))).status, 429)
  t.equal(once.sent.length, 1)
})

t.test('a signal ends the wait', async (t) => {
  const { send, sent } = serverOf([503, '30'])
  const controller = new AbortController()
  const asked = new Request(url, { signal: controller.signal })
  const answer = withRetries(async (one) => {
    const response = await send(one)
    setImmediate(() => controller.abort())
    return response
  })(asked)
  await t.rejects(answer, { name: 'AbortError' })
  t.equal(sent.length, 1)
})
