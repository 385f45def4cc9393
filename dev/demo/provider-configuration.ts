import { base64url, exportJWK, generateKeyPair, type JWK } from 'jose'
import { type Context, type Grant, interactionPolicy, Provider } from 'oidc-provider'
import type { Person } from '#src/commands/development/sample/people.ts'
import { errorPage, signedOutPage, signOutPage } from './provider-pages.ts'

/*
 * dev/demo/provider.ts imports this at run time: `oidc-provider` prints to the console when it is
 * imported, and only the demo and tests need it.
 */

export type Keys = { keys: JWK[] }

/** The client, and the people who can sign in. */
export type Registration = {
  clientId: string
  clientSecret: string
  redirectUris: string[]
  postLogoutRedirectUris: string[]
  people: readonly Person[]
  jwks?: Keys
}

const hour = 3600 // every ttl is in seconds
const day = 24 * hour

/** The certified provider, configured for this client and these people. */
export async function createProvider(issuer: string, registration: Registration) {
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: registration.clientId,
        client_secret: registration.clientSecret,
        redirect_uris: registration.redirectUris,
        post_logout_redirect_uris: registration.postLogoutRedirectUris,
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        id_token_signed_response_alg: 'RS256',
        // The library also accepts client_secret_basic from such a client.
        token_endpoint_auth_method: 'client_secret_post',
      },
    ],
    jwks: registration.jwks ?? (await generateKeys()),
    cookies: { keys: [randomText()] },
    scopes: ['openid', 'offline_access'],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    // Puts the email claim into the id_token, as large providers do.
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    findAccount: (_: unknown, subject: string) => findAccount(registration.people, subject),
    loadExistingGrant,
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}`, policy },
    features: {
      devInteractions: { enabled: false },
      revocation: { enabled: true, allowedPolicy: () => true },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: (ctx: Context, form: string) => show(ctx, signOutPage(form)),
        postLogoutSuccessSource: (ctx: Context) => show(ctx, signedOutPage()),
      },
    },
    renderError: (ctx: Context, { error, error_description: detail }: Record<string, string>) =>
      show(ctx, errorPage(`${error}: ${detail}`)),
    ttl: {
      AccessToken: hour,
      AuthorizationCode: 60,
      Grant: 14 * day,
      IdToken: hour,
      Interaction: hour,
      RefreshToken: 14 * day,
      Session: day,
    },
  })
  provider.silent = true
  return provider
}

function randomText(): string {
  return base64url.encode(crypto.getRandomValues(new Uint8Array(32)))
}

async function generateKeys(): Promise<Keys> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const key = await exportJWK(privateKey)
  return { keys: [{ ...key, kid: crypto.randomUUID(), alg: 'RS256', use: 'sig' }] }
}

/**
 * Shows the list of people at every sign-in, even with a session at the provider, so that one can
 * try several people. `prompt=none` still uses the session.
 */
const policy = interactionPolicy.base()
policy.get('login').checks.add(
  new interactionPolicy.Check('choose_person', 'a person must be chosen', ({ oidc }) => {
    return !oidc.prompts.has('none') && !oidc.result?.login
  }),
)

function findAccount(people: readonly Person[], subject: string) {
  const person = people.find((candidate) => candidate.subject === subject)
  if (!person) return undefined
  const { name, email } = person
  const claims = { sub: subject, name, email, email_verified: true }
  return { accountId: subject, claims: () => claims }
}

/** Grants every requested scope without asking for consent. */
async function loadExistingGrant({ oidc }: Context): Promise<Grant> {
  const { Grant } = oidc.provider
  const clientId = oidc.client?.clientId ?? ''
  const id = oidc.session.grantIdFor(clientId)
  const known = id === undefined ? undefined : await Grant.find(id)
  const grant = known ?? new Grant({ clientId, accountId: oidc.session.accountId })
  grant.addOIDCScope(oidc.params.scope ?? 'openid')
  await grant.save()
  return grant
}

function show(ctx: Context, body: string): void {
  ctx.type = 'html'
  ctx.body = body
}
