import type { SignatureProfile } from '#src/webhooks/signing/signature.ts'
import type { CaseName } from './cases.ts'

/** A needs nothing; F lets anybody forge events, or accepts none. */
export type Grade = 'A' | 'B' | 'C' | 'D' | 'E' | 'F'

export type Fault = { code: FaultCode; grade: Grade; problem: string; remedy: string }

/** Every fault that a probe finds. The grade of a receiver is that of its worst fault. */
export const faults = {
  unreachable: {
    grade: 'F',
    problem: 'The receiver did not respond completely.',
    remedy: 'Check the URL, its certificate and that the receiver is running.',
  },
  'refuses-correct': {
    grade: 'F',
    problem: 'A correct delivery was refused, however it was signed.',
    remedy:
      'Check that the receiver has the whole current secret, with whsec_, and responds with a 2xx status.',
  },
  unverified: {
    grade: 'F',
    problem: 'The signature is not verified: anybody who knows the URL can send events.',
    remedy: 'Verify every request before you use it; the documentation has programs for it.',
  },
  'not-compared': {
    grade: 'F',
    problem: 'A signature of the right form is accepted, whatever it signs.',
    remedy: 'Compute the HMAC over the received bytes and compare it with the header.',
  },
  'missing-accepted': {
    grade: 'F',
    problem: 'A request without a signature is accepted.',
    remedy: 'Refuse requests that lack one of the three webhook headers.',
  },
  'malformed-accepted': {
    grade: 'F',
    problem: 'A signature that cannot be decoded is accepted.',
    remedy: 'Treat every error while verifying as a wrong signature, and refuse the request.',
  },
  'foreign-accepted': {
    grade: 'F',
    problem: 'A signature made with another secret is accepted.',
    remedy: "Verify with this endpoint's secret only.",
  },
  'body-not-signed': {
    grade: 'F',
    problem: 'A body that was changed after signing is accepted.',
    remedy: 'Compute the HMAC over the whole body as it was received.',
  },
  profile: {
    grade: 'E',
    problem: 'Deliveries are refused, because the receiver expects another signature profile.',
    remedy: "Change the endpoint's signature profile to the one that matches.",
  },
  'raw-bytes': {
    grade: 'D',
    problem: 'A body with unusual spaces, escapes or numbers is refused.',
    remedy: 'Verify the bytes as received. Do not parse and serialize the JSON before.',
  },
  rotation: {
    grade: 'D',
    problem: 'A header with two signatures is refused, so every rotation would lose deliveries.',
    remedy: 'Split the header at spaces and accept the request if one of the signatures is right.',
  },
  'slow-body': {
    grade: 'D',
    problem: 'A body that arrives in two parts is refused.',
    remedy: 'Read the request until its end before you verify it.',
  },
  'no-time-check': {
    grade: 'C',
    problem: 'The time of the signature is not checked: a recorded request can be sent again.',
    remedy: 'Refuse a webhook-timestamp more than 300 seconds away from your clock.',
  },
  'old-accepted': {
    grade: 'C',
    problem: 'A signature older than 300 seconds is accepted.',
    remedy: 'Refuse a webhook-timestamp more than 300 seconds in the past.',
  },
  'new-accepted': {
    grade: 'C',
    problem: 'A signature more than 300 seconds in the future is accepted.',
    remedy: 'Refuse a webhook-timestamp more than 300 seconds in the future.',
  },
  'repeat-refused': {
    grade: 'B',
    problem: 'A delivery that was sent again is refused, so it is repeated without an end.',
    remedy: 'Respond with 200 to an id that you have processed already.',
  },
  'unknown-version': {
    grade: 'B',
    problem: 'A header that also contains a signature of an unknown version is refused.',
    remedy: 'Skip signatures that do not begin with v1, and verify the others.',
  },
  'slow-response': {
    grade: 'B',
    problem: 'Responses took longer than 5 seconds; a delivery fails after 10.',
    remedy: 'Store the event, respond, and do the work afterwards.',
  },
} as const satisfies Record<string, { grade: Grade; problem: string; remedy: string }>

export type FaultCode = keyof typeof faults

/** The result of one case. */
export type Result = {
  /** Whether the receiver responded with a 2xx status; null if the request was not made. */
  accepted: boolean | null
  statusCode: number | null
  /** Why there was no complete response. */
  error: string | null
  durationMs: number
}

const slowMs = 5_000

/**
 * What the results say about the receiver: the most general fault, not every case that it fails.
 * @param matchingProfile the profile with which the correct delivery was accepted; null if none
 */
export function diagnose(
  results: Readonly<Partial<Record<CaseName, Result>>>,
  configured: SignatureProfile,
  matchingProfile: SignatureProfile | null,
): FaultCode[] {
  if (matchingProfile === null) {
    return [results.correct?.error == null ? 'refuses-correct' : 'unreachable']
  }
  const accepts = (name: CaseName) => results[name]?.accepted === true
  const refuses = (name: CaseName) => results[name]?.accepted === false
  const isSlow = Object.values(results).some(({ durationMs }) => durationMs > slowMs)
  return [
    ...(matchingProfile === configured ? [] : (['profile'] as const)),
    ...forgeries(accepts),
    ...(refuses('unusual-bytes') ? (['raw-bytes'] as const) : []),
    ...(refuses('rotation') ? (['rotation'] as const) : []),
    ...(refuses('slow-connection') ? (['slow-body'] as const) : []),
    ...(refuses('repeated') ? (['repeat-refused'] as const) : []),
    ...(refuses('unknown-version') ? (['unknown-version'] as const) : []),
    ...(isSlow ? (['slow-response'] as const) : []),
  ]
}

/** What somebody without the secret can do. */
function forgeries(accepts: (name: CaseName) => boolean): FaultCode[] {
  const [missing, malformed] = [accepts('missing-signature'), accepts('malformed-signature')]
  const [foreign, changed] = [accepts('foreign-signature'), accepts('changed-byte')]
  if (missing && malformed && foreign && changed) return ['unverified']
  const found: FaultCode[] = []
  if (missing) found.push('missing-accepted')
  if (malformed) found.push('malformed-accepted')
  if (foreign && changed) return [...found, 'not-compared']
  if (foreign) found.push('foreign-accepted')
  if (changed) found.push('body-not-signed')
  const [old, future] = [accepts('too-old'), accepts('too-new')]
  if (old && future) found.push('no-time-check')
  else if (old) found.push('old-accepted')
  else if (future) found.push('new-accepted')
  return found
}

/** The worst grade of the faults. */
export function gradeOf(found: readonly FaultCode[]): Grade {
  return found.map((code): Grade => faults[code].grade).reduce((a, b) => (a > b ? a : b), 'A')
}
