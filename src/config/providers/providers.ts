import { closest } from 'fastest-levenshtein'
import type { AssertionKey } from '#src/crypto/jwk.ts'
import {
  described,
  type Environment,
  fallbackUrl,
  list,
  loopbackHosts,
  nonEmpty,
  readSchema,
} from '../parse.ts'
import { ProviderSettings } from '../settings.ts'
import {
  findPreset,
  type OAuth2Endpoints,
  type Preset,
  presets,
  settingsOfPreset,
} from './presets.ts'
import { readClientKey, readSigningKey } from './provider-keys.ts'

export type ClientCredentials = {
  clientId: string
  /** Tried in turn; at least one unless the client signs assertions. */
  clientSecrets: readonly string[]
  clientAuth: 'client_secret_post' | 'client_secret_basic' | 'private_key_jwt' | 'signed_secret'
  /** For `private_key_jwt` and `signed_secret`. */
  clientKey: AssertionKey | null
  /** Issuer of the token that is the secret, for `signed_secret`. */
  secretIssuer: string
}

/** A claim that must have one of the values. */
export type Requirement = { claim: string; values: readonly string[] }

/** Which values of claims stand for which role in a tenant. */
export type RoleMap = {
  tenantId: string
  rules: readonly { claim: string; value: string; role: string }[]
}

