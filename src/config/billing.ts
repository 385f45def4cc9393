import { randomToken } from '#src/crypto/hash.ts'
import { OperatorError } from '#src/runtime/operator-error.ts'
import { described, type Environment, list, loopbackHosts, readSecrets } from './parse.ts'
import { Settings } from './settings.ts'

export type BillingProviderName = 'signed' | 'stripe' | 'paddle' | 'standard'

/** Who is the customer of the provider: each person, or the tenant. */
export type BillingCustomer = 'person' | 'tenant'

/** The API of the billing provider; `url` has no trailing slash. */
export type BillingApiConfig = { url: string; key: string }

type Rules = {
  /** How its signing secrets look, and how to say so. */
  secret: { form: RegExp; text: string } | null
  /** How its API keys look, and those of its test mode; null: it has no API that is known here. */
  key: { form: RegExp; text: string; test: RegExp | null } | null
  /** The address of its API, for a key. */
  url(key: string): string | undefined
}

const rules: Readonly<Record<BillingProviderName, Rules>> = {
  signed: { secret: null, key: { form: /^/, text: 'its key', test: null }, url: () => undefined },
  stripe: {
    secret: {
      form: /^whsec_/,
      text: 'the signing secret of the endpoint, which starts with whsec_',
    },
    key: {
      form: /^[sr]k_(test|live)_/,
      text: 'a secret or restricted key, sk_… or rk_…',
      test: /^[sr]k_test_/,
    },
    url: () => 'https://api.stripe.com/v1',
  },
  paddle: {
    secret: {
      form: /^pdl_ntfset_/,
      text: 'the secret key of the notification destination, which starts with pdl_ntfset_',
    },
    key: {
      form: /^pdl_(live|sdbx)_apikey_/,
      text: 'an API key, pdl_live_apikey_… or pdl_sdbx_apikey_…',
      test: /^pdl_sdbx_/,
    },
    url: (key) =>
      key.startsWith('pdl_sdbx_') ? 'https://sandbox-api.paddle.com' : 'https://api.paddle.com',
  },
  standard: {
    secret: {
      form: /^(whsec_[A-Za-z0-9+/]{22,}={0,2}|(?!whsec_).+)$/,
      text: 'whsec_ and at least 16 bytes as base64, or an older secret of Polar as it is (polar_whs_…)',
    },
    key: null,
    url: () => undefined,
  },
}

/** What only one provider has, so that it is noticed beside another one. */
const marks: readonly (readonly [BillingProviderName, RegExp])[] = [
  ['stripe', /^[sr]k_(test|live)_/],
  ['paddle', /^pdl_/],
]

/** The name in an environment that a command has not read as a whole. @throws OperatorError */
export function readBillingProvider({ BILLING_PROVIDER: name }: Environment): BillingProviderName {
  if (name === undefined || name === '') return 'signed'
  if (isBillingProvider(name)) return name
  throw new OperatorError(
    `BILLING_PROVIDER: ${name} is no billing provider.`,
    `It must be one of ${Object.keys(rules).join(', ')}.`,
  )
}

export function isBillingProvider(name: string): name is BillingProviderName {
  return Object.hasOwn(rules, name)
}

export const billingProviders = Object.keys(rules) as readonly BillingProviderName[]

/** How a secret of the provider looks, in words. */
export function secretText(provider: BillingProviderName): string {
  return rules[provider].secret?.text ?? 'the secret that the provider signs with'
}

/** How a key of its API looks, in words; null if it has none. */
export function keyText(provider: BillingProviderName): string | null {
  return rules[provider].key?.text ?? null
}

/** The mode of a key; null if the provider has none, or keys do not say it. */
export function modeOf(provider: BillingProviderName, key: string): 'test' | 'live' | null {
  const test = rules[provider].key?.test ?? null
  return test === null ? null : test.test(key) ? 'test' : 'live'
}

/** Whether web processes call its API, to start checkouts. */
export function hasCheckout(provider: BillingProviderName): boolean {
  return provider === 'stripe' || provider === 'paddle'
}

const minSecretCharacters = 16

const billingSettings = ['PROVIDER', 'API_URL', 'API_KEY', 'PLANS'] as const

/**
 * The secrets that verify webhooks, in the form of the provider. Without any setting of billing nothing
 * is billed: a random secret refuses every webhook, with a warning.
 */
export function readBillingSecrets(
  provider: BillingProviderName,
  env: Environment,
  faults: string[],
  warnings: string[],
): readonly [string, ...string[]] {
  const name = 'BILLING_WEBHOOK_SECRETS'
  const value = env[name] || undefined
  if (value === undefined && !billingSettings.some((setting) => env[`BILLING_${setting}`])) {
    warnings.push(`${name} is empty: billing webhooks are refused.`)
    return [randomToken()]
  }
  const secrets = readSecrets(name, value, minSecretCharacters, faults)
  for (const given of value === undefined ? [] : secrets) checkSecret(provider, given, faults)
  return secrets
}

