import { stripVTControlCharacters } from 'node:util'
import t from 'tap'
import { createLogger } from '#src/observability/logger.ts'
import { prettyDestination } from '#src/observability/pretty-log.ts'

function logged(entry: object): Record<string, unknown> {
  const lines: string[] = []
  createLogger('info', { write: (line) => void lines.push(line) }).info(entry, 'said')
  return JSON.parse(lines[0] ?? '{}')
}

t.test('credentials are redacted, also in nested members', async (t) => {
  const secrets = {
    authorization: 'Bearer x',
    cookie: 'sid=x',
    password: 'x',
    codeVerifier: 'x',
    id_token: 'x',
    refresh_token: 'x',
    client_secret: 'x',
    'webhook-signature': 'x',
  }
  for (const entry of [
    secrets,
    { headers: secrets },
    { request: { headers: secrets } },
    { sent: [secrets] },
  ]) {
    const text = JSON.stringify(logged(entry))
    t.notMatch(text, /"(sid=|Bearer )?x"/)
    t.equal(text.match(/\[redacted\]/g)?.length, Object.keys(secrets).length)
  }
})

t.test('an error is logged without its cause and other members', async (t) => {
  const cause = new Error('raw body with a token')
  const error = Object.assign(new Error('failed', { cause }), { code: 'E_CODE', body: 'a token' })
  const entry = logged({ err: error })
  t.match(entry, { err: { type: 'Error', message: 'failed', errorCode: 'E_CODE', stack: String } })
  t.notMatch(JSON.stringify(entry), /a token/)
})

t.test('lines are JSON with the name of the level and the time in UTC', async (t) => {
  t.match(logged({ eventId: 'evt_1' }), {
    level: 'info',
    time: /Z$/,
    eventId: 'evt_1',
    msg: 'said',
  })
})

t.test('entries below the level are not written', async (t) => {
  const lines: string[] = []
  const logger = createLogger('warn', { write: (line) => void lines.push(line) })
  logger.info({}, 'left out')
  logger.child({ reqId: 'r1' }).warn({}, 'said')
  t.equal(lines.length, 1)
  t.match(JSON.parse(lines[0] ?? ''), { level: 'warn', reqId: 'r1', msg: 'said' })
})

t.test('on a terminal an entry is one line, and a request a short one', async (t) => {
  const written: string[] = []
  const output = { write: (text: string) => void written.push(text) }
  const logger = createLogger('info', prettyDestination(output, { colorize: true }))
  logger.info({ reqId: 'r1', route: 'GET /orders/:id', status: 200, ms: 3 }, 'request')
  logger.info({ eventId: 'evt_1', applied: 'processed' }, 'billing event')
  logger.error({ err: new Error('failed') }, 'internal')
  t.match(written[0], '\u001b[', 'in colours')
  const [first, second, third, ...stack] = stripVTControlCharacters(written.join('')).split('\n')
  t.match(first, /^\[\d\d:\d\d:\d\d\] INFO: GET \/orders\/:id 200 in 3 ms$/)
  t.match(second, /INFO: billing event \{"eventId":"evt_1","applied":"processed"\}$/)
  t.match(third, /ERROR: internal/)
  t.match(stack.join('\n'), /Error: failed\n +at /, 'an error has its stack')
  const plain: string[] = []
  const into = { write: (text: string) => void plain.push(text) }
  createLogger('info', prettyDestination(into, { colorize: false })).info({}, 'plain')
  t.notMatch(plain.join(''), '\u001b')
})
