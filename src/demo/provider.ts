import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { base64url, exportJWK, generateKeyPair, type JWK } from 'jose'
import {
  type Context,
  type Grant,
  type Interaction,
  interactionPolicy,
  Provider,
} from 'oidc-provider'
import type { Person } from '../../prisma/people.ts'
import { errorPage, pickerPage, signedOutPage, signOutPage } from './provider-pages.ts'

/** `port` 0 takes any free one. `issuer`: where a proxy that ends TLS leads here, its origin. */
export type ProviderOptions = Registration & { port: number; issuer?: string }

export type LocalProvider = {
  issuer: string
  /** Where it listens itself. */
  address: string
  stop(): Promise<void>
}

const host = '127.0.0.1'
const maximumBodyLength = 4096 // characters; the form sends some twenty

/**
 * Starts the certified `oidc-provider` on this machine, with a page on which one chooses who to
 * be in the place of a password. Everything it knows is in memory.
 *
 * @throws when the port is taken
 */
export async function startProvider(options: ProviderOptions): Promise<LocalProvider> {
  const style = await readFile(new URL('./provider.css', import.meta.url))
  const { createProvider } = await quietly(() => import('./provider.ts'))
  const server = createServer().listen(options.port, host)
  await once(server, 'listening').catch((cause) => {
    throw new Error(`the local provider cannot listen on port ${options.port}`, { cause })
  })
  const address = `http://localhost:${portOf(server)}`
  const { issuer = address } = options
  const provider = await quietly(() => createProvider(issuer, options)).catch(async (error) => {
    await stop(server)
    throw error
  })
  provider.proxy = options.issuer !== undefined
  const answerOthers = provider.callback()
  const policy = contentPolicy([...options.redirectUris, ...options.postLogoutRedirectUris])
  server.on('request', (request, response) => {
    const { pathname } = new URL(request.url ?? '/', issuer)
    if (pathname === '/provider.css') return send(response, 200, 'text/css', style)
    if (!pathname.startsWith('/interaction/')) return answerOthers(request, response)
    response.setHeader('content-security-policy', policy)
    pick(provider, options.people, request, response).catch((error) => {
      send(response, 400, 'text/html; charset=utf-8', errorPage(describe(error)))
    })
  })
  return { issuer, address, stop: () => stop(server) }
}

/** GET shows the picker, POST signs the chosen person in. */
async function pick(
  provider: Provider,
  people: readonly Person[],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  // Throws when this browser did not start the sign-in, or it has expired.
  const interaction = await provider.interactionDetails(request, response)
  if (request.method !== 'POST') {
    const body = pickerPage({
      action: `/interaction/${interaction.uid}`,
      client: clientOf(interaction),
      people,
      current: interaction.session?.accountId,
    })
    return send(response, 200, 'text/html; charset=utf-8', body)
  }
  const form = await readForm(request)
  const subject = form.get('subject')
  const isKnown = people.some((person) => person.subject === subject)
  if (subject === null || !isKnown) {
    const refusal = { error: 'access_denied', error_description: 'nobody was chosen' }
    return provider.interactionFinished(request, response, refusal)
  }
  const result = { login: { accountId: subject }, consent: {} }
  return provider.interactionFinished(request, response, result)
}

/** The library's errors keep the part meant for people in `error_description`. */
function describe(error: unknown): string {
  const hasDetail = error instanceof Error && 'error_description' in error
  return hasDetail ? `${error.message}: ${error.error_description}` : String(error)
}

function clientOf({ params }: Interaction): string {
  return URL.parse(String(params.redirect_uri))?.host ?? String(params.client_id)
}

async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  let body = ''
  for await (const chunk of request) {
    body += chunk
    if (body.length > maximumBodyLength) throw new Error('the form is too large')
  }
  return new URLSearchParams(body)
}

/** Browsers hold `form-action` against the redirects that follow a form, too. */
function contentPolicy(targets: string[]): string {
  const origins = new Set(targets.map((target) => new URL(target).origin))
  const rules = ["default-src 'none'", "style-src 'self'", 'img-src data:', "base-uri 'none'"]
  const form = `form-action 'self' ${[...origins].join(' ')}`
  return [...rules, form, "frame-ancestors 'none'"].join('; ')
}

function send(response: ServerResponse, status: number, type: string, body: string | Buffer): void {
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body)
}

/** Without the library's console lines: this provider is meant for development only. */
async function quietly<Result>(work: () => Promise<Result>): Promise<Result> {
  const { info, warn } = console
  const quiet =
    (log: typeof console.info) =>
    (line?: unknown, ...rest: unknown[]) => {
      if (!String(line).includes('oidc-provider ')) log(line, ...rest)
    }
  console.info = quiet(info)
  console.warn = quiet(warn)
  try {
    return await work()
  } finally {
    console.info = info
    console.warn = warn
  }
}

async function stop(server: Server): Promise<void> {
  if (!server.listening) return
  const closed = once(server, 'close')
  server.close()
  // A browser keeps its connections open for minutes.
  server.closeAllConnections()
  await closed
}

function portOf(server: Server): number {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('not listening')
  return address.port
}

export type Keys = { keys: JWK[] }

/** The one client, and who can sign in. */
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

/** The certified provider, set up for that client and those people. */
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
        // The library takes client_secret_basic from such a client, too.
        token_endpoint_auth_method: 'client_secret_post',
      },
    ],
    jwks: registration.jwks ?? (await generateKeys()),
    cookies: { keys: [randomText()] },
    scopes: ['openid', 'offline_access'],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    // As the big providers do: the e-mail stands in the id_token itself.
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
 * The picker is shown for every sign-in, also to someone who has a session here: trying out
 * several people is what the demo is for. `prompt=none` still works on the session.
 */
const policy = interactionPolicy.base()
policy.get('login').checks.add(
  new interactionPolicy.Check('choose_person', 'a person has to be chosen', ({ oidc }) => {
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

/** Consent is given by itself, for whatever the client asks. */
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
