/** The endpoints of a provider without OpenID Connect, and how its API describes a person. */
export type OAuth2Endpoints = {
  authorizationEndpoint: string
  tokenEndpoint: string
  /** RFC 7009. */
  revocationEndpoint?: string
  /** False for a provider that refuses requests with a code verifier. */
  pkce: boolean
  /**
   * Parameters of the authorization request with which it asks the person, instead of answering from its
   * own session. Without them it confirms whoever is signed in there.
   */
  confirmParams?: Readonly<Record<string, string>>
  profile: {
    url: string
    /** The member that holds the others. */
    within?: string
    /** The member with the id of the person, which never changes. */
    subject: string
    /** The first of these members that is not empty is the name. */
    names: readonly string[]
    email?: string
    emailVerified?: string
    /** A list of addresses, of which the primary one counts if it is verified. */
    emailsUrl?: string
    /** Further claims, each read only if it is required. */
    lists?: readonly ProfileList[]
  }
}

/** A list at the provider's API, such as the organizations of the person, as a claim. */
export type ProfileList = {
  claim: string
  url: string
  /** The member of each entry that is a value of the claim: a numeric id, since names change hands. */
  member: string
  /** What the access token needs to read it. */
  scope: string
}

/** A default of a setting that a provider needs, and why. */
type Quirk = {
  setting: PresetSetting
  value: string
  reason: string
}

type PresetSetting =
  | 'ISSUER'
  | 'METADATA_URL'
  | 'ISSUER_TEMPLATE'
  | 'SCOPES'
  | 'PARAMS'
  | 'OFFLINE_PARAMS'
  | 'RESPONSE_MODE'
  | 'CLIENT_AUTH'
  | 'ID_TOKEN_ALG'
  | 'USERINFO'
  | 'EMAIL_VERIFIED_CLAIM'
  | 'EMAIL_VERIFIED_TEXT'
  | 'LOGOUT_PARAM'

export type Preset = {
  name: string
  label: string
  kind: 'oidc' | 'oauth2'
  /** The provider's own documentation. */
  source: string
  quirks: readonly Quirk[]
  /** What the issuer looks like, if the operator gives it. */
  issuer?: { pattern: RegExp; example: string }
  /**
   * Claims that `OIDC_<NAME>_REQUIRE` can name, since the provider vouches for them: neither the person nor the
   * administrator of just any tenant can write them, and nobody else gets the same value later. Null if all
   * depends on the administrator of the operator's own server.
   */
  requirable: readonly string[] | null
  /** More of them, once only people of chosen tenants may sign in: their administrators write these. */
  requirableOfTenants?: readonly string[]
  oauth2?: OAuth2Endpoints
  /** Where to register the client. */
  console: string
  /** Fields to fill in at the provider; `{origin}` is BASE_URL, `{name}` the provider's name. */
  fields: readonly (readonly [field: string, value: string])[]
  /** What is special about it, for operators. */
  notes: readonly string[]
}

const callback = '{origin}/auth/callback'
const signedOut = '{origin}/auth/signed-out'
const backchannel = '{origin}/auth/backchannel-logout/{name}'
const provenClaims = ['sub', 'email', 'email_verified']
const oauth2Note =
  'It has no OpenID Connect for web sites that we accept, so no signature proves who the person is: the profile is read from its API over TLS. Nothing says when the person authenticated, so a confirmation asks for another sign-in without proof of its time.'

/**
 * What each provider needs, as defaults of settings: a setting in the environment wins, and a provider
 * that is not in this table can have all of them. No other code knows the name of a provider.
 */
