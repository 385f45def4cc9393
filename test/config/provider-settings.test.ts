import { generateKeyPairSync } from 'node:crypto'
import t from 'tap'
import { testSettings } from '#dev/testing/settings.ts'
import { ConfigError, readConfig } from '#src/config/config.ts'
import { presets } from '#src/config/providers/presets.ts'
import { ProviderSettings } from '#src/config/settings.ts'

const urls = {
  url: 'postgres://app@localhost/x',
  workerUrl: 'postgres://worker@localhost/x',
  ownerUrl: 'postgres://owner@localhost/x',
  superuserUrl: 'postgres://super@localhost/x',
}

function pem(kind: 'ec' | 'rsa', options: object): string {
  const { privateKey } = generateKeyPairSync(kind as 'ec', options as { namedCurve: string })
  return String(privateKey.export({ type: 'pkcs8', format: 'pem' }))
}
const p256 = pem('ec', { namedCurve: 'P-256' })

const client = (name: string, more: Record<string, string> = {}) => ({
  OIDC_PROVIDERS: name,
  [`OIDC_${name.toUpperCase()}_CLIENT_ID`]: 'client',
  [`OIDC_${name.toUpperCase()}_CLIENT_SECRET`]: 'secret',
  ...more,
})

function providerOf(settings: Record<string, string>) {
  return readConfig({ ...testSettings(urls), ...settings }).providers[0]
}

function faultsOf(settings: Record<string, string>): readonly string[] {
  try {
    readConfig({ ...testSettings(urls), ...settings })
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.faults
    throw error
  }
}

t.test('a client id and a secret are enough for a provider with a known name', async (t) => {
  t.match(providerOf(client('google')), {
    preset: 'google',
    label: 'Google',
    issuer: 'https://accounts.google.com',
    scopes: 'openid email profile',
    offlineParams: { access_type: 'offline', prompt: 'consent' },
    oauth2: null,
  })
  t.match(providerOf(client('github')), {
    oauth2: { tokenEndpoint: 'https://github.com/login/oauth/access_token' },
    scopes: 'read:user user:email',
  })
  t.match(providerOf(client('microsoft')), {
    issuerTemplate: 'https://login.microsoftonline.com/{tenantid}/v2.0',
    emailVerified: { claim: 'xms_edov', asText: true },
  })
})

t.test('a setting replaces that of the preset, and any provider can have every one', async (t) => {
  const own = client('google', { OIDC_GOOGLE_SCOPES: 'openid', OIDC_GOOGLE_LABEL: 'Work account' })
  t.match(providerOf(own), { scopes: 'openid', label: 'Work account' })
  const named = client('work', { OIDC_WORK_PRESET: 'google' })
  t.match(providerOf(named), { name: 'work', preset: 'google', label: 'Google' })
  const none = client('google', {
    OIDC_GOOGLE_PRESET: 'none',
    OIDC_GOOGLE_ISSUER: 'https://op.example',
  })
  t.match(providerOf(none), { preset: null, label: 'google', offlineParams: {} })
  const hyphen = client('ciam', {
    OIDC_CIAM_PRESET: 'entra-external',
    OIDC_CIAM_ISSUER: `https://${'0'.repeat(8)}-0000-0000-0000-${'0'.repeat(12)}.ciamlogin.com/${'0'.repeat(8)}-0000-0000-0000-${'0'.repeat(12)}/v2.0`,
  })
  t.match(providerOf(hyphen), { preset: 'entra_external' })
  const settings = Object.keys(ProviderSettings.properties)
  for (const { name, quirks } of presets) {
    for (const { setting, reason } of quirks) {
      t.ok(settings.includes(setting), `${name}: ${setting} is a setting`)
      t.ok(reason.length > 10, `${name}: ${setting} has a reason`)
    }
  }
})

const tenant = '8e5b6c11-7c2f-4f0a-9a5e-0c1d2e3f4a5b'

/** The settings of a provider with this requirement. */
function requiring(name: string, value: string, more: Record<string, string> = {}) {
  const prefix = `OIDC_${name.toUpperCase()}_`
  const own = Object.entries(more).map(([setting, text]) => [prefix + setting, text])
  return client(name, { [`${prefix}REQUIRE`]: value, ...Object.fromEntries(own) })
}

