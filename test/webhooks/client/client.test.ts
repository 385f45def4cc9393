import type { Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { createSender } from '#src/webhooks/client/client.ts'
import { explainFailure } from '#src/webhooks/client/explain.ts'
import { untilTrue } from '#test/support/database/until.ts'
import { closed, longMs, sendTo, whole, write } from '#test/support/receiver/delivery-attempt.ts'
import { startRawReceiver } from '#test/support/receiver/raw-receiver.ts'

t.test('the exact body is posted with our headers', async (t) => {
  const { results, receiver } = await sendTo(t, write(whole('thanks')))
  t.match(results[0], { statusCode: 200, responseExcerpt: 'thanks', error: null, cause: null })
  t.type(results[0]?.startedAt, Date)
  t.type(results[0]?.durationMs, 'number')
  const [head = '', body] = receiver.received().split('\r\n\r\n')
  t.equal(Buffer.from(body ?? '', 'latin1').toString(), '{"a":"ü"}')
  t.match(head, /^POST \/ HTTP\/1\.1\r\n/)
  for (const line of [
    `host: ${receiver.pair}`,
    'content-type: application/json',
    'content-length: 10',
    'webhook-id: msg_0',
    'accept-encoding: identity',
  ]) {
    t.ok(head.toLowerCase().split('\r\n').includes(line), line)
  }
  t.match(head, /user-agent: \S/i)
})

t.test('a slow body has its length and arrives in two parts', async (t) => {
  let second = ''
  const receiver = await startRawReceiver((socket) => {
    socket.on('data', (part) => {
      second += part
      if (second.endsWith('}')) socket.end('HTTP/1.1 204 Fine\r\n\r\n')
    })
  })
  t.teardown(() => receiver.close())
  const sender = createSender({ allow: [receiver.pair], timeoutMs: longMs })
  t.teardown(() => sender.close())
  const request = { url: receiver.url, headers: {}, body: '{"a":"12345"}', pauseMs: 200 }
  t.match(await sender.send({ tenantId: null, ...request }), {
    statusCode: 204,
    error: null,
    cause: null,
  })
  t.match(receiver.received(), /content-length: 13\r\n/)
  t.notMatch(receiver.received(), /transfer-encoding/i)
  t.ok('{"a":"12345"}'.endsWith(second) && second.length >= 7, `the second half: ${second}`)
})

t.test('every complete response has a status and no error', async (t) => {
  const answers: readonly (readonly [answer: string | Buffer, statusCode: number])[] = [
    ['HTTP/1.1 204 No Content\r\n\r\n', 204],
    ['HTTP/1.1 299 Odd\r\ncontent-length: 0\r\n\r\n', 299],
    [whole('no', 'HTTP/1.1 500 Oh'), 500],
    [whole('no', 'HTTP/1.1 999 Oh'), 999],
    ['HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n', 200],
    [Buffer.concat([Buffer.from('HTTP/1.1 103 Early Hints\r\n\r\n'), whole('ok')]), 200],
  ]
  for (const [answer, statusCode] of answers) {
    const { results } = await sendTo(t, write(answer))
    t.match(results[0], { statusCode, error: null, cause: null })
  }
  const { results } = await sendTo(t, (socket) =>
    socket.end('HTTP/1.0 200 OK\r\n\r\nuntil the end'),
  )
  t.match(results[0], { statusCode: 200, responseExcerpt: 'until the end', error: null })
})

t.test('redirects are not followed', async (t) => {
  const listener = await startRawReceiver(write(whole('')))
  t.teardown(() => listener.close())
  for (const status of [301, 302, 303, 307, 308]) {
    const head = `HTTP/1.1 ${status} There\r\nlocation: ${listener.url}`
    const { results } = await sendTo(t, write(whole('', head)))
    t.match(results[0], { statusCode: status, error: null })
  }
  t.equal(listener.connections.length, 0)
})

t.test(
  '64 KiB of a large or endless response are read, then the connection is closed; its status counts',
  async (t) => {
    const { results, receiver } = await sendTo(t, (socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
      const more = () => {
        while (socket.writable && socket.write(`1000\r\n${'x'.repeat(4_096)}\r\n`));
      }
      socket.on('drain', more)
      more()
    })
    t.match(results[0], { statusCode: 200, error: null, responseExcerpt: 'x'.repeat(2_048) })
    await closed(receiver)
    const [socket] = receiver.connections
    t.ok((socket?.bytesWritten ?? Infinity) < 16 * 1024 * 1024, 'the rest is not read')
  },
)

t.test('the first 2 KiB of a response are stored as text that PostgreSQL accepts', async (t) => {
  const gzipped = gzipSync('secret')
  const answers: readonly (readonly [name: string, body: string | Buffer, excerpt: string])[] = [
    ['exactly 64 KiB', 'x'.repeat(65_536), 'x'.repeat(2_048)],
    ['NUL', 'a\0b', 'a\uFFFDb'],
    ['no UTF-8', Buffer.from([0x61, 0xff, 0x62]), 'a\uFFFDb'],
    ['a character cut in two', `${'x'.repeat(2_047)}ü`, 'x'.repeat(2_047)],
    ['a surrogate', Buffer.from([0xed, 0xa0, 0x80, 0x61]), '\uFFFD\uFFFD\uFFFDa'],
    ['nothing', '', ''],
  ]
  for (const [name, body, excerpt] of answers) {
    const { results, receiver } = await sendTo(t, write(whole(body)), { times: 4 })
    for (const result of results) t.match(result, { responseExcerpt: excerpt, error: null }, name)
    t.ok(receiver.connections.length < 4, 'connections are reused')
  }
  const { results } = await sendTo(
    t,
    write(whole(gzipped, 'HTTP/1.1 200 OK\r\ncontent-encoding: gzip')),
  )
  t.equal(results[0]?.responseExcerpt?.charCodeAt(0), 0x1f, 'nothing is decompressed')
})

t.test('refused and unknown hosts have the same error', async (t) => {
  const gone = await startRawReceiver()
  await gone.close()
  const sender = createSender({ allow: [gone.pair, 'unknown.invalid:80'], timeoutMs: longMs })
  t.teardown(() => sender.close())
  const send = (url: string) => sender.send({ tenantId: null, url, headers: {}, body: '' })
  const refused = await send(gone.url)
  const unknown = await send('http://unknown.invalid/')
  const blocked = await send('https://10.0.0.1/')
  t.match(refused, { statusCode: null, responseExcerpt: null, cause: /^refused: / })
  t.match(unknown, { statusCode: null, responseExcerpt: null, cause: /^dns: / })
  t.match(blocked, { statusCode: null, responseExcerpt: null, cause: 'blocked: the URL: address' })
  t.equal(refused.error, 'could not be reached')
  t.equal(unknown.error, refused.error)
  t.equal(blocked.error, refused.error)
})

t.test('closing the sender ends attempts in progress', async (t) => {
  const receiver = await startRawReceiver()
  t.teardown(() => receiver.close())
  const sender = createSender({ allow: [receiver.pair], timeoutMs: longMs })
  const attempt = sender.send({ tenantId: null, url: receiver.url, headers: {}, body: '' })
  await untilTrue(() => receiver.received() !== '')
  await sender.close()
  await t.rejects(attempt, { name: 'PostponedError', reason: 'stopped' })
})

/** Ends the connection, as it does with every second request on it. */
const endings: [name: string, end: (socket: Socket) => void][] = [
  ['reset', (socket) => socket.resetAndDestroy()],
  ['closed', (socket) => socket.destroy()],
  ['ended', (socket) => socket.end()],
]

t.test('a kept connection that the receiver closes is replaced once by a fresh one', async (t) => {
  for (const [name, end] of endings) {
    const seen = new WeakSet<Socket>()
    const { results, receiver } = await sendTo(
      t,
      (socket) => {
        if (seen.has(socket)) return end(socket)
        seen.add(socket)
        socket.write(whole('ok'))
      },
      { times: 3 },
    )
    for (const result of results) t.match(result, { statusCode: 200, error: null }, name)
    t.equal(receiver.received().match(/webhook-id: msg_1\r\n/g)?.length, 2, `${name}: sent twice`)
  }
})

t.test('an attempt is not repeated on a fresh connection, or a second time', async (t) => {
  for (const [name, end] of endings) {
    const first = await sendTo(t, end)
    t.match(first.results, [{ statusCode: null, cause: /^closed: / }], name)
    t.equal(first.receiver.connections.length, 1)
    const later = await sendTo(
      t,
      (socket, count) => (count === 1 ? socket.write(whole('ok')) : end(socket)),
      { times: 2 },
    )
    t.match(later.results[1], { statusCode: null, cause: /^closed: / }, name)
    t.equal(later.receiver.received().match(/webhook-id: msg_1\r\n/g)?.length, 2)
  }
})

t.test('an attempt is not repeated once a byte of its response has arrived', async (t) => {
  const begun = ['H', 'HTTP/1.1 20', 'HTTP/1.1 200 OK\r\ncontent-le', 'HTTP/1.1 103 Early\r\n\r\n']
  for (const [name, end] of endings) {
    for (const part of begun) {
      const { results, receiver } = await sendTo(
        t,
        (socket, count) => {
          socket.write(count === 1 ? whole('ok') : part)
          // The bytes would be lost with a reset that follows at once.
          if (count > 1) setTimeout(() => end(socket), 50)
        },
        { times: 2 },
      )
      t.match(results[1], { statusCode: null, error: String }, `${name} after ${part}`)
      const sent = receiver.received().match(/webhook-id: msg_1\r\n/g)?.length
      t.equal(sent, 1, `${name} after ${part}`)
    }
  }
})

t.test('an attempt that the receiver has had for a while is not repeated', async (t) => {
  const { results, receiver } = await sendTo(
    t,
    (socket, count) => {
      if (count === 1) socket.write(whole('ok'))
      else setTimeout(() => socket.end(), 1_100)
    },
    { times: 2 },
  )
  t.match(results[1], { statusCode: null, cause: /^closed: / })
  t.equal(receiver.received().match(/webhook-id: msg_1\r\n/g)?.length, 1)
})

t.test('an attempt with an answer is not repeated', async (t) => {
  const { results, receiver } = await sendTo(
    t,
    (socket, count) => {
      if (count === 1) socket.write(whole('ok'))
      else socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf')
    },
    { times: 2 },
  )
  t.match(results[1], { statusCode: 200, error: String })
  t.equal(receiver.received().match(/webhook-id: msg_1\r\n/g)?.length, 1)
})

t.test(
  'a response with both length and chunks is malformed, and its explanation says so',
  async (t) => {
    const both =
      'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n'
    const { results } = await sendTo(t, write(both))
    const [result] = results
    t.match(result?.cause, /^broken-answer: /)
    const facts = { statusCode: null, secretRotatedAt: null, lastSuccessAt: null }
    const text = explainFailure({ ...facts, cause: result?.cause ?? null }, 'customer')
    t.match(
      text,
      /malformed or incomplete response\. .*whatever its status, so the event is sent again/,
    )
    t.match(text, /both Content-Length and Transfer-Encoding/)
  },
)
