import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Interaction, Provider } from 'oidc-provider'
import type { Person } from '#src/commands/development/sample/people.ts'
import { readTextAsset } from '#src/runtime/assets.ts'
import type { Registration } from './provider-configuration.ts'
import { errorPage, pickerPage } from './provider-pages.ts'

/** `port` 0 chooses a free one. `issuer`: the origin of a TLS-terminating proxy in front. */
export type ProviderOptions = Registration & { port: number; issuer?: string }

export type LocalProvider = {
  issuer: string
  /** The origin it listens on. */
  address: string
  stop(): Promise<void>
}

const host = '127.0.0.1'
const maximumBodyLength = 4096 // characters; the form sends about 20

/**
 * Starts the certified `oidc-provider` on this machine. Instead of a password, its sign-in page
 * offers a list of people. All state is in memory.
 *
 * @throws the error of `listen`, for example if the port is in use
 */
export async function startProvider(options: ProviderOptions): Promise<LocalProvider> {
  const styles = new Map([
    ['/gatehouse.css', await readTextAsset('src/pages/kit/gatehouse.css')],
    ['/provider.css', await readTextAsset('dev/demo/provider.css')],
  ])
  const { createProvider } = await quietly(() => import('./provider-configuration.ts'))
  const server = createServer().listen(options.port, host)
  await once(server, 'listening')
  const address = `http://localhost:${portOf(server)}`
  const { issuer = address } = options
  const provider = await quietly(() => createProvider(issuer, options)).catch(async (error) => {
    await stop(server)
    throw error
  })
  provider.proxy = options.issuer !== undefined
  const handleProtocol = provider.callback()
  const policy = contentPolicy([...options.redirectUris, ...options.postLogoutRedirectUris])
  server.on('request', (request, response) => {
    const { pathname } = new URL(request.url ?? '/', issuer)
    const style = styles.get(pathname)
    if (style !== undefined) return send(response, 200, 'text/css', style)
    if (!pathname.startsWith('/interaction/')) return handleProtocol(request, response)
    response.setHeader('content-security-policy', policy)
    pick(provider, options.people, request, response).catch((error) => {
      send(response, 400, 'text/html; charset=utf-8', errorPage(describe(error)))
    })
  })
  return { issuer, address, stop: () => stop(server) }
}

/** GET shows the list of people, POST signs the chosen person in. */
async function pick(
  provider: Provider,
  people: readonly Person[],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  // Throws if this browser did not start the sign-in or the sign-in has expired.
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
    const refusal = { error: 'access_denied', error_description: 'no person was chosen' }
    return provider.interactionFinished(request, response, refusal)
  }
  const result = { login: { accountId: subject }, consent: {} }
  return provider.interactionFinished(request, response, result)
}

/** The library's errors have their readable part in `error_description`. */
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

/** Browsers apply `form-action` also to redirects after a form submission. */
function contentPolicy(targets: string[]): string {
  const origins = new Set(targets.map((target) => new URL(target).origin))
  const rules = ["default-src 'none'", "style-src 'self'", 'img-src data:', "base-uri 'none'"]
  const form = `form-action 'self' ${[...origins].join(' ')}`
  return [...rules, form, "frame-ancestors 'none'"].join('; ')
}

function send(response: ServerResponse, status: number, type: string, body: string | Buffer): void {
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body)
}

/** Suppresses the library's console warnings, for example that it is used outside production. */
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