t.test('what people can write for themselves is no requirement', async (t) => {
  const keycloak = { ISSUER: 'https://login.example.com/realms/staff' }
  const shared = {
    ISSUER: 'https://login.example.com/common',
    ISSUER_TEMPLATE: 'https://login.example.com/{tenantid}',
  }
  const rows: [settings: Record<string, string>, reason: RegExp][] = [
    [requiring('github', 'company:Example'), /“company” cannot be required of GitHub/],
    [requiring('github', 'login:ada'), /“login” cannot be .* the person can choose it/],
    [requiring('github', 'organizations:example'), /“example” is not a numeric id/],
    [requiring('github', 'teams:1,teams:1e3'), /“1e3” is not a numeric id/],
    [requiring('discord', 'guilds:example'), /“example” is not a numeric id/],
    [requiring('slack', 'https://slack.com/team_name:Example'), /cannot be required of Slack/],
    [requiring('facebook', 'email:ada@example.com'), /“email” cannot be required of Facebook/],
    [requiring('google', 'name:Ada'), /“name” cannot be required of Google/],
    [requiring('keycloak', 'name:Ada', keycloak), /people write “name” themselves/],
    [requiring('microsoft', 'preferred_username:a'), /“preferred_username” cannot be required/],
    ...['roles', 'wids', 'groups', 'email'].map((claim): [Record<string, string>, RegExp] => [
      requiring('microsoft', `${claim}:x`),
      new RegExp(`any tenant can write “${claim}”, .* Set OIDC_MICROSOFT_TENANTS`),
    ]),
    [
      requiring('microsoft', 'roles:x', {
        ISSUER: 'https://login.microsoftonline.com/organizations/v2.0',
      }),
      /any tenant can write “roles”/,
    ],
    [requiring('work', 'roles:x', shared), /any tenant can write “roles”/],
  ]
  for (const [settings, reason] of rows) {
    const [fault, ...others] = faultsOf(settings)
    t.match(fault, reason)
    t.strictSame(others, [])
  }
})

t.test('what the provider vouches for can be required', async (t) => {
  const one = { ISSUER: `https://login.microsoftonline.com/${tenant}/v2.0` }
  for (const settings of [
    requiring('google', 'hd:example.com,email:ada@example.com'),
    requiring('github', 'organizations:1,teams:2,email:ada@example.com'),
    requiring('gitlab', 'groups:example/staff'),
    requiring('slack', 'https://slack.com/team_id:T1'),
    requiring('discord', 'guilds:1'),
    requiring('microsoft', `tid:${tenant},roles:admin`),
    requiring('microsoft', 'roles:x,wids:y,groups:z,email:a@example.com', { TENANTS: tenant }),
    requiring('microsoft', 'roles:x', one),
    requiring('microsoft', 'roles:x', {
      ISSUER: 'https://login.microsoftonline.com/example.com/v2.0',
    }),
    requiring('microsoft', `oid:${tenant}`),
    requiring('keycloak', 'groups:staff,preferred_username:ada', {
      ISSUER: 'https://login.example.com/realms/staff',
    }),
    requiring('work', 'groups:staff', { ISSUER: 'https://op.example' }),
  ]) {
    t.strictSame(faultsOf(settings), [])
  }
})

t.test('a required list is asked for, with its scope, and no other is', async (t) => {
  const scopes = 'read:user user:email'
  const lists = (value: string) => {
    const provider = providerOf(requiring('github', value))
    const names = provider?.oauth2?.profile.lists?.map(({ claim }) => claim)
    return [provider?.scopes, names]
  }
  t.strictSame(lists('id:7'), [scopes, []])
  t.strictSame(lists('teams:7'), [`${scopes} read:org`, ['teams']])
  t.strictSame(lists('organizations:1,teams:7'), [`${scopes} read:org`, ['organizations', 'teams']])
})

