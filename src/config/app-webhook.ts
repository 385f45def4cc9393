import { readSecrets } from './parse.ts'

/** Where processed billing events are posted to. */
export type AppWebhook = { url: string; secrets: readonly string[] }

type Values = { APP_WEBHOOK_URL?: string; APP_WEBHOOK_SECRETS?: string }

// Standard Webhooks: at least 24 bytes, at most 64.
const secretForm = /^whsec_[A-Za-z0-9+/]{32,86}={0,2}$/
const maxUrlLength = 2_048
const minSecretCharacters = 38

/** Null if billing events are not posted to an app. */
export function readAppWebhook(
  { APP_WEBHOOK_URL: given, APP_WEBHOOK_SECRETS: secret }: Values,
  faults: string[],
): AppWebhook | null {
  if (given === undefined) {
    if (secret !== undefined) {
      faults.push('APP_WEBHOOK_SECRETS: has no effect without APP_WEBHOOK_URL.')
    }
    return null
  }
  const url = URL.parse(given)
  const isPlain =
    url !== null && url.username === '' && url.password === '' && !url.href.includes('#')
  if (!isPlain || !/^https?:$/.test(url.protocol) || url.href.length > maxUrlLength) {
    faults.push(
      'APP_WEBHOOK_URL: must be an http:// or https:// URL without user, password and fragment.',
    )
  }
  const secrets = readSecrets('APP_WEBHOOK_SECRETS', secret, minSecretCharacters, faults)
  if (secrets.some((one) => one !== '' && !secretForm.test(one))) {
    faults.push(
      'APP_WEBHOOK_SECRETS: every secret must be whsec_ and 24 to 64 random bytes in base64, for instance of: echo "whsec_$(openssl rand -base64 32)"',
    )
  }
  return { url: url?.href ?? given, secrets }
}
