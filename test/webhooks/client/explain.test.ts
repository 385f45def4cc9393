import t from 'tap'
import type { CauseCode } from '#src/webhooks/client/errors.ts'
import { explainFailure, type FailedAttempt } from '#src/webhooks/client/explain.ts'

const attempt = (failed: Partial<FailedAttempt>): FailedAttempt => ({
  statusCode: null,
  cause: null,
  secretRotatedAt: null,
  lastSuccessAt: null,
  ...failed,
})
const explain = (failed: Partial<FailedAttempt>, reader: 'customer' | 'operator' = 'customer') =>
  explainFailure(attempt(failed), reader)

const neutral =
  'The endpoint could not be reached. Its name must resolve to public addresses only, and its port must be open to the internet.'

t.test(
  'blocked, refused and unreachable read the same for the customer, and differ for the operator',
  async (t) => {
    const causes: readonly (readonly [cause: string, operator: string])[] = [
      ['blocked: 10.0.0.1 is private use', 'The endpoint is blocked: 10.0.0.1 is private use.'],
      [
        'dns: queryA ESERVFAIL a.b',
        'The endpoint has a name that cannot be resolved: queryA ESERVFAIL a.b.',
      ],
      [
        'refused: connect ECONNREFUSED',
        'The endpoint refused the connection: connect ECONNREFUSED.',
      ],
      ['unreachable: EHOSTUNREACH', 'The endpoint is on an unreachable network: EHOSTUNREACH.'],
      ['internal: x', 'The endpoint could not be called because of an internal error: x.'],
      ['what: ever', 'The endpoint could not be called because of an internal error: what: ever.'],
    ]
    for (const [cause, operator] of causes) {
      t.equal(explain({ cause }), neutral, cause)
      t.equal(explain({ cause }, 'operator'), operator)
    }
  },
)

t.test('a failure after the address guard is explained', async (t) => {
  const sentences: Readonly<Partial<Record<CauseCode, RegExp>>> = {
    timeout: /^The endpoint timed out after 10\.0 s, while connecting\. /,
    'tls-name': /^The endpoint has a certificate for another name\. /,
    'tls-expired': /^The endpoint has an expired certificate\. Renew/,
    'tls-not-yet-valid': /^The endpoint has a certificate that is not valid yet\. /,
    'tls-self-signed': /^The endpoint has a self-signed certificate\. /,
    'tls-untrusted': /^The endpoint has a certificate from an untrusted authority\. /,
    tls: /^The endpoint failed the TLS handshake\. /,
    closed: /^The endpoint closed the connection before its response was complete\. /,
    'headers-too-large': /^The endpoint responded with headers that are too large\. /,
    'broken-answer': /^The endpoint sent a malformed or incomplete response\. /,
    stopped: /^The endpoint was interrupted by a restart on our side\. /,
  }
  for (const [code, sentence] of Object.entries(sentences)) {
    const cause = `${code}: after 10.0 s, while connecting`
    t.match(explain({ cause }), sentence)
    t.match(explain({ cause }, 'operator'), /: after 10\.0 s, while connecting\.$/)
  }
})

t.test('a status is explained', async (t) => {
  const sentences: readonly (readonly [statusCode: number, sentence: RegExp])[] = [
    [301, /answered 301\. Redirects are not followed/],
    [307, /answered 307\. Redirects are not followed/],
    [400, /answered 400\. .*signature check/],
    [401, /answered 401\. .*secret/],
    [403, /answered 403\. .*secret/],
    [404, /answered 404\. The path of the URL does not exist/],
    [405, /answered 405\. It must accept POST/],
    [410, /answered 410\. .*no longer exists/],
    [413, /answered 413\. .*size/],
    [418, /answered 418\. Only a status from 200 to 299/],
    [429, /answered 429\. Its rate limit is too low/],
    [500, /answered 500\. It has an error of its own/],
    [503, /answered 503\. It has an error of its own/],
  ]
  for (const [statusCode, sentence] of sentences) t.match(explain({ statusCode }), sentence)
  t.equal(explain({}), 'The endpoint did not respond.')
})

t.test('401 since the rotation of the secret mentions the rotation', async (t) => {
  const secretRotatedAt = new Date('2026-11-20T10:00:30Z')
  const before = new Date('2026-11-20T09:59:00Z')
  const since =
    'The endpoint has answered 401 since its secret was rotated (2026-11-20 10:00 UTC). It probably still uses the old one.'
  t.equal(explain({ statusCode: 401, secretRotatedAt, lastSuccessAt: before }), since)
  t.match(
    explain({ statusCode: 403, secretRotatedAt, lastSuccessAt: before }),
    /^The endpoint has answered 403 since/,
  )
  const after = new Date('2026-11-20T10:01:00Z')
  for (const other of [
    { statusCode: 401, secretRotatedAt, lastSuccessAt: after },
    { statusCode: 401, secretRotatedAt, lastSuccessAt: null },
    { statusCode: 401, secretRotatedAt: null, lastSuccessAt: before },
    { statusCode: 500, secretRotatedAt, lastSuccessAt: before },
  ]) {
    t.notMatch(explain(other), /rotated/)
  }
})
