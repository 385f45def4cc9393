import type { Json } from './hostile-tokens.ts'

/** Members of the metadata that each provider publishes, as far as a client reads them. */
const published: Record<string, Json> = {
  google: {
    issuer: 'https://accounts.google.com',
    authorization_endpoint: 'https://accounts.google.com/o/oauth2/v2/auth',
    token_endpoint: 'https://oauth2.googleapis.com/token',
    userinfo_endpoint: 'https://openidconnect.googleapis.com/v1/userinfo',
    revocation_endpoint: 'https://oauth2.googleapis.com/revoke',
    jwks_uri: 'https://www.googleapis.com/oauth2/v3/certs',
  },
  microsoft: {
    issuer: 'https://login.microsoftonline.com/{tenantid}/v2.0',
    authorization_endpoint: 'https://login.microsoftonline.com/common/oauth2/v2.0/authorize',
    token_endpoint: 'https://login.microsoftonline.com/common/oauth2/v2.0/token',
    userinfo_endpoint: 'https://graph.microsoft.com/oidc/userinfo',
    end_session_endpoint: 'https://login.microsoftonline.com/common/oauth2/v2.0/logout',
    jwks_uri: 'https://login.microsoftonline.com/common/discovery/v2.0/keys',
    tenant_region_scope: null,
  },
  apple: {
    issuer: 'https://appleid.apple.com',
    authorization_endpoint: 'https://appleid.apple.com/auth/authorize',
    token_endpoint: 'https://appleid.apple.com/auth/token',
    revocation_endpoint: 'https://appleid.apple.com/auth/revoke',
    jwks_uri: 'https://appleid.apple.com/auth/keys',
  },
  gitlab: {
    issuer: 'https://gitlab.com',
    authorization_endpoint: 'https://gitlab.com/oauth/authorize',
    token_endpoint: 'https://gitlab.com/oauth/token',
    revocation_endpoint: 'https://gitlab.com/oauth/revoke',
    userinfo_endpoint: 'https://gitlab.com/oauth/userinfo',
    jwks_uri: 'https://gitlab.com/oauth/discovery/keys',
  },
  slack: {
    issuer: 'https://slack.com',
    authorization_endpoint: 'https://slack.com/openid/connect/authorize',
    token_endpoint: 'https://slack.com/api/openid.connect.token',
    userinfo_endpoint: 'https://slack.com/api/openid.connect.userInfo',
    jwks_uri: 'https://slack.com/openid/connect/keys',
  },
  twitch: {
    issuer: 'https://id.twitch.tv/oauth2',
    authorization_endpoint: 'https://id.twitch.tv/oauth2/authorize',
    token_endpoint: 'https://id.twitch.tv/oauth2/token',
    userinfo_endpoint: 'https://id.twitch.tv/oauth2/userinfo',
    jwks_uri: 'https://id.twitch.tv/oauth2/keys',
  },
}

/** What a provider publishes; for one that people run themselves, with paths below its issuer. */
export function publishedMetadata(name: string, issuer: string): Json {
  const base = issuer.replace(/\/$/, '')
  return (
    published[name] ?? {
      issuer,
      authorization_endpoint: `${base}/authorize`,
      token_endpoint: `${base}/token`,
      userinfo_endpoint: `${base}/userinfo`,
      revocation_endpoint: `${base}/revoke`,
      end_session_endpoint: `${base}/logout`,
      jwks_uri: `${base}/keys`,
    }
  )
}
