import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import { startProvider } from '#dev/demo/provider.ts'
import { newProviderBrowser } from './provider-browser.ts'
import { testClient } from './settings.ts'

/** Somebody who can sign in at the provider of the tests. Their e-mail is verified. */
export type TestSubject = {
  readonly subject: string
  readonly name: string
  readonly email: string
}

/** An OpenID provider in this process, at which these people can sign in. @param baseUrl of the app */
export async function startSignIns(people: readonly TestSubject[], baseUrl: string) {
  const { issuer, stop } = await startProvider({
    ...testClient,
    port: 0,
    redirectUris: [`${baseUrl}/auth/callback`],
    postLogoutRedirectUris: [`${baseUrl}/auth/signed-out`],
    people: people.map((person) => ({ ...person, note: '' })),
  })
  return { settings: { OIDC_DEMO_ISSUER: issuer }, signIn: signInAt, close: stop }
}

/** A whole sign-in in a new browser. @returns the cookie header of the session */
async function signInAt(app: FastifyInstance, subject: string): Promise<string> {
  const started = await app.inject('/auth/login?provider=demo')
  const back = await newProviderBrowser().signIn(new URL(locationOf(started)), subject)
  const url = `${back.pathname}${back.search}`
  const ended = await app.inject({ url, headers: { cookie: cookieOf(started) } })
  locationOf(ended)
  return cookieOf(ended)
}

function locationOf({ statusCode, headers, body }: LightMyRequestResponse): string {
  const { location } = headers
  if (location === undefined) throw new Error(`The sign-in failed: ${statusCode} ${body}`)
  return String(location)
}

function cookieOf({ cookies }: LightMyRequestResponse): string {
  return `sid=${cookies.find(({ name }) => name === 'sid')?.value}`
}
