import type { CauseCode } from '#src/webhooks/client/errors.ts'

/** What is known of a failed attempt. */
export type FailedAttempt = {
  statusCode: number | null
  /** As `SendResult` has it. */
  cause: string | null
  /** When the endpoint's secret was last rotated, and when an attempt last succeeded. */
  secretRotatedAt: Date | null
  lastSuccessAt: Date | null
}

type Words = { does: string; advice: string }

// Blocked, refused and unreachable are one to a customer: told apart they would map our network.
const unreached: Words = {
  does: 'could not be reached',
  advice: 'Its name must lead to public addresses only, and its port be open to the internet.',
}

const customerWords: Readonly<Record<CauseCode, Words>> = {
  blocked: unreached,
  dns: unreached,
  refused: unreached,
  unreachable: unreached,
  internal: unreached,
  timeout: {
    does: 'timed out',
    advice: 'Answer as soon as the event is recorded, and do slow work afterwards.',
  },
  'tls-name': {
    does: 'has a certificate for another name',
    advice: 'The certificate must name the host of the URL.',
  },
  'tls-expired': { does: 'has an expired certificate', advice: 'Renew the certificate.' },
  'tls-not-yet-valid': {
    does: 'has a certificate that is not valid yet',
    advice: 'Look at its first day, and at the clock of the machine that made it.',
  },
  'tls-self-signed': {
    does: 'has a self-signed certificate',
    advice: 'Use a certificate of a public authority.',
  },
  'tls-untrusted': {
    does: 'has a certificate of no authority we trust',
    advice: 'Use a public authority, and send its intermediate certificate along.',
  },
  tls: { does: 'made no TLS connection', advice: 'It must speak TLS 1.2 or newer on this port.' },
  closed: {
    does: 'closed the connection before its answer was complete',
    advice: 'Look for a crash or a proxy in front of it.',
  },
  'headers-too-large': {
    does: 'answered with headers that are too large',
    advice: 'An empty answer with status 200 or 204 is enough.',
  },
  'broken-answer': {
    does: 'gave an answer that is broken or cut short',
    advice: 'An empty answer with status 200 or 204 is enough.',
  },
  stopped: { does: 'was not waited for', advice: 'We were restarting; nothing is wrong with it.' },
}

const operatorWords: Partial<Record<CauseCode, string>> = {
  blocked: 'is blocked',
  dns: 'has a name that cannot be looked up',
  refused: 'refused the connection',
  unreachable: 'is on a network out of reach',
  internal: 'could not be called through a fault of our own',
}

const statusAdvice: Readonly<Record<number, string>> = {
  400: 'It does not like the request; a failed signature check often looks like this.',
  401: 'It does not accept the signature: check its secret and the signature profile.',
  403: 'It does not accept the signature: check its secret and the signature profile.',
  404: 'There is nothing at the path of the URL.',
  405: 'It must accept POST.',
  410: 'There is nothing at the path of the URL any more.',
  413: 'Its limit on the size of a body is too low.',
  429: 'It wants fewer requests; raise its rate limit for these.',
}

/** What a customer is told of a cause, in a few words about the endpoint. */
export function customerError(code: CauseCode, detail: string): string {
  const { does } = customerWords[code]
  return code === 'timeout' ? `${does} ${detail}` : does
}

/**
 * Why an attempt failed and what to do about it, in two sentences. A customer learns nothing of
 * addresses and names; the operator is told the cause instead of advice.
 */
export function explainFailure(attempt: FailedAttempt, reader: 'customer' | 'operator'): string {
  if (attempt.cause === null) return explainStatus(attempt)
  const { code, detail } = causeOf(attempt.cause)
  if (reader === 'customer') {
    return `The endpoint ${customerError(code, detail)}. ${customerWords[code].advice}`
  }
  return `The endpoint ${operatorWords[code] ?? customerWords[code].does}: ${detail}.`
}

function causeOf(cause: string): { code: CauseCode; detail: string } {
  const separator = cause.indexOf(': ')
  const code = cause.slice(0, separator)
  const detail = cause.slice(separator + 2)
  return isCauseCode(code) ? { code, detail } : { code: 'internal', detail: cause }
}

function isCauseCode(code: string): code is CauseCode {
  return Object.hasOwn(customerWords, code)
}

function explainStatus(attempt: FailedAttempt): string {
  const { statusCode } = attempt
  if (statusCode === null) return 'The endpoint gave no answer.'
  if ((statusCode === 401 || statusCode === 403) && hasFailedSinceRotation(attempt)) {
    const time = attempt.secretRotatedAt?.toISOString().slice(0, 16).replace('T', ' ')
    return `The endpoint has answered ${statusCode} since its secret was rotated (${time} UTC). It probably still checks with the old one.`
  }
  return `The endpoint answered ${statusCode}. ${adviceFor(statusCode)}`
}

function hasFailedSinceRotation({ secretRotatedAt, lastSuccessAt }: FailedAttempt): boolean {
  return secretRotatedAt !== null && lastSuccessAt !== null && lastSuccessAt < secretRotatedAt
}

function adviceFor(statusCode: number): string {
  const advice = statusAdvice[statusCode]
  if (advice !== undefined) return advice
  if (statusCode >= 500) return 'It failed by itself; its log should say why.'
  if (statusCode >= 300 && statusCode < 400) {
    return 'Redirects are not followed: enter the final URL.'
  }
  return 'Only a status from 200 to 299 counts as received.'
}