export const presets: readonly Preset[] = [
  {
    name: 'google',
    label: 'Google',
    kind: 'oidc',
    source: 'https://developers.google.com/identity/openid-connect/openid-connect',
    quirks: [
      {
        setting: 'ISSUER',
        value: 'https://accounts.google.com',
        reason: 'With https, as in its metadata.',
      },
      {
        setting: 'OFFLINE_PARAMS',
        value: 'access_type=offline&prompt=consent',
        reason: 'Google has no scope offline_access; these parameters ask for a refresh token.',
      },
    ],
    requirable: [...provenClaims, 'hd'],
    console: 'https://console.cloud.google.com/auth/clients',
    fields: [
      ['Application type', 'Web application'],
      ['Authorised redirect URIs', callback],
    ],
    notes: [
      '`OIDC_GOOGLE_REQUIRE=hd:example.com` admits only people of that Google Workspace. `OIDC_GOOGLE_PARAMS=hd=example.com` only shows their accounts first.',
      'An address of another domain than gmail.com or that of a Workspace was verified once and may have changed hands since: list domains in TRUST_EMAIL rather than `true`.',
    ],
  },
  {
    name: 'microsoft',
    label: 'Microsoft',
    kind: 'oidc',
    source: 'https://learn.microsoft.com/entra/identity-platform/v2-protocols-oidc',
    quirks: [
      {
        setting: 'ISSUER',
        value: 'https://login.microsoftonline.com/common/v2.0',
        reason: 'All work, school and personal accounts.',
      },
      {
        setting: 'ISSUER_TEMPLATE',
        value: 'https://login.microsoftonline.com/{tenantid}/v2.0',
        reason:
          'The metadata of `common` names this template; each token has its own tenant in it.',
      },
      {
        setting: 'EMAIL_VERIFIED_CLAIM',
        value: 'xms_edov',
        reason:
          'Administrators of any tenant can set any address; only this claim says it is proven.',
      },
      {
        setting: 'EMAIL_VERIFIED_TEXT',
        value: 'true',
        reason: 'The claim is sent as a boolean or as “1”.',
      },
    ],
    issuer: {
      pattern: /^https:\/\/login\.microsoftonline\.com\/[A-Za-z0-9.-]+\/v2\.0$/,
      example: 'https://login.microsoftonline.com/TENANT/v2.0',
    },
    requirable: ['sub', 'oid', 'tid'],
    requirableOfTenants: [
      ...['groups', 'roles', 'wids', 'email', 'xms_edov', 'verified_primary_email', 'acct', 'idp'],
    ],
    console: 'https://entra.microsoft.com (App registrations)',
    fields: [
      ['Platform', 'Web'],
      ['Redirect URI', callback],
      ['Supported account types', 'those of your issuer: one tenant, organizations or common'],
      ['Token configuration', 'optional claims `email` and `xms_edov` for the ID token'],
    ],
    notes: [
      'For one tenant set ISSUER to that with its id. With `common` or `organizations`, TENANTS lists the ids of the tenants whose people may sign in; without it, those of all tenants may, and groups and roles cannot be required: any administrator can write them.',
      'Scope `offline_access` asks for a refresh token.',
    ],
  },
  {
    name: 'apple',
    label: 'Apple',
    kind: 'oidc',
    source:
      'https://developer.apple.com/documentation/signinwithapple/request-an-authorization-to-the-sign-in-with-apple-server',
    quirks: [
      { setting: 'ISSUER', value: 'https://appleid.apple.com', reason: 'As in its metadata.' },
      {
        setting: 'SCOPES',
        value: 'openid email name',
        reason: 'The scope of the name is `name`.',
      },
      {
        setting: 'RESPONSE_MODE',
        value: 'form_post',
        reason: 'Required when a name or an address is requested.',
      },
      {
        setting: 'CLIENT_AUTH',
        value: 'signed_secret',
        reason: 'The client secret is a token that is signed with the private key of the team.',
      },
      {
        setting: 'EMAIL_VERIFIED_TEXT',
        value: 'true',
        reason: '`email_verified` is a boolean or the text “true”.',
      },
    ],
    requirable: provenClaims,
    console: 'https://developer.apple.com/account/resources/identifiers/list/serviceId',
    fields: [
      ['Identifier', 'a Services ID: this is the CLIENT_ID'],
      ['Return URLs', callback],
      ['Keys', 'a key for Sign in with Apple: PRIVATE_KEY is its .p8 file, KEY_ID its id'],
      ['Team ID', 'in the top right corner: TEAM_ID'],
    ],
    notes: [
      'The name is sent once, at the first sign-in, and unsigned: it is shown and proves nothing.',
      'People may hide their address; mails to the relay address arrive only from senders registered with Apple.',
      'Return URLs must be https and not localhost.',
    ],
  },
  {
    name: 'github',
    label: 'GitHub',
    kind: 'oauth2',
    source: 'https://docs.github.com/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps',
    quirks: [
      { setting: 'ISSUER', value: 'https://github.com/login/oauth', reason: 'Names the provider.' },
      {
        setting: 'SCOPES',
        value: 'read:user user:email',
        reason: 'The profile, and the list of addresses.',
      },
    ],
    requirable: [...provenClaims, 'id', 'two_factor_authentication', 'organizations', 'teams'],
    oauth2: {
      authorizationEndpoint: 'https://github.com/login/oauth/authorize',
      tokenEndpoint: 'https://github.com/login/oauth/access_token',
      pkce: true,
      confirmParams: { prompt: 'select_account' },
      profile: {
        url: 'https://api.github.com/user',
        subject: 'id',
        names: ['name', 'login'],
        emailsUrl: 'https://api.github.com/user/emails?per_page=100',
        lists: [
          {
            claim: 'organizations',
            url: 'https://api.github.com/user/orgs?per_page=100',
            member: 'id',
            scope: 'read:org',
          },
          {
            claim: 'teams',
            url: 'https://api.github.com/user/teams?per_page=100',
            member: 'id',
            scope: 'read:org',
          },
        ],
      },
    },
    console: 'https://github.com/settings/developers (OAuth Apps)',
    fields: [['Authorization callback URL', callback]],
    notes: [
      oauth2Note,
      'The subject is the numeric id: user names change hands. The primary address counts if it is verified.',
      '`OIDC_GITHUB_REQUIRE=organizations:1234` admits only members of that organization, and `teams:5678` only those of that team. Both take the numeric id, which `gh api orgs/NAME --jq .id` and `gh api orgs/NAME/teams/TEAM --jq .id` print. The scope `read:org` is asked for then, and an organization that restricts OAuth apps has to approve yours. If the list cannot be read, nobody is admitted.',
      'A GitHub App needs the account permission “Email addresses: read-only”. Without it people sign in without an address, and the log says so once.',
    ],
  },
  {
    name: 'gitlab',
    label: 'GitLab',
    kind: 'oidc',
    source: 'https://docs.gitlab.com/integration/openid_connect_provider/',
    quirks: [
      { setting: 'ISSUER', value: 'https://gitlab.com', reason: 'As in its metadata.' },
      {
        setting: 'USERINFO',
        value: 'true',
        reason: 'Older releases send the address only there.',
      },
    ],
    issuer: { pattern: /^https:\/\/.*[^/]$/, example: 'https://gitlab.example.com' },
    requirable: [...provenClaims, 'sub_legacy', 'groups', 'groups_direct'],
    console: 'https://gitlab.com/-/user_settings/applications',
    fields: [
      ['Redirect URI', callback],
      ['Confidential', 'yes'],
      ['Scopes', 'openid, email, profile'],
    ],
    notes: [
      'For your own server set ISSUER to its address.',
      '`OIDC_GITLAB_REQUIRE=groups:example` admits only members of that group; subgroups have paths, such as `example/staff`. Who gives up the path of a group leaves it to others.',
    ],
  },
  {
    name: 'slack',
    label: 'Slack',
    kind: 'oidc',
    source: 'https://docs.slack.dev/authentication/sign-in-with-slack/',
    quirks: [{ setting: 'ISSUER', value: 'https://slack.com', reason: 'As in its metadata.' }],
    requirable: [...provenClaims, 'https://slack.com/team_id', 'https://slack.com/user_id'],
    console: 'https://api.slack.com/apps (OAuth & Permissions)',
    fields: [
      ['Redirect URLs', callback],
      ['User Token Scopes', 'openid, email, profile'],
    ],
    notes: [
      '`OIDC_SLACK_REQUIRE=https://slack.com/team_id:T0123456` admits only people of that workspace.',
    ],
  },
  {
    name: 'linkedin',
    label: 'LinkedIn',
    kind: 'oauth2',
    source:
      'https://learn.microsoft.com/linkedin/consumer/integrations/self-serve/sign-in-with-linkedin-v2',
    quirks: [
      {
        setting: 'ISSUER',
        value: 'https://www.linkedin.com/oauth',
        reason: 'Names the provider.',
      },
      {
        setting: 'SCOPES',
        value: 'openid email profile',
        reason: 'The API that describes the person requires them.',
      },
    ],
    requirable: provenClaims,
    oauth2: {
      authorizationEndpoint: 'https://www.linkedin.com/oauth/v2/authorization',
      tokenEndpoint: 'https://www.linkedin.com/oauth/v2/accessToken',
      pkce: false,
      profile: {
        url: 'https://api.linkedin.com/v2/userinfo',
        subject: 'sub',
        names: ['name'],
        email: 'email',
        emailVerified: 'email_verified',
      },
    },
    console: 'https://www.linkedin.com/developers/apps',
    fields: [
      ['Products', 'Sign In with LinkedIn using OpenID Connect'],
      ['Authorized redirect URLs', callback],
    ],
    notes: [
      'Its id_token repeats no nonce, and its token endpoint refuses PKCE for web sites, so the id_token could not be tied to a sign-in. It is not used.',
      oauth2Note,
    ],
  },
  {
    name: 'discord',
    label: 'Discord',
    kind: 'oauth2',
    source: 'https://docs.discord.com/developers/topics/oauth2',
    quirks: [
      { setting: 'ISSUER', value: 'https://discord.com', reason: 'Names the provider.' },
      {
        setting: 'SCOPES',
        value: 'identify email',
        reason: 'The profile and the address.',
      },
    ],
    requirable: [...provenClaims, 'id', 'verified', 'mfa_enabled', 'guilds'],
    oauth2: {
      authorizationEndpoint: 'https://discord.com/oauth2/authorize',
      tokenEndpoint: 'https://discord.com/api/oauth2/token',
      revocationEndpoint: 'https://discord.com/api/oauth2/token/revoke',
      pkce: true,
      confirmParams: { prompt: 'consent' },
      profile: {
        url: 'https://discord.com/api/users/@me',
        subject: 'id',
        names: ['global_name', 'username'],
        email: 'email',
        emailVerified: 'verified',
        lists: [
          {
            claim: 'guilds',
            url: 'https://discord.com/api/users/@me/guilds',
            member: 'id',
            scope: 'guilds',
          },
        ],
      },
    },
    console: 'https://discord.com/developers/applications',
    fields: [['Redirects', callback]],
    notes: [
      'Its documents describe OAuth 2.0 only.',
      '`OIDC_DISCORD_REQUIRE=guilds:1234` admits only members of the server with that id; the scope `guilds` is asked for then. Who may join the server, its administrators decide.',
      oauth2Note,
    ],
  },
  {
    name: 'twitch',
    label: 'Twitch',
    kind: 'oidc',
    source: 'https://dev.twitch.tv/docs/authentication/getting-tokens-oidc/',
    quirks: [
      { setting: 'ISSUER', value: 'https://id.twitch.tv/oauth2', reason: 'As in its metadata.' },
      {
        setting: 'SCOPES',
        value: 'openid user:read:email',
        reason: 'The scope of the address has its own name.',
      },
      {
        setting: 'PARAMS',
        value: 'claims={"id_token":{"email":null,"email_verified":null,"preferred_username":null}}',
        reason: 'Claims beyond `sub` are sent only on request.',
      },
    ],
    requirable: provenClaims,
    console: 'https://dev.twitch.tv/console/apps',
    fields: [
      ['OAuth Redirect URLs', callback],
      ['Client Type', 'Confidential'],
    ],
    notes: ['Its token response has a list as `scope`.'],
  },
  {
    name: 'line',
    label: 'LINE',
    kind: 'oauth2',
    source: 'https://developers.line.biz/en/docs/line-login/integrate-line-login/',
    quirks: [
      { setting: 'ISSUER', value: 'https://access.line.me', reason: 'Names the provider.' },
      { setting: 'SCOPES', value: 'openid profile', reason: 'The profile API requires them.' },
    ],
    requirable: ['sub'],
    oauth2: {
      authorizationEndpoint: 'https://access.line.me/oauth2/v2.1/authorize',
      tokenEndpoint: 'https://api.line.me/oauth2/v2.1/token',
      pkce: true,
      profile: {
        url: 'https://api.line.me/oauth2/v2.1/userinfo',
        subject: 'sub',
        names: ['name'],
      },
    },
    console: 'https://developers.line.biz/console/',
    fields: [
      ['App types', 'Web app'],
      ['Callback URL', callback],
    ],
    notes: [
      'For web sites it signs id_tokens with the client secret (HS256), which we never accept. The profile has no address.',
      oauth2Note,
    ],
  },
  {
    name: 'facebook',
    label: 'Facebook',
    kind: 'oauth2',
    source: 'https://developers.facebook.com/docs/facebook-login/guides/advanced/manual-flow',
    quirks: [
      { setting: 'ISSUER', value: 'https://www.facebook.com', reason: 'Names the provider.' },
      {
        setting: 'SCOPES',
        value: 'public_profile email',
        reason: 'The profile and the address.',
      },
    ],
    requirable: ['sub', 'id'],
    oauth2: {
      authorizationEndpoint: 'https://www.facebook.com/v23.0/dialog/oauth',
      tokenEndpoint: 'https://graph.facebook.com/v23.0/oauth/access_token',
      pkce: true,
      confirmParams: { auth_type: 'reauthenticate' },
      profile: {
        url: 'https://graph.facebook.com/v23.0/me?fields=id,name,email',
        subject: 'id',
        names: ['name'],
        email: 'email',
      },
    },
    console: 'https://developers.facebook.com/apps',
    fields: [['Valid OAuth Redirect URIs', callback]],
    notes: [
      'Its metadata names no token endpoint. Nothing says that an address is verified, so none is ever trusted.',
      oauth2Note,
    ],
  },
  {
    name: 'x',
    label: 'X',
    kind: 'oauth2',
    source: 'https://docs.x.com/fundamentals/authentication/oauth-2-0/authorization-code',
    quirks: [
      { setting: 'ISSUER', value: 'https://x.com', reason: 'Names the provider.' },
      {
        setting: 'SCOPES',
        value: 'users.read tweet.read',
        reason: 'The API that describes the person requires both.',
      },
      {
        setting: 'CLIENT_AUTH',
        value: 'client_secret_basic',
        reason: 'Confidential clients authenticate in the header.',
      },
    ],
    requirable: ['sub', 'id'],
    oauth2: {
      authorizationEndpoint: 'https://x.com/i/oauth2/authorize',
      tokenEndpoint: 'https://api.x.com/2/oauth2/token',
      revocationEndpoint: 'https://api.x.com/2/oauth2/revoke',
      pkce: true,
      profile: {
        url: 'https://api.x.com/2/users/me',
        within: 'data',
        subject: 'id',
        names: ['name', 'username'],
      },
    },
    console: 'https://developer.x.com/en/portal/dashboard',
    fields: [
      ['Type of App', 'Web App'],
      ['Callback URI', callback],
    ],
    notes: ['The profile has no address.', oauth2Note],
  },
  {
    name: 'okta',
    label: 'Okta',
    kind: 'oidc',
    source: 'https://developer.okta.com/docs/api/openapi/okta-oauth/guides/overview/',
    quirks: [
      {
        setting: 'USERINFO',
        value: 'true',
        reason: 'The id_token may leave out the profile.',
      },
    ],
    issuer: {
      pattern: /^https:\/\/[^/]+(\/oauth2\/[A-Za-z0-9]+)?$/,
      example: 'https://example.okta.com or https://example.okta.com/oauth2/default',
    },
    requirable: null,
    console: 'your Okta organization (Applications)',
    fields: [
      ['Sign-in method', 'OIDC, Web Application'],
      ['Sign-in redirect URIs', callback],
      ['Sign-out redirect URIs', signedOut],
    ],
    notes: ['The issuer has no slash at its end.'],
  },
  {
    name: 'auth0',
    label: 'Auth0',
    kind: 'oidc',
    source: 'https://auth0.com/docs/get-started/applications/application-settings',
    quirks: [],
    issuer: { pattern: /^https:\/\/[^/]+\/$/, example: 'https://example.eu.auth0.com/' },
    requirable: null,
    console: 'https://manage.auth0.com (Applications)',
    fields: [
      ['Application type', 'Regular Web Application'],
      ['Allowed Callback URLs', callback],
      ['Allowed Logout URLs', signedOut],
      ['Back-Channel Logout URI', backchannel],
    ],
    notes: ['The issuer ends in a slash.'],
  },
  {
    name: 'keycloak',
    label: 'Keycloak',
    kind: 'oidc',
    source: 'https://www.keycloak.org/securing-apps/oidc-layers',
    quirks: [],
    issuer: {
      pattern: /^https?:\/\/.+\/realms\/[^/]+$/,
      example: 'https://login.example.com/realms/REALM',
    },
    requirable: null,
    console: 'the admin console of your Keycloak (Clients)',
    fields: [
      ['Client authentication', 'on'],
      ['Valid redirect URIs', callback],
      ['Valid post logout redirect URIs', signedOut],
      ['Backchannel logout URL', backchannel],
    ],
    notes: ['The issuer has no slash at its end.'],
  },
  {
    name: 'zitadel',
    label: 'Zitadel',
    kind: 'oidc',
    source: 'https://zitadel.com/docs/apis/openidoauth/claims',
    quirks: [
      {
        setting: 'USERINFO',
        value: 'true',
        reason: 'The id_token has the profile only if the application is set so.',
      },
    ],
    issuer: { pattern: /^https?:\/\/[^/]+$/, example: 'https://example.zitadel.cloud' },
    requirable: null,
    console: 'the console of your Zitadel (Projects)',
    fields: [
      ['Type', 'Web, authentication method Code or POST'],
      ['Redirect URIs', callback],
      ['Post Logout URIs', signedOut],
      ['Back-Channel Logout URI', backchannel],
    ],
    notes: [
      '`aud` of its id_token names the project and other clients of it too: set AUDIENCES to the id of the project and to their client ids.',
    ],
  },
  {
    name: 'authentik',
    label: 'authentik',
    kind: 'oidc',
    source: 'https://docs.goauthentik.io/add-secure-apps/providers/oauth2/',
    quirks: [],
    issuer: {
      pattern: /^https?:\/\/[^/]+(\/application\/o\/[^/]+)?\/$/,
      example: 'https://auth.example.com/application/o/SLUG/',
    },
    requirable: null,
    console: 'the admin interface of your authentik (Providers)',
    fields: [
      ['Client type', 'Confidential'],
      ['Signing key', 'a certificate: without one, tokens are signed with the client secret'],
      ['Redirect URIs', `${callback} (strict)`],
    ],
    notes: ['The issuer ends in a slash.'],
  },
  {
    name: 'cognito',
    label: 'Cognito',
    kind: 'oidc',
    source: 'https://docs.aws.amazon.com/cognito/latest/developerguide/federation-endpoints.html',
    quirks: [
      {
        setting: 'LOGOUT_PARAM',
        value: 'logout_uri',
        reason: 'Its logout endpoint is not that of the standard.',
      },
    ],
    issuer: {
      pattern: /^https:\/\/cognito-idp\.[a-z0-9-]+\.amazonaws\.com\/[A-Za-z0-9_-]+$/,
      example: 'https://cognito-idp.eu-west-1.amazonaws.com/POOL',
    },
    requirable: null,
    console: 'https://console.aws.amazon.com/cognito (App clients)',
    fields: [
      ['Application type', 'Traditional web application'],
      ['Allowed callback URLs', callback],
      ['Allowed sign-out URLs', signedOut],
      ['OpenID Connect scopes', 'openid, email, profile'],
    ],
    notes: ['Logout needs a domain of the user pool.'],
  },
  {
    name: 'entra_external',
    label: 'Microsoft Entra External ID',
    kind: 'oidc',
    source: 'https://learn.microsoft.com/entra/external-id/customers/',
    quirks: [],
    issuer: {
      pattern: /^https:\/\/[^/]+\.ciamlogin\.com\/[0-9a-f-]{36}\/v2\.0$/,
      example: 'https://TENANT_ID.ciamlogin.com/TENANT_ID/v2.0',
    },
    requirable: null,
    console: 'https://entra.microsoft.com (App registrations of the external tenant)',
    fields: [
      ['Platform', 'Web'],
      ['Redirect URI', callback],
    ],
    notes: ['The issuer has the id of the tenant, not its name.'],
  },
  {
    name: 'dex',
    label: 'Dex',
    kind: 'oidc',
    source: 'https://dexidp.io/docs/configuration/',
    quirks: [],
    issuer: { pattern: /^https?:\/\/.+[^/]$/, example: 'https://dex.example.com' },
    requirable: null,
    console: '`staticClients` in the configuration of your Dex',
    fields: [['redirectURIs', callback]],
    notes: ['The issuer is `issuer` of its configuration, exactly.'],
  },
  {
    name: 'ory',
    label: 'Ory',
    kind: 'oidc',
    source: 'https://www.ory.com/docs/oauth2-oidc/overview/oauth2-concepts',
    quirks: [],
    issuer: { pattern: /^https?:\/\/.+$/, example: 'https://SLUG.projects.oryapis.com' },
    requirable: null,
    console: 'https://console.ory.sh (OAuth 2) or `hydra create client`',
    fields: [
      ['Redirect URIs', callback],
      ['Post logout redirect URIs', signedOut],
      ['Back-channel logout URI', backchannel],
      ['Authentication method', 'client_secret_post'],
    ],
    notes: ['The issuer of Ory Hydra is `urls.self.issuer`, exactly.'],
  },
]

/** The preset with this name; a hyphen counts as an underscore. */
export function findPreset(name: string): Preset | null {
  const wanted = name.replaceAll('-', '_')
  return presets.find((preset) => preset.name === wanted) ?? null
}

/** The settings of a preset by name, without prefix. */
export function settingsOfPreset({ quirks }: Preset): Readonly<Record<string, string>> {
  return Object.fromEntries(quirks.map(({ setting, value }) => [setting, value]))
}
