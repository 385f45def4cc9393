import type { OidcClientConfig } from '#src/config/providers/providers.ts'

/** The configuration of a provider without a preset, as far as it does not depend on the provider. */
export const withoutQuirks = {
  preset: null,
  oauth2: null,
  secretIssuer: '',
  issuerTemplate: null,
  metadataUrl: null,
  tenants: [],
  require: [],
  roleMap: null,
  audiences: [],
  params: {},
  offlineParams: {},
  responseMode: null,
  emailVerified: { claim: 'email_verified', asText: false },
  logoutParameter: 'post_logout_redirect_uri',
} satisfies Partial<OidcClientConfig>
