import type { LightMyRequestResponse } from 'fastify'
import type { Clock } from '#src/runtime/clock.ts'
import { type Json, type SigningKey, signToken } from './hostile-tokens.ts'
import { type Browser, type Journey, rsaKey, signInThrough, visit } from './sign-in-journey.ts'

export const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout'
export const logoutPath = '/auth/backchannel-logout/demo'

export const logoutSeconds = Date.UTC(2031, 4, 6, 7, 8, 9) / 1000
/** Far from the system time, so that a check against another clock fails. */
export const logoutClock = {
  seconds: logoutSeconds,
  now: () => new Date(logoutClock.seconds * 1000 + 250),
}

/** Faults of a logout token; `undefined` removes a claim or a header member. */
export type LogoutFaults = { claims?: Json; header?: Json; key?: SigningKey }

/** The valid token of the certification suite, without `typ` and with an unknown claim. */
export function signLogoutToken(
  { op }: Pick<Journey, 'op'>,
  clock: Clock,
  { claims, header, key = rsaKey }: LogoutFaults = {},
): Promise<string> {
  const seconds = Math.floor(clock.now().getTime() / 1000)
  const honest = {
    iss: op.issuer,
    aud: 'gatehouse-test',
    sub: 'subject-1',
    sid: 'provider-session-1',
    jti: crypto.randomUUID(),
    events: { [logoutEvent]: {} },
    iat: seconds,
    exp: seconds + 120,
    unknown: 'to be ignored',
  }
  const members = { alg: key.alg, kid: key.kid, ...header }
  return signToken(members, { ...honest, ...claims }, key, 'secret_of_the_client')
}

/** The provider's request, with the suite's unknown parameter. */
export function postLogout(
  { app }: Pick<Journey, 'app'>,
  token: string,
  options: { url?: string; remoteAddress?: string } = {},
): Promise<LightMyRequestResponse> {
  return app.inject({
    method: 'POST',
    url: options.url ?? logoutPath,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams({ logout_token: token, unknown: 'to be ignored' }).toString(),
    ...(options.remoteAddress === undefined ? {} : { remoteAddress: options.remoteAddress }),
  })
}

/** A browser signed in from the given session at the provider. */
export async function signedInFrom(
  journey: Journey,
  sid: unknown,
  subject = 'subject-1',
): Promise<Browser> {
  const browser = { cookie: '' }
  const email = `${subject}@example.com`
  journey.op.fault = { claims: { sid, sub: subject, email } }
  await signInThrough(journey, browser)
  journey.op.fault = {}
  return browser
}

export async function isSignedIn({ app }: Journey, browser: Browser): Promise<boolean> {
  return (await visit(app, browser, '/me')).statusCode === 200
}