t.test('a role map names a tenant, roles, and claims that can be required', async (t) => {
  const one = { ROLE_TENANT: tenant }
  const mapping = (name: string, map: string, more: Record<string, string> = one) => {
    const prefix = `OIDC_${name.toUpperCase()}_`
    const own = Object.entries(more).map(([setting, text]) => [prefix + setting, text])
    return client(name, { [`${prefix}ROLE_MAP`]: map, ...Object.fromEntries(own) })
  }
  t.strictSame(providerOf(client('google'))?.roleMap, null)
  const work = { ISSUER: 'https://op.example', ...one }
  t.strictSame(
    providerOf(mapping('work', 'groups:a=b=editor,https://x/y:z=admin', work))?.roleMap,
    {
      tenantId: tenant,
      rules: [
        { claim: 'groups', value: 'a=b', role: 'editor' },
        { claim: 'https://x/y', value: 'z', role: 'admin' },
      ],
    },
  )
  const teams = providerOf(mapping('github', 'teams:7=admin'))
  t.match(teams, { scopes: 'read:user user:email read:org' })
  t.strictSame(
    teams?.oauth2?.profile.lists?.map(({ claim }) => claim),
    ['teams'],
  )
  t.strictSame(faultsOf(mapping('microsoft', 'roles:x=admin', { ...one, TENANTS: tenant })), [])
  const required = { ...one, REQUIRE: `tid:${tenant}` }
  t.strictSame(faultsOf(mapping('microsoft', 'roles:x=admin', required)), [])
  const rows: [settings: Record<string, string>, reason: RegExp][] = [
    [mapping('microsoft', 'roles:x=admin'), /_ROLE_MAP: .* any tenant can write “roles”.*_TENANTS/],
    [mapping('github', 'company:Example=admin'), /_ROLE_MAP: “company” cannot be required/],
    [mapping('github', 'teams:leads=admin'), /_ROLE_MAP: “leads” is not a numeric id/],
    [mapping('work', 'name:Ada=admin', work), /people write “name” .*they could take the role/],
    [mapping('google', 'hd:example.com=The Owner'), /is not a claim:value=role pair/],
    [mapping('google', 'hd=admin'), /“hd=admin” is not a claim:value=role pair/],
    [mapping('google', 'hd:example.com=viewer', {}), /_ROLE_TENANT: must be the id of the tenant/],
    [mapping('google', 'hd:x=viewer', { ROLE_TENANT: 'Example' }), /_ROLE_TENANT: must be the id/],
    [mapping('google', ''), /_ROLE_TENANT: has no effect without OIDC_GOOGLE_ROLE_MAP/],
  ]
  for (const [settings, reason] of rows) {
    const [fault, ...others] = faultsOf(settings)
    t.match(fault, reason)
    t.strictSame(others, [])
  }
})

