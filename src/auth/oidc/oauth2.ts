import type { OAuth2Endpoints, ProfileList } from '#src/config/providers/presets.ts'
import { isJsonObject, type JsonObject, parseJsonObject } from '#src/runtime/json.ts'
import { ProviderUnavailable, SignInRefused } from './errors.ts'
import { mediaTypeOf, type ProviderFetch } from './fetch.ts'
import { isMediaType, textOf } from './token.ts'
import { isSubject } from './tokens/id-token.ts'

/*
 * Providers without OpenID Connect. There is no signed statement about the person: the profile is
 * fetched from the provider's API with the access token, over TLS and without the browser. Weaker
 * than an id_token: nothing says for which client the token was issued, or when the person
 * authenticated. The code, the state and PKCE bind the token to this sign-in.
 */

/** More pages of a list are not read. */
const maxPages = 5

/**
 * The profile with the names that an id_token uses. A list of addresses is only additional: if it cannot be
 * read, the person has no address, and `missed` is called with the reason. The other lists are required.
 * @throws SignInRefused | ProviderUnavailable
 */
export async function fetchProfile(
  { profile }: Pick<OAuth2Endpoints, 'profile'>,
  accessToken: string,
  fetch: ProviderFetch,
  missed: (reason: string) => void,
): Promise<JsonObject & { sub: string }> {
  const { body: found } = await request(profile.url, accessToken, fetch)
  if (!isJsonObject(found)) throw new SignInRefused('profile-malformed')
  const members = profile.within === undefined ? found : found[profile.within]
  if (!isJsonObject(members)) throw new SignInRefused('profile-malformed')
  const sub = subjectOf(members[profile.subject])
  if (sub === null) throw new SignInRefused('profile-malformed')
  const lists: Record<string, unknown> = {}
  for (const list of profile.lists ?? []) {
    lists[list.claim] = await listValues(list, accessToken, fetch)
  }
  const names = profile.names.map((name) => textOf(members[name]))
  return {
    ...members,
    ...lists,
    sub,
    name: names.find((name) => name !== null) ?? null,
    ...(profile.emailsUrl === undefined
      ? addressOf(profile, members)
      : primaryAddress(await listAddresses(profile.emailsUrl, accessToken, fetch, missed))),
  }
}

/** A required claim: if it cannot be read, the person is refused. */
async function listValues(
  { url, member }: ProfileList,
  accessToken: string,
  fetch: ProviderFetch,
): Promise<unknown[]> {
  const values: unknown[] = []
  for await (const entries of pagesOf(url, accessToken, fetch)) {
    values.push(...entries.filter(isJsonObject).map((entry) => entry[member]))
  }
  return values
}

async function listAddresses(
  first: string,
  accessToken: string,
  fetch: ProviderFetch,
  missed: (reason: string) => void,
): Promise<unknown[]> {
  const list: unknown[] = []
  try {
    for await (const entries of pagesOf(first, accessToken, fetch)) list.push(...entries)
  } catch (error) {
    if (!(error instanceof SignInRefused || error instanceof ProviderUnavailable)) throw error
    missed(error.reason)
  }
  return list
}

/** Follows the pages of a list (RFC 8288) on its own origin. */
async function* pagesOf(
  first: string,
  accessToken: string,
  fetch: ProviderFetch,
): AsyncGenerator<readonly unknown[]> {
  let url: string | null = first
  for (let page = 0; url !== null && page < maxPages; page++) {
    const { body, next }: Page = await request(url, accessToken, fetch)
    if (!Array.isArray(body)) throw new SignInRefused('profile-malformed')
    yield body
    // The access token goes to no other origin.
    url = next !== null && new URL(next).origin === new URL(first).origin ? next : null
  }
}

type Page = { body: unknown; next: string | null }

async function request(url: string, accessToken: string, fetch: ProviderFetch): Promise<Page> {
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
  const [, next] = nextLink.exec(response.headers.get('link') ?? '') ?? []
  return { body: wrapped.value, next: next ? (URL.parse(next, url)?.href ?? null) : null }
}

const nextLink = /<([^<>]+)>[^<,]*;\s*rel="?next"?\s*(?:[;,]|$)/i

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
function primaryAddress(list: readonly unknown[]): JsonObject {
  const primary = list
    .filter(isJsonObject)
    .find(({ primary, verified }) => primary === true && verified === true)
  return { email: primary?.email ?? null, email_verified: primary !== undefined }
}
