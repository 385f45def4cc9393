import { once } from 'node:events'
import { createServer } from 'node:https'
import { getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls'
import t, { type Test } from 'tap'
import { createSender } from '#src/webhooks/client/client.ts'
import {
  type Certified,
  createAuthority,
  selfSigned,
} from '#test/support/processes/certificates.ts'

const trusted = createAuthority('trusted by senders')
const unknown = createAuthority('unknown')
const day = 24 * 60 * 60 * 1_000
const at = (days: number) => new Date(Date.now() + days * day)

setDefaultCACertificates([...getCACertificates(), trusted.cert])

async function sendTo(t: Test, certified: Certified, host = 'localhost') {
  const names: (string | false | null)[] = []
  const server = createServer(certified, (request, response) => {
    names.push((request.socket as TLSSocket).servername ?? null)
    request.resume()
    response.end('safe')
  })
  server.on('tlsClientError', () => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const pair = `${host}:${typeof address === 'object' ? address?.port : ''}`
  const sender = createSender({ allow: [pair], timeoutMs: 20_000 })
  t.teardown(async () => {
    await sender.close()
    server.closeAllConnections()
    server.close()
  })
  const result = await sender.send({
    tenantId: null,
    url: `https://${pair}/`,
    headers: {},
    body: '{}',
  })
  return { result, names }
}

t.test('a trusted certificate for the name is accepted, and SNI has the name', async (t) => {
  const { result, names } = await sendTo(t, trusted.certify({ names: ['localhost'] }))
  t.match(result, { statusCode: 200, responseExcerpt: 'safe', error: null, cause: null })
  t.same(names, ['localhost'])
})

t.test('the expiry of the certificate is reported', async (t) => {
  const until = at(20)
  const { result } = await sendTo(t, trusted.certify({ names: ['localhost'], until }))
  t.equal(result.certificateExpiresAt?.getTime(), Math.floor(until.getTime() / 1_000) * 1_000)
})

t.test('a certificate may be for an IP address, which is not sent as SNI', async (t) => {
  const { result, names } = await sendTo(
    t,
    trusted.certify({ addresses: ['127.0.0.1'] }),
    '127.0.0.1',
  )
  t.match(result, { statusCode: 200, error: null })
  t.notOk(names[0])
  const other = await sendTo(t, trusted.certify({ names: ['127.0.0.1'] }), '127.0.0.1')
  t.match(other.result, { cause: /^tls-name: / })
})

t.test('any other certificate is refused before a byte of the request', async (t) => {
  const cases: readonly (readonly [name: string, certified: Certified, cause: RegExp])[] = [
    ['another name', trusted.certify({ names: ['other.example'] }), /^tls-name: /],
    ['no name', trusted.certify({}), /^tls-name: /],
    ['a name above', trusted.certify({ names: ['*.localhost'] }), /^tls-name: /],
    ['expired', trusted.certify({ names: ['localhost'], until: at(-1) }), /^tls-expired: /],
    [
      'not valid yet',
      trusted.certify({ names: ['localhost'], from: at(1) }),
      /^tls-not-yet-valid: /,
    ],
    ['self-signed', selfSigned({ names: ['localhost'] }), /^tls-self-signed: /],
    ['an untrusted authority', unknown.certify({ names: ['localhost'] }), /^tls-untrusted: /],
  ]
  for (const [name, certified, cause] of cases) {
    const { result, names } = await sendTo(t, certified)
    t.match(result, { statusCode: null, responseExcerpt: null, cause }, name)
    t.same(names, [])
  }
})

t.test('the environment cannot disable verification', async (t) => {
  const saved = process.env.NODE_TLS_REJECT_UNAUTHORIZED
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
  t.teardown(() => {
    if (saved === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
    else process.env.NODE_TLS_REJECT_UNAUTHORIZED = saved
  })
  const { result } = await sendTo(t, selfSigned({ names: ['localhost'] }))
  t.match(result, { statusCode: null, cause: /^tls-self-signed: / })
})
