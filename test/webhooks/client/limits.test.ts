import type { Socket } from 'node:net'
import t from 'tap'
import type { SendResult } from '#src/webhooks/client/sender.ts'
import { closed, sendTo, shortMs, whole, write } from '#test/support/receiver/delivery-attempt.ts'

t.test(
  'the timeout covers an attempt from connect to the last byte, and closes its connection',
  async (t) => {
    const drip = (first: string, drop: string) => (socket: Socket) => {
      socket.write(first)
      const timer = setInterval(() => socket.write(drop), 5)
      socket.on('close', () => clearInterval(timer))
    }
    const head = 'HTTP/1.1 200 OK\r\ncontent-length: 50000\r\n\r\n'
    const cases: readonly (readonly [
      name: string,
      answer: (socket: Socket) => void,
      expected: Partial<SendResult>,
      stage: string,
    ])[] = [
      [
        'silence',
        () => {},
        { statusCode: null, responseExcerpt: null },
        'waiting for the response',
      ],
      [
        'slow headers',
        drip('HTTP/1.1 200 OK\r\n', 'a: b\r\n'),
        { statusCode: null },
        'waiting for the response',
      ],
      ['slow body', drip(head, 'x'), { statusCode: 200 }, 'reading the response'],
      [
        'half a body',
        write(`${head}half`),
        { statusCode: 200, responseExcerpt: 'half' },
        'reading the response',
      ],
    ]
    for (const [name, answer, expected, stage] of cases) {
      const { results, receiver } = await sendTo(t, answer, { timeoutMs: shortMs })
      const cause = `timeout: after 0.1 s, ${stage}`.replace('0.1', (shortMs / 1_000).toFixed(1))
      t.match(results[0], { ...expected, cause }, name)
      t.match(results[0]?.error, /^timed out after 0\.\d s/)
      await closed(receiver)
    }
  },
)

t.test('a malformed response is a failure, whatever its status', async (t) => {
  const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'
  const header = `a: ${'b'.repeat(1_000)}\r\n`
  const cases: readonly (readonly [
    name: string,
    answer: (socket: Socket) => void,
    cause: RegExp,
  ])[] = [
    ['no answer', (socket) => socket.end(), /^closed: /],
    ['a reset', (socket) => socket.resetAndDestroy(), /^closed: /],
    ['another protocol', write('SSH-2.0-OpenSSH_9.6\r\n'), /^broken-answer: /],
    ['a status out of range', write('HTTP/1.1 99 X\r\n\r\n'), /^broken-answer: /],
    ['a status below 100', write(whole('', 'HTTP/1.1 099 X')), /^broken-answer: /],
    ['garbage for a chunk', write(`${chunked}zz\r\n`), /^broken-answer: /],
    [
      'two lengths',
      write('HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n'),
      /^broken-answer: /,
    ],
    [
      'closed in mid-body',
      (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhal'),
      /^closed: /,
    ],
    ['closed in mid-chunk', (socket) => socket.end(`${chunked}9\r\nhal`), /^closed: /],
    [
      'closed during the body, with a content-length',
      (socket) =>
        socket.end('HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 9\r\n\r\nhal'),
      /^broken-answer: /,
    ],
    ['large headers', write(`HTTP/1.1 200 OK\r\n${header.repeat(20)}\r\n`), /^headers-too-large: /],
    [
      'endless headers',
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\n')
        while (socket.writableLength < 1_000_000) socket.write(header)
      },
      /^headers-too-large: /,
    ],
    [
      'a flood of informational responses',
      write('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(100)),
      /^broken-answer: /,
    ],
    [
      'another protocol switched to',
      write('HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
      /^closed: /,
    ],
  ]
  for (const [name, answer, cause] of cases) {
    const { results, receiver } = await sendTo(t, answer)
    t.match(results[0]?.cause, cause, name)
    t.type(results[0]?.error, 'string')
    await closed(receiver)
    t.equal(receiver.connections.length, 1, 'and it is not retried')
  }
})

t.test('what a response has besides its body is limited too', async (t) => {
  const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'
  const filler = 'x'.repeat(8_000)
  const cases: readonly (readonly [name: string, first: string, repeated: string])[] = [
    ['one endless chunk extension', `${chunked}1;`, filler],
    ['an extension on every chunk', chunked, `1;${filler}\r\na\r\n`],
    ['chunks of one byte', chunked, '1\r\na\r\n'.repeat(1_000)],
    ['endless trailers', `${chunked}0\r\n`, `a: ${filler}\r\n`],
    ['informational responses with headers', '', `HTTP/1.1 103 Hints\r\na: ${filler}\r\n\r\n`],
  ]
  for (const [name, first, repeated] of cases) {
    const flood = (socket: Socket) => {
      socket.write(first)
      const pour = () => {
        while (!socket.destroyed && socket.write(repeated));
      }
      socket.on('drain', pour)
      pour()
    }
    const { results, receiver } = await sendTo(t, flood, { timeoutMs: 5_000 })
    t.match(results[0]?.cause, /^(broken-answer|headers-too-large): /, name)
    await closed(receiver)
    // What the sockets of both sides hold is sent, but never read.
    t.ok((receiver.connections[0]?.bytesWritten ?? 0) < 20_000_000, `${name}: little was sent`)
  }
})

t.test('each response on a kept connection has the whole limit', async (t) => {
  const times = 6
  const { results, receiver } = await sendTo(t, write(whole('x'.repeat(60_000))), { times })
  t.strictSame(
    results.map(({ cause }) => cause),
    Array.from({ length: times }, () => null),
  )
  t.ok(receiver.connections.length < times, 'connections are reused')
})