t.test('bad settings are faults, each with its remedy', async (t) => {
  const google = (more: Record<string, string>) => client('google', more)
  const rows: [Record<string, string>, RegExp][] = [
    [
      client('work', { OIDC_WORK_PRESET: 'gogle' }),
      /^OIDC_WORK_PRESET: .*“gogle”; did you mean google\?/,
    ],
    [
      google({ OIDC_GOOGLE_ISSUER: 'https://google.com' }),
      /^OIDC_GOOGLE_ISSUER: .*accounts\.google\.com.*PRESET=none/,
    ],
    [google({ OIDC_GOOGLE_ISSUER: 'https://accounts.google.com/' }), /^OIDC_GOOGLE_ISSUER: /],
    [
      client('auth0', { OIDC_AUTH0_ISSUER: 'https://example.auth0.com' }),
      /^OIDC_AUTH0_ISSUER: .*auth0\.com\//,
    ],
    [client('okta', { OIDC_OKTA_ISSUER: 'https://example.okta.com/' }), /^OIDC_OKTA_ISSUER: /],
    [client('keycloak'), /^OIDC_KEYCLOAK_ISSUER: is missing/],
    ...[
      'state',
      'nonce',
      'redirect_uri',
      'Scope',
      'code_challenge',
      'response_mode',
      'request',
    ].map((name): [Record<string, string>, RegExp] => [
      google({ OIDC_GOOGLE_PARAMS: `hd=x&${name}=y` }),
      new RegExp(`^OIDC_GOOGLE_PARAMS: “${name}” belongs to the sign-in`),
    ]),
    [google({ OIDC_GOOGLE_OFFLINE_PARAMS: 'state=x' }), /^OIDC_GOOGLE_OFFLINE_PARAMS: “state”/],
    [google({ OIDC_GOOGLE_PARAMS: 'hd' }), /^OIDC_GOOGLE_PARAMS: must be name=value/],
    [
      google({ OIDC_GOOGLE_REQUIRE: 'hdd:example.com' }),
      /^OIDC_GOOGLE_REQUIRE: “hdd” cannot be required of Google.*did you mean hd\?/,
    ],
    [
      google({ OIDC_GOOGLE_REQUIRE: 'example.com' }),
      /^OIDC_GOOGLE_REQUIRE: “example.com” is not a claim:value/,
    ],
    [google({ OIDC_GOOGLE_REQUIRE: 'nonce:x' }), /^OIDC_GOOGLE_REQUIRE: “nonce” is different/],
    [
      google({ OIDC_GOOGLE_RESPONSE_MODE: 'fragment' }),
      /^OIDC_GOOGLE_RESPONSE_MODE: must be one of query, form_post/,
    ],
    [google({ OIDC_GOOGLE_TENANTS: 'x' }), /^OIDC_GOOGLE_TENANTS: has no effect/],
    [
      google({ OIDC_GOOGLE_METADATA_URL: 'http://op.example/m' }),
      /^OIDC_GOOGLE_METADATA_URL: must be an https URL/,
    ],
    [
      google({ OIDC_GOOGLE_ISSUER_TEMPLATE: 'https://x/{tenant}' }),
      /^OIDC_GOOGLE_ISSUER_TEMPLATE: must contain \{tenantid\}/,
    ],
    [client('apple'), /^OIDC_APPLE_KEY_ID: is missing/],
    [client('apple'), /^OIDC_APPLE_TEAM_ID: is missing/],
    [client('apple'), /^OIDC_APPLE_PRIVATE_KEY: is missing/],
    [{ SIGN_UP: 'maybe' }, /^SIGN_UP: must be one of open, invited, closed/],
  ]
  for (const [settings, fault] of rows) {
    const faults = faultsOf(settings)
    t.ok(
      faults.some((text) => fault.test(text)),
      `${fault}: ${faults.join(' | ')}`,
    )
  }
})

t.test(
  'the private key of a signed secret must be of the right kind; no fault repeats it',
  async (t) => {
    const apple = (key: string) =>
      client('apple', {
        OIDC_APPLE_KEY_ID: 'K',
        OIDC_APPLE_TEAM_ID: 'T',
        OIDC_APPLE_PRIVATE_KEY: key,
      })
    t.match(providerOf(apple(p256)), { clientKey: { kid: 'K', alg: 'ES256' }, secretIssuer: 'T' })
    t.match(providerOf(apple(p256.replaceAll('\n', '\\n'))), { clientKey: { alg: 'ES256' } })
    const rows: [string, RegExp][] = [
      [
        pem('ec', { namedCurve: 'P-384' }),
        /must be a P-256 key, for ES256; it is of kind secp384r1/,
      ],
      [pem('rsa', { modulusLength: 2048 }), /must be a P-256 key, for ES256; it is of kind rsa/],
      [
        '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----',
        /is not a private key in PEM/,
      ],
      ['/nowhere/AuthKey.p8', /must be a private key in PEM or the path of a readable file/],
    ]
    for (const [key, fault] of rows) {
      const faults = faultsOf(apple(key))
      t.match(faults, [fault])
      t.notMatch(faults.join(), key.slice(0, 40))
    }
  },
)

t.test('all faults of all providers are told at once', async (t) => {
  const faults = faultsOf({
    OIDC_PROVIDERS: 'google,apple,work',
    OIDC_GOOGLE_REQUIRE: 'hdd:x',
    OIDC_WORK_PRESET: 'githob',
  })
  for (const start of [
    'OIDC_GOOGLE_CLIENT_ID: is missing',
    'OIDC_GOOGLE_REQUIRE: ',
    'OIDC_APPLE_PRIVATE_KEY: is missing',
    'OIDC_WORK_PRESET: ',
    'OIDC_WORK_ISSUER: is missing',
  ]) {
    t.ok(
      faults.some((fault) => fault.startsWith(start)),
      start,
    )
  }
})
