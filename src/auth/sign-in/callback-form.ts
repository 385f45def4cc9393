import { readName } from '#src/auth/oidc/tokens/id-token.ts'
import { type EncryptionKeys, seal, unseal } from '#src/crypto/encryption.ts'
import { isJsonObject, parseJsonObject } from '#src/runtime/json.ts'

/*
 * `response_mode=form_post`: the provider's page posts its response from another site, so the browser
 * sends no session cookie with it (SameSite=Lax). The response is passed on to `GET /auth/callback`,
 * where the cookie is, and judged there.
 */

/** The parameters that are passed on; all others are dropped, such as tokens. */
const knownFields = ['state', 'iss', 'error', 'code'] as const
const nameSeconds = 600 // as long as a pending sign-in

/**
 * The query that the browser is redirected to.
 * @param form the fields as posted, a repeated one as a list
 * @param now Unix seconds
 * @returns null unless there is exactly one `state`
 */
export function toCallbackQuery(
  form: unknown,
  keys: EncryptionKeys,
  now: number,
): URLSearchParams | null {
  if (!isJsonObject(form)) return null
  const { state, user } = form
  if (typeof state !== 'string' || state === '') return null
  const fields = knownFields.flatMap((field) =>
    [form[field]].flat().map((value): [string, unknown] => [field, value]),
  )
  const sent = fields.flatMap(([field, value]): [string, string][] =>
    typeof value === 'string' ? [[field, value]] : [],
  )
  const query = new URLSearchParams(sent)
  const name = typeof user === 'string' ? nameOf(user) : null
  if (name !== null) query.set('name', sealName(keys, { name, state }, now))
  return query
}

/** Apple sends `{ "name": { "firstName", "lastName" }, "email" }` at the first sign-in, unsigned. */
function nameOf(user: string): string | null {
  const name = parseJsonObject(user)?.name
  if (!isJsonObject(name)) return null
  const parts = [readName(name.firstName), readName(name.lastName)]
  return readName(parts.filter((part) => part !== null).join(' '))
}

function sealName(
  keys: EncryptionKeys,
  { name, state }: { name: string; state: string },
  now: number,
): string {
  const text = JSON.stringify({ name, until: now + nameSeconds })
  return seal(keys, text, ['callback-name', state]).toString('base64url')
}

/**
 * The name from the form of this sign-in. It comes from the browser, so it is shown and proves nothing.
 * @param now Unix seconds
 * @returns null without one, or if it is expired or of another sign-in
 */
export function unsealName(
  keys: EncryptionKeys,
  parameters: URLSearchParams,
  now: number,
): string | null {
  const [sealed, state] = [parameters.get('name'), parameters.get('state')]
  if (sealed === null || state === null) return null
  let text: string
  try {
    text = unseal(keys, Buffer.from(sealed, 'base64url'), ['callback-name', state])
  } catch {
    return null
  }
  const kept = parseJsonObject(text)
  return typeof kept?.until === 'number' && kept.until > now ? readName(kept.name) : null
}