/** Checks the form of a secret. */
export function checkSecret(provider: BillingProviderName, given: string, faults: string[]): void {
  const name = 'BILLING_WEBHOOK_SECRETS'
  const { secret } = rules[provider]
  const stranger = ownerOf(given)
  if (stranger !== null && stranger !== provider) faults.push(ofAnother(name, stranger, provider))
  else if (secret !== null && !secret.form.test(given)) {
    faults.push(`${name}: BILLING_PROVIDER=${provider} needs ${secret.text}.`)
  }
}

type ApiSettings = {
  BILLING_API_URL?: string
  BILLING_API_KEY?: string
}

/** Null if no API is configured; then the state and time in the event itself are used. */
export function readBillingApi(
  provider: BillingProviderName,
  { BILLING_API_URL: given, BILLING_API_KEY: key }: ApiSettings,
  production: boolean,
  faults: string[],
): BillingApiConfig | null {
  if (given === undefined && key === undefined) return null
  const { key: form, url: urlOf } = rules[provider]
  if (form === null) {
    faults.push(
      `BILLING_API_KEY, BILLING_API_URL: have no effect with BILLING_PROVIDER=${provider}.`,
    )
    return null
  }
  const url = given ?? urlOf(key ?? '')
  if (url === undefined) {
    faults.push('BILLING_API_KEY: has no effect without BILLING_API_URL.')
    return null
  }
  if (key === undefined) faults.push('BILLING_API_KEY: is missing; BILLING_API_URL requires it.')
  else checkKey(provider, key, faults)
  checkUrl(url, production, faults)
  return { url: url.replace(/\/+$/, ''), key: key ?? '' }
}

/** Checks the form of a key. */
export function checkKey(provider: BillingProviderName, key: string, faults: string[]): void {
  const stranger = ownerOf(key)
  const { key: rule } = rules[provider]
  // It is a header. The error of one that cannot be sent repeats it, in logs and to operators.
  if (!/^[\x20-\x7e]+$/.test(key)) {
    faults.push('BILLING_API_KEY: must be printable ASCII in one line.')
  } else if (stranger !== null && stranger !== provider) {
    faults.push(ofAnother('BILLING_API_KEY', stranger, provider))
  } else if (rule !== null && !rule.form.test(key)) {
    faults.push(`BILLING_API_KEY: BILLING_PROVIDER=${provider} needs ${rule.text}.`)
  }
}

function checkUrl(url: string, production: boolean, faults: string[]): void {
  const parsed = URL.parse(url)
  const isPlain =
    parsed !== null && parsed.search === '' && parsed.hash === '' && parsed.username === ''
  const isLocal =
    parsed?.protocol === 'http:' && !production && loopbackHosts.includes(parsed.hostname)
  if (isPlain && (parsed.protocol === 'https:' || isLocal)) return
  faults.push(
    'BILLING_API_URL: must be an https URL without user, query or fragment (http only on loopback outside production).',
  )
}

function ownerOf(text: string): BillingProviderName | null {
  return marks.find(([, form]) => form.test(text))?.[0] ?? null
}

function ofAnother(name: string, owner: string, provider: string): string {
  return `${name}: is one of ${owner}, but BILLING_PROVIDER is ${provider}.`
}

/** The plan of each price. */
export type BillingPlans = ReadonlyMap<string, string>

/** Reads keys of metadata, comma-separated. The keys that the program itself writes are refused. */
export function readBillingMetadata(
  provider: BillingProviderName,
  value: string | undefined,
  faults: string[],
): readonly string[] {
  const name = 'BILLING_METADATA'
  if (value === undefined) return []
  if (provider === 'signed') {
    faults.push(`${name}: has no effect with BILLING_PROVIDER=signed, whose events have none.`)
  }
  const keys = list(value)
  if (!keys.every((key) => /^(?!gatehouse_)[A-Za-z0-9_.-]{1,40}$/.test(key)) || keys.length > 20) {
    faults.push(`${name}: must be at most 20 keys. ${described(Settings, name)}`)
  }
  return [...new Set(keys)]
}

/** @param declared the plans of the app; empty if it declares none, and then takes any */
export function checkPlans(
  plans: BillingPlans | null,
  declared: readonly string[],
  faults: string[],
): void {
  const unknown = [...(plans?.values() ?? [])].find((plan) => !declared.includes(plan))
  if (unknown === undefined || declared.length === 0) return
  faults.push(`BILLING_PLANS: the app has no plan ${unknown}; it has ${declared.join(', ')}.`)
}

/** Reads `price:plan`, comma-separated. Without any, every subscription is `pro` (specification). */
export function readBillingPlans(
  provider: BillingProviderName,
  value: string | undefined,
  faults: string[],
): BillingPlans | null {
  const name = 'BILLING_PLANS'
  if (value === undefined) return null
  if (provider === 'signed') {
    faults.push(`${name}: has no effect with BILLING_PROVIDER=signed, whose events have no prices.`)
  }
  const pairs = list(value).map(
    (text) => /^([A-Za-z0-9_-]{1,255}):([a-z][a-z0-9_-]{0,31})$/.exec(text) ?? [],
  )
  const plans = new Map(pairs.map(([, price = '', plan = '']) => [price, plan]))
  if (plans.has('') || plans.size === 0) {
    faults.push(`${name}: must be price:plan pairs. ${described(Settings, name)}`)
  } else if (plans.size < pairs.length) faults.push(`${name}: a price is there twice.`)
  return plans
}
