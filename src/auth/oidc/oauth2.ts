import type { OAuth2Endpoints } from '#src/config/providers/presets.ts'
import { isJsonObject, type JsonObject, parseJsonObject } from '#src/runtime/json.ts'
import { SignInRefused } from './errors.ts'
import { mediaTypeOf, type ProviderFetch } from './fetch.ts'
import { isMediaType, textOf } from './token.ts'
import { isSubject } from './tokens/id-token.ts'

/*
 * Providers without OpenID Connect. There is no signed statement about the person: the profile is
 * fetched from the provider's API with the access token, over TLS and without the browser. Weaker
 * than an id_token: nothing says for which client the token was issued, or when the person
 * authenticated. The code, the state and PKCE bind the token to this sign-in.
 */

/** The profile with the names that an id_token uses. @throws SignInRefused | ProviderUnavailable */
export async function fetchProfile(
  { profile }: Pick<OAuth2Endpoints, 'profile'>,
  accessToken: string,
  fetch: ProviderFetch,
): Promise<JsonObject & { sub: string }> {
  const found = await request(profile.url, accessToken, fetch)
  if (!isJsonObject(found)) throw new SignInRefused('profile-malformed')
  const members = profile.within === undefined ? found : found[profile.within]
  if (!isJsonObject(members)) throw new SignInRefused('profile-malformed')
  const sub = subjectOf(members[profile.subject])
  if (sub === null) throw new SignInRefused('profile-malformed')
  const names = profile.names.map((name) => textOf(members[name]))
  return {
    ...members,
    sub,
    name: names.find((name) => name !== null) ?? null,
    ...(profile.emailsUrl === undefined
      ? addressOf(profile, members)
      : primaryAddress(await request(profile.emailsUrl, accessToken, fetch))),
  }
}

async function request(url: string, accessToken: string, fetch: ProviderFetch): Promise<unknown> {
  const response = await fetch(url, {
    method: 'GET',
    headers: {
      accept: 'application/json',
      authorization: `Bearer ${accessToken}`,
      'user-agent': 'gatehouse', // GitHub refuses requests without one
    },
  })
  if (response.status !== 200) throw new SignInRefused('profile-rejected')
  if (!isMediaType(mediaTypeOf(response), ['json'])) throw new SignInRefused('profile-malformed')
  const text = await response.text()
  const wrapped = parseJsonObject(`{"value":${text}}`) // a list is JSON as well
  if (wrapped === null) throw new SignInRefused('profile-malformed')
  return wrapped.value
}

/** An id that JavaScript reads exactly; a number counts as its decimal text. */
function subjectOf(value: unknown): string | null {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value > 0 ? `${value}` : null
  return isSubject(value) ? value : null
}

/** Addresses of a provider that does not say which are verified never count as verified. */
function addressOf(
  { email, emailVerified }: OAuth2Endpoints['profile'],
  members: JsonObject,
): JsonObject {
  return {
    email: email === undefined ? null : members[email],
    email_verified: emailVerified !== undefined && members[emailVerified] === true,
  }
}

/** The primary address of a list, if it is verified. */
function primaryAddress(list: unknown): JsonObject {
  const addresses = Array.isArray(list) ? list.filter(isJsonObject) : []
  const primary = addresses.find(({ primary, verified }) => primary === true && verified === true)
  return { email: primary?.email ?? null, email_verified: primary !== undefined }
}
