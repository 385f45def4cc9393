import { readFileSync } from 'node:fs'
import { type AssertionKey, readAssertionKey } from '#src/crypto/jwk.ts'
import { parseJsonObject } from '#src/runtime/json.ts'
import {
  described,
  type Environment,
  fallbackUrl,
  list,
  loopbackHosts,
  nonEmpty,
  readSchema,
} from './parse.ts'
import { ProviderSettings } from './settings.ts'

export type ClientCredentials = {
  clientId: string
  /** Tried in turn; at least one unless the client signs assertions. */
  clientSecrets: readonly string[]
  clientAuth: 'client_secret_post' | 'client_secret_basic' | 'private_key_jwt'
  /** For `private_key_jwt`. */
  clientKey: AssertionKey | null
}

export type OidcClientConfig = ClientCredentials & {
  name: string
  label: string
  /** Compared with the provider's metadata as text. */
  issuer: string
  /** Space-separated. */
  scopes: string
  /** The only algorithms an id_token may be signed with; asymmetric ones. */
  idTokenAlgorithms: readonly [string, ...string[]]
  /** Store the tokens of a sign-in, for calls to the provider's API. */
  storeTokens: boolean
  /** Also call the userinfo endpoint. */
  userinfo: boolean
  /** True for an http issuer on loopback outside production. */
  allowInsecure: boolean
}

/** One provider. `trustEmail`: true, or the lower-case domains whose addresses it may verify. */
export type ProviderConfig = OidcClientConfig & { trustEmail: boolean | readonly string[] }

const asymmetricAlgorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
]

export function readProviders(
  env: Environment,
  names: string | undefined,
  production: boolean,
  faults: string[],
): ProviderConfig[] {
  const listed = list(names ?? '')
  if (listed.length === 0) {
    faults.push(
      'OIDC_PROVIDERS: is missing. Name at least one provider and give OIDC_<NAME>_ISSUER, _CLIENT_ID and _CLIENT_SECRET.',
    )
    return []
  }
  const unique = [...new Set(listed)]
  if (unique.length < listed.length) faults.push('OIDC_PROVIDERS: a name is listed twice.')
  return unique.map((name) => {
    if (!/^[a-z][a-z0-9_]*$/.test(name)) {
      faults.push(`OIDC_PROVIDERS: “${name}” is not a name ([a-z][a-z0-9_]*).`)
    }
    return readProvider(env, name, production, faults)
  })
}

function readProvider(
  env: Environment,
  name: string,
  production: boolean,
  faults: string[],
): ProviderConfig {
  const prefix = `OIDC_${name.toUpperCase()}_`
  const values = readSchema(ProviderSettings, env, prefix, faults)
  const issuer = URL.parse(values.ISSUER ?? fallbackUrl)
  const allowInsecure =
    !production && issuer?.protocol === 'http:' && loopbackHosts.includes(issuer.hostname)
  if (values.ISSUER !== undefined && issuer?.protocol !== 'https:' && !allowInsecure) {
    faults.push(`${prefix}ISSUER: must be an https URL (http only on loopback outside production).`)
  }
  const algorithms = list(values.ID_TOKEN_ALG ?? '')
  for (const algorithm of algorithms) {
    if (!asymmetricAlgorithms.includes(algorithm)) {
      faults.push(
        `${prefix}ID_TOKEN_ALG: “${algorithm}” is not one of ${asymmetricAlgorithms.join(', ')}.`,
      )
    }
  }
  if (!(values.SCOPES ?? '').split(' ').includes('openid')) {
    faults.push(`${prefix}SCOPES: must contain openid.`)
  }
  const clientAuth = values.CLIENT_AUTH
  return {
    name,
    label: values.LABEL ?? name,
    issuer: values.ISSUER,
    clientId: values.CLIENT_ID,
    clientAuth,
    clientSecrets:
      clientAuth === 'private_key_jwt'
        ? []
        : readClientSecrets(`${prefix}CLIENT_SECRET`, values.CLIENT_SECRET, faults),
    clientKey:
      clientAuth === 'private_key_jwt'
        ? readClientKey(`${prefix}PRIVATE_KEY`, values.PRIVATE_KEY, faults)
        : null,
    scopes: values.SCOPES,
    idTokenAlgorithms: nonEmpty(`${prefix}ID_TOKEN_ALG`, algorithms, faults),
    trustEmail: readTrustEmail(values.TRUST_EMAIL ?? 'false'),
    storeTokens: values.STORE_TOKENS,
    userinfo: values.USERINFO,
    allowInsecure,
  }
}

function readClientSecrets(
  name: string,
  value: string | undefined,
  faults: string[],
): readonly string[] {
  if (value !== undefined) return nonEmpty(name, list(value), faults)
  faults.push(`${name}: is missing. ${described(ProviderSettings, 'CLIENT_SECRET')}`)
  return []
}

/** Reads the JWK from the value or from the file it names. Faults repeat neither: both may be a key. */
function readClientKey(
  name: string,
  value: string | undefined,
  faults: string[],
): AssertionKey | null {
  if (value === undefined) {
    faults.push(`${name}: is missing. ${described(ProviderSettings, 'PRIVATE_KEY')}`)
    return null
  }
  const text = value.startsWith('{') ? value : readText(value)
  if (text === null) {
    faults.push(`${name}: must be a JWK as JSON or the path of a readable file.`)
    return null
  }
  const jwk = parseJsonObject(text)
  const key = jwk === null ? 'is not a JWK as JSON' : readAssertionKey(jwk)
  if (typeof key !== 'string') return key
  faults.push(`${name}: ${key}.`)
  return null
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}

function readTrustEmail(value: string): boolean | readonly string[] {
  if (value === 'true') return true
  if (value === 'false') return false
  return list(value).map((domain) => domain.toLowerCase())
}
