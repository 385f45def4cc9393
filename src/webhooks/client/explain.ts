import type { CauseCode } from '#src/webhooks/client/errors.ts'

/** The facts about a failed attempt. */
export type FailedAttempt = {
  statusCode: number | null
  /** As in `SendResult`. */
  cause: string | null
  /** When the endpoint's secret was last rotated, and when an attempt last succeeded. */
  secretRotatedAt: Date | null
  lastSuccessAt: Date | null
}

/** `problem` completes the sentence “The endpoint …”. */
type Explanation = { problem: string; advice: string }

// The same for all: a customer who could tell them apart could map our network.
const unreached: Explanation = {
  problem: 'could not be reached',
  advice:
    'Its name must resolve to public addresses only, and its port must be open to the internet.',
}

const customerExplanations: Readonly<Record<CauseCode, Explanation>> = {
  blocked: unreached,
  dns: unreached,
  refused: unreached,
  unreachable: unreached,
  internal: unreached,
  timeout: {
    problem: 'timed out',
    advice: 'Respond as soon as the event is stored, and do slow work afterwards.',
  },
  'tls-name': {
    problem: 'has a certificate for another name',
    advice: 'The certificate must name the host of the URL.',
  },
  'tls-expired': { problem: 'has an expired certificate', advice: 'Renew the certificate.' },
  'tls-not-yet-valid': {
    problem: 'has a certificate that is not valid yet',
    advice: 'Check its start date, and the clock of the server that issued it.',
  },
  'tls-self-signed': {
    problem: 'has a self-signed certificate',
    advice: 'Use a certificate from a public certificate authority.',
  },
  'tls-untrusted': {
    problem: 'has a certificate from an untrusted authority',
    advice: 'Use a public certificate authority, and send its intermediate certificate too.',
  },
  tls: {
    problem: 'failed the TLS handshake',
    advice: 'It must support TLS 1.2 or newer on this port.',
  },
  closed: {
    problem: 'closed the connection before its response was complete',
    advice: 'Check it for a crash, and the proxies in front of it.',
  },
  'headers-too-large': {
    problem: 'responded with headers that are too large',
    advice: 'An empty response with status 200 or 204 is enough.',
  },
  'broken-answer': {
    problem: 'sent a malformed or incomplete response',
    advice:
      'Such a response does not count as received, whatever its status, so the event is sent again. Do not send both Content-Length and Transfer-Encoding. An empty response with status 200 or 204 is enough.',
  },
  stopped: {
    problem: 'was interrupted by a restart on our side',
    advice: 'Nothing is wrong with it.',
  },
}

const operatorProblems: Partial<Record<CauseCode, string>> = {
  blocked: 'is blocked',
  dns: 'has a name that cannot be resolved',
  refused: 'refused the connection',
  unreachable: 'is on an unreachable network',
  internal: 'could not be called because of an internal error',
}

const statusAdvice: Readonly<Record<number, string>> = {
  400: 'It refused the request. A failed signature check often looks like this.',
  401: 'It refused the signature. Check its secret and the signature profile.',
  403: 'It refused the signature. Check its secret and the signature profile.',
  404: 'The path of the URL does not exist.',
  405: 'It must accept POST.',
  410: 'The path of the URL no longer exists.',
  413: 'Its limit on the size of a body is too low.',
  429: 'Its rate limit is too low for these requests.',
}

/** The short error of an attempt, for customers. */
export function customerError(code: CauseCode, detail: string): string {
  const { problem } = customerExplanations[code]
  return code === 'timeout' ? `${problem} ${detail}` : problem
}

/**
 * Why an attempt failed and what to do about it, in two sentences. A customer does not see addresses
 * and names. An operator sees the cause instead of the advice.
 */
export function explainFailure(attempt: FailedAttempt, reader: 'customer' | 'operator'): string {
  if (attempt.cause === null) return explainStatus(attempt)
  const { code, detail } = causeOf(attempt.cause)
  if (reader === 'customer') {
    return `The endpoint ${customerError(code, detail)}. ${customerExplanations[code].advice}`
  }
  return `The endpoint ${operatorProblems[code] ?? customerExplanations[code].problem}: ${detail}.`
}

function causeOf(cause: string): { code: CauseCode; detail: string } {
  const separator = cause.indexOf(': ')
  const code = cause.slice(0, separator)
  const detail = cause.slice(separator + 2)
  return isCauseCode(code) ? { code, detail } : { code: 'internal', detail: cause }
}

function isCauseCode(code: string): code is CauseCode {
  return Object.hasOwn(customerExplanations, code)
}

function explainStatus(attempt: FailedAttempt): string {
  const { statusCode } = attempt
  if (statusCode === null) return 'The endpoint did not respond.'
  if ((statusCode === 401 || statusCode === 403) && hasFailedSinceRotation(attempt)) {
    const time = attempt.secretRotatedAt?.toISOString().slice(0, 16).replace('T', ' ')
    return `The endpoint has answered ${statusCode} since its secret was rotated (${time} UTC). It probably still uses the old one.`
  }
  return `The endpoint answered ${statusCode}. ${adviceFor(statusCode)}`
}

function hasFailedSinceRotation({ secretRotatedAt, lastSuccessAt }: FailedAttempt): boolean {
  return secretRotatedAt !== null && lastSuccessAt !== null && lastSuccessAt < secretRotatedAt
}

function adviceFor(statusCode: number): string {
  const advice = statusAdvice[statusCode]
  if (advice !== undefined) return advice
  if (statusCode >= 500) return 'It has an error of its own. Its log should say why.'
  if (statusCode >= 300 && statusCode < 400) {
    return 'Redirects are not followed: enter the final URL.'
  }
  return 'Only a status from 200 to 299 counts as received.'
}