export type OidcClientConfig = ClientCredentials & {
  name: string
  label: string
  /** Name of the preset; null for a provider without one. */
  preset: string | null
  /** The endpoints of a provider without OpenID Connect; null for all others. */
  oauth2: OAuth2Endpoints | null
  /** Compared with the provider's metadata as text. */
  issuer: string
  /** Null for a provider with one issuer. */
  issuerTemplate: string | null
  /** Null for the path of the standard below the issuer. */
  metadataUrl: string | null
  /** Tenants whose people may sign in; empty for all. */
  tenants: readonly string[]
  /** Claims that a person must have to sign in at all. */
  require: readonly Requirement[]
  /** Null if the provider decides no roles. */
  roleMap: RoleMap | null
  /** Further audiences of an id_token. */
  audiences: readonly string[]
  /** Space-separated. */
  scopes: string
  /** Further parameters of the authorization request. */
  params: Readonly<Record<string, string>>
  /** More of them, if tokens are stored. */
  offlineParams: Readonly<Record<string, string>>
  /** Null for the query. */
  responseMode: 'form_post' | null
  /** The only algorithms an id_token may be signed with; asymmetric ones. */
  idTokenAlgorithms: readonly [string, ...string[]]
  emailVerified: { claim: string; asText: boolean }
  logoutParameter: string
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

/** Parameters that the flow sets, or that would replace them. */
const flowParameters = [
  'response_type',
  'response_mode',
  'client_id',
  'redirect_uri',
  'scope',
  'state',
  'nonce',
  'code_challenge',
  'code_challenge_method',
  'max_age',
  'request',
  'request_uri',
  'client_secret',
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
  const preset = readPreset(env[`${prefix}PRESET`], name, `${prefix}PRESET`, faults)
  const values = readSchema(ProviderSettings, withPreset(env, prefix, preset), prefix, faults)
  const allowInsecure = readAllowInsecure(values.ISSUER, production)
  const isOwnIssuer = values.ISSUER !== undefined
  if (isOwnIssuer && URL.parse(values.ISSUER)?.protocol !== 'https:' && !allowInsecure) {
    faults.push(`${prefix}ISSUER: must be an https URL (http only on loopback outside production).`)
  } else if (isOwnIssuer && preset !== null && !allowInsecure) {
    checkIssuer(`${prefix}ISSUER`, values.ISSUER, preset, faults)
  }
  const algorithms = list(values.ID_TOKEN_ALG ?? '')
  for (const algorithm of algorithms) {
    if (!asymmetricAlgorithms.includes(algorithm)) {
      faults.push(
        `${prefix}ID_TOKEN_ALG: “${algorithm}” is not one of ${asymmetricAlgorithms.join(', ')}.`,
      )
    }
  }
  const required = readRequirements(`${prefix}REQUIRE`, values.REQUIRE ?? '', faults)
  const roleMap = readRoleMap(prefix, values, faults)
  const mapped = (roleMap?.rules ?? []).map(({ claim, value }) => ({ claim, values: [value] }))
  const oauth2 = endpointsFor(preset, [...required, ...mapped])
  if (oauth2 === null && !(values.SCOPES ?? '').split(' ').includes('openid')) {
    faults.push(`${prefix}SCOPES: must contain openid.`)
  }
  const issuers = readIssuers(prefix, values, { production, allowInsecure }, faults)
  const isOpen =
    isOpenToTenants(values.ISSUER, issuers) && !required.some(({ claim }) => claim === 'tid')
  checkClaims(prefix, 'REQUIRE', required, { preset, isOpen }, faults)
  checkClaims(prefix, 'ROLE_MAP', mapped, { preset, isOpen }, faults)
  return {
    name,
    label: values.LABEL ?? preset?.label ?? name,
    preset: preset?.name ?? null,
    oauth2,
    issuer: values.ISSUER,
    ...issuers,
    clientId: values.CLIENT_ID,
    ...readCredentials(prefix, values, faults),
    scopes: withScopes(values.SCOPES ?? '', oauth2),
    params: readParams(`${prefix}PARAMS`, values.PARAMS ?? '', faults),
    offlineParams: readParams(`${prefix}OFFLINE_PARAMS`, values.OFFLINE_PARAMS ?? '', faults),
    responseMode: values.RESPONSE_MODE === 'form_post' ? 'form_post' : null,
    require: required,
    roleMap,
    audiences: list(values.AUDIENCES ?? ''),
    idTokenAlgorithms: nonEmpty(`${prefix}ID_TOKEN_ALG`, algorithms, faults),
    emailVerified: { claim: values.EMAIL_VERIFIED_CLAIM, asText: values.EMAIL_VERIFIED_TEXT },
    logoutParameter: values.LOGOUT_PARAM,
    trustEmail: readTrustEmail(values.TRUST_EMAIL ?? 'false'),
    storeTokens: values.STORE_TOKENS,
    userinfo: values.USERINFO,
    allowInsecure,
  }
}

/** The preset that is named, or the one with the name of the provider. */
function readPreset(
  value: string | undefined,
  name: string,
  setting: string,
  faults: string[],
): Preset | null {
  const wanted = value?.trim() ?? ''
  if (wanted === 'none') return null
  if (wanted === '') return findPreset(name)
  const preset = findPreset(wanted)
  if (preset === null) {
    const names = presets.map((known) => known.name)
    faults.push(
      `${setting}: there is no preset “${wanted}”; did you mean ${closest(wanted, names)}? There are ${names.join(', ')}, and none.`,
    )
  }
  return preset
}

/** A setting that is given replaces that of the preset. */
function withPreset(env: Environment, prefix: string, preset: Preset | null): Environment {
  if (preset === null) return env
  const defaults = Object.entries(settingsOfPreset(preset)).map(([name, value]) => [
    prefix + name,
    value,
  ])
  const given = Object.entries(env).filter(([, value]) => (value?.trim() ?? '') !== '')
  return { ...Object.fromEntries(defaults), ...Object.fromEntries(given) }
}

function readAllowInsecure(issuer: string | undefined, production: boolean): boolean {
  const url = URL.parse(issuer ?? fallbackUrl)
  return !production && url?.protocol === 'http:' && loopbackHosts.includes(url.hostname)
}

/** A preset with another issuer would be another provider under its name. */
function checkIssuer(name: string, issuer: string, preset: Preset, faults: string[]): void {
  const { ISSUER: own } = settingsOfPreset(preset)
  if (issuer === own || preset.issuer?.pattern.test(issuer)) return
  const expected = preset.issuer?.example ?? own
  const prefix = name.slice(0, -'ISSUER'.length)
  faults.push(
    `${name}: “${issuer}” is not an issuer of the preset ${preset.name}, which is like ${expected}. Correct it, or set ${prefix}PRESET=none for another provider.`,
  )
}

type Values = {
  METADATA_URL?: string
  ISSUER_TEMPLATE?: string
  TENANTS: string
}

function readIssuers(
  prefix: string,
  { METADATA_URL: metadataUrl, ISSUER_TEMPLATE: issuerTemplate, TENANTS }: Values,
  { production, allowInsecure }: { production: boolean; allowInsecure: boolean },
  faults: string[],
): Pick<OidcClientConfig, 'metadataUrl' | 'issuerTemplate' | 'tenants'> {
  const isLocal = readAllowInsecure(metadataUrl, production) && allowInsecure
  if (metadataUrl !== undefined && URL.parse(metadataUrl)?.protocol !== 'https:' && !isLocal) {
    faults.push(`${prefix}METADATA_URL: must be an https URL.`)
  }
  if (issuerTemplate !== undefined && issuerTemplate.split('{tenantid}').length !== 2) {
    faults.push(`${prefix}ISSUER_TEMPLATE: must contain {tenantid} once.`)
  }
  const tenants = list(TENANTS ?? '')
  if (tenants.length > 0 && issuerTemplate === undefined) {
    faults.push(`${prefix}TENANTS: has no effect without ${prefix}ISSUER_TEMPLATE.`)
  }
  return { metadataUrl: metadataUrl ?? null, issuerTemplate: issuerTemplate ?? null, tenants }
}

type CredentialValues = {
  CLIENT_AUTH: ClientCredentials['clientAuth']
  CLIENT_SECRET?: string
  PRIVATE_KEY?: string
  KEY_ID?: string
  TEAM_ID?: string
}

function readCredentials(
  prefix: string,
  values: CredentialValues,
  faults: string[],
): Omit<ClientCredentials, 'clientId'> {
  const { CLIENT_AUTH: clientAuth, PRIVATE_KEY, KEY_ID, TEAM_ID } = values
  const name = `${prefix}PRIVATE_KEY`
  if (clientAuth === 'private_key_jwt') {
    const clientKey = readClientKey(name, PRIVATE_KEY, faults)
    return { clientAuth, clientSecrets: [], clientKey, secretIssuer: '' }
  }
  if (clientAuth !== 'signed_secret') {
    const secrets = readClientSecrets(`${prefix}CLIENT_SECRET`, values.CLIENT_SECRET, faults)
    return { clientAuth, clientSecrets: secrets, clientKey: null, secretIssuer: '' }
  }
  for (const setting of ['KEY_ID', 'TEAM_ID'] as const) {
    if (values[setting] !== undefined) continue
    faults.push(`${prefix}${setting}: is missing. ${described(ProviderSettings, setting)}`)
  }
  const clientKey = readSigningKey(name, PRIVATE_KEY, KEY_ID ?? '', faults)
  return { clientAuth, clientSecrets: [], clientKey, secretIssuer: TEAM_ID ?? '' }
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

function readParams(name: string, value: string, faults: string[]): Record<string, string> {
  const params = [...new URLSearchParams(value)]
  for (const [parameter, text] of params) {
    if (flowParameters.includes(parameter.toLowerCase())) {
      faults.push(`${name}: “${parameter}” belongs to the sign-in itself and cannot be set.`)
    } else if (parameter === '' || text === '') {
      faults.push(`${name}: must be name=value pairs, separated by &.`)
    }
  }
  return Object.fromEntries(params)
}

/** Claims that every id_token has, with values that no setting can know. */
const unusableClaims = [
  'iss',
  'aud',
  'azp',
  'exp',
  'iat',
  'nbf',
  'nonce',
  'at_hash',
  'auth_time',
  'jti',
]

function readRequirements(name: string, value: string, faults: string[]): Requirement[] {
  const byClaim = new Map<string, string[]>()
  for (const pair of list(value)) {
    // A claim may be a URL, a value has no colon.
    const [, claim = '', expected = ''] = /^(.+):([^:]+)$/.exec(pair) ?? []
    if (claim === '') {
      faults.push(`${name}: “${pair}” is not a claim:value pair such as hd:example.com.`)
      continue
    }
    byClaim.set(claim, [...(byClaim.get(claim) ?? []), expected])
  }
  return [...byClaim].map(([claim, values]) => ({ claim, values }))
}

/** Claims of every provider that people write themselves (OpenID Connect Core, 5.1). */
const ownClaims = [
  ...['name', 'given_name', 'family_name', 'middle_name', 'nickname', 'profile', 'picture'],
  ...['website', 'gender', 'birthdate', 'zoneinfo', 'locale', 'phone_number', 'address'],
  'updated_at',
]

/** Claims that the administrator of a tenant of the provider cannot write. */
const claimsOfAnyTenant = ['sub', 'tid']

/** What somebody can write who has a claim of their own making. */
const effects = {
  REQUIRE: 'it would keep nobody out',
  ROLE_MAP: 'they could take the role',
}

/**
 * A requirement that somebody can fulfil for themselves keeps nobody out, and gives a role to anybody.
 * @param isOpen people of all tenants of the provider may sign in
 */
function checkClaims(
  prefix: string,
  setting: keyof typeof effects,
  required: readonly Requirement[],
  { preset, isOpen }: { preset: Preset | null; isOpen: boolean },
  faults: string[],
): void {
  const name = `${prefix}${setting}`
  const effect = effects[setting]
  const known = preset?.requirable ?? null
  const always = known ?? claimsOfAnyTenant
  const ofTenants = known === null ? null : (preset?.requirableOfTenants ?? [])
  for (const { claim, values } of required) {
    if (unusableClaims.includes(claim)) {
      faults.push(`${name}: “${claim}” is different at every sign-in and cannot be required.`)
    } else if (always.includes(claim)) {
      checkIds(name, { claim, values }, preset, faults)
    } else if (ofTenants !== null && !ofTenants.includes(claim)) {
      faults.push(
        `${name}: “${claim}” cannot be required of ${preset?.label}, because it is never sent, or the person can choose it and ${effect}; did you mean ${closest(claim, [...always, ...ofTenants])}? These can be required: ${[...always, ...ofTenants].join(', ')}.`,
      )
    } else if (isOpen) {
      faults.push(
        `${name}: the administrator of any tenant can write “${claim}”, so ${effect}. Set ${prefix}TENANTS to the ids of the tenants whose people may sign in.`,
      )
    } else if (ofTenants === null && ownClaims.includes(claim)) {
      faults.push(
        `${name}: people write “${claim}” themselves, so ${effect}. Name a claim that your provider decides on, such as a group.`,
      )
    }
  }
}

const tenantForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

function readRoleMap(
  prefix: string,
  { ROLE_MAP, ROLE_TENANT: tenantId }: { ROLE_MAP: string; ROLE_TENANT?: string },
  faults: string[],
): RoleMap | null {
  const pairs = list(ROLE_MAP ?? '')
  if (pairs.length === 0) {
    if (tenantId !== undefined) {
      faults.push(`${prefix}ROLE_TENANT: has no effect without ${prefix}ROLE_MAP.`)
    }
    return null
  }
  if (tenantId === undefined || !tenantForm.test(tenantId)) {
    faults.push(
      `${prefix}ROLE_TENANT: must be the id of the tenant whose roles ${prefix}ROLE_MAP gives, such as 0b8b1f0e-5b1a-4c55-9d3f-8f6c2f1f5a10.`,
    )
  }
  const rules = pairs.flatMap((pair) => {
    const [, claim = '', value = '', role = ''] = /^(.+):([^:]+)=([a-z0-9-]+)$/.exec(pair) ?? []
    if (role !== '') return [{ claim, value, role }]
    faults.push(
      `${prefix}ROLE_MAP: “${pair}” is not a claim:value=role pair such as groups:staff=editor.`,
    )
    return []
  })
  return { tenantId: tenantId ?? '', rules }
}

/** The claims that are lists of the API have numeric ids. */
function checkIds(
  name: string,
  { claim, values }: Requirement,
  preset: Preset | null,
  faults: string[],
): void {
  if (!preset?.oauth2?.profile.lists?.some((list) => list.claim === claim)) return
  const other = values.find((value) => !/^[0-9]+$/.test(value))
  if (other === undefined) return
  faults.push(
    `${name}: “${other}” is not a numeric id. Names of ${claim} change hands, ids do not; docs/sign-in-providers.md#${preset.name} says where it is.`,
  )
}

/** Whether people of all tenants of the provider may sign in. */
function isOpenToTenants(
  issuer: string | undefined,
  { issuerTemplate, tenants }: Pick<OidcClientConfig, 'issuerTemplate' | 'tenants'>,
): boolean {
  if (issuerTemplate === null || tenants.length > 0) return false
  const [start = '', end = ''] = issuerTemplate.split('{tenantid}')
  const tenant = (issuer ?? '').slice(start.length, -end.length || undefined)
  // The issuer of one tenant has its id or domain; `common` is neither.
  return issuer !== start + tenant + end || !/[-.]/.test(tenant)
}

/** The endpoints of a preset, with those lists that are required or mapped to roles. */
function endpointsFor(
  preset: Preset | null,
  required: readonly Requirement[],
): OAuth2Endpoints | null {
  if (preset?.oauth2 === undefined) return null
  const { profile } = preset.oauth2
  const lists = profile.lists?.filter((list) => required.some(({ claim }) => claim === list.claim))
  return { ...preset.oauth2, profile: { ...profile, lists: lists ?? [] } }
}

function withScopes(scopes: string, oauth2: OAuth2Endpoints | null): string {
  const needed = oauth2?.profile.lists?.map(({ scope }) => scope) ?? []
  return [...new Set([...scopes.split(' '), ...needed])].join(' ')
}

function readTrustEmail(value: string): boolean | readonly string[] {
  if (value === 'true') return true
  if (value === 'false') return false
  return list(value).map((domain) => domain.toLowerCase())
}
