import { createClient, type GatehouseClient } from '#clients/typescript/src/client.ts'
import { ConfigError } from '#src/config/config.ts'
import { type Environment, loopbackHosts } from '#src/config/parse.ts'
import { OperatorError } from '#src/runtime/operator-error.ts'
import { readBody } from '#src/runtime/response-body.ts'
import { loadDevelopment } from '../kit/development.ts'
import type { Sources } from '../kit/environment.ts'
import { reasonOf } from '../kit/error-message.ts'
import { printMessage } from '../kit/output.ts'
import { loginFile, readLogin } from './login-file.ts'

/** The instance did not respond. */
export class ApiUnreachable extends OperatorError {}

const deadlineMs = 30_000
const maxBytes = 64 * 1024 * 1024 // a page of 100 events with the largest bodies

/**
 * The HTTP API of a running instance, for commands that act for the holder of a token, and its origin.
 * @throws ConfigError if the token or the address is missing or wrong
 */
export async function openApi(
  sources: Sources,
): Promise<{ api: GatehouseClient; baseUrl: string }> {
  const { baseUrl, token } = await readAccess(sources)
  return { api: createClient({ baseUrl, token, fetch: (request) => send(request) }), baseUrl }
}

/**
 * GATEHOUSE_TOKEN, and its address: GATEHOUSE_URL, else BASE_URL, else the demo that runs here. Both
 * come from the same source, so that the `.env` of a folder cannot send the shell's token elsewhere.
 * The demo runs on this machine. Without a token, both are those of `gatehouse login`.
 */
async function readAccess({ shell, env }: Sources): Promise<{ baseUrl: string; token: string }> {
  const faults: string[] = []
  const token = env.GATEHOUSE_TOKEN?.trim()
  const login = token ? null : await readLogin(shell)
  if (login !== null) return useLogin(login, { shell, env })
  if (!token) {
    faults.push(
      'GATEHOUSE_TOKEN: is missing. Run `gatehouse login`, or create a token: an API token on the account page, or a service token of the tenant.',
    )
  }
  const setting = ['GATEHOUSE_URL', 'BASE_URL'].find((name) => env[name] !== undefined)
  const address = setting === undefined ? await findDemo(env) : env[setting]
  const origin = address === undefined ? null : URL.parse(address)
  const name = setting ?? 'GATEHOUSE_URL'
  const isLocal = origin !== null && loopbackHosts.includes(origin.hostname)
  const isInShell = setting !== undefined && shell[setting] !== undefined
  const isTokenInShell = shell.GATEHOUSE_TOKEN !== undefined
  if (address === undefined) {
    faults.push(`${name}: is missing, and no demo runs in this folder.`)
  } else if (origin === null || !/^https?:$/.test(origin.protocol)) {
    faults.push(`${name}: must be an origin like https://app.example.com.`)
  } else if (!isLocal && (origin.protocol === 'http:' || setting === undefined)) {
    faults.push(`${name}: must be https, except on loopback.`)
  } else if (token && setting !== undefined && isInShell !== isTokenInShell) {
    const places = isInShell
      ? 'the environment, GATEHOUSE_TOKEN in .env'
      : '.env, GATEHOUSE_TOKEN in the environment'
    faults.push(`${name}: is set in ${places}. Set both in the same place.`)
  }
  if (faults.length > 0 || !token || origin === null) throw new ConfigError(faults)
  return { baseUrl: origin.origin, token }
}

/** GATEHOUSE_URL does not change where the token of a login goes. */
function useLogin(
  { url, token }: { url: string; token: string },
  { shell, env }: Sources,
): { baseUrl: string; token: string } {
  const wanted = env.GATEHOUSE_URL && URL.parse(env.GATEHOUSE_URL)?.origin
  if (wanted && wanted !== url) {
    throw new OperatorError(
      `GATEHOUSE_URL is ${wanted}, but ${loginFile(shell)} is for ${url}.`,
      'Run `gatehouse login` with the other address, or set GATEHOUSE_TOKEN.',
    )
  }
  printMessage(`${url} (gatehouse login)`)
  return { baseUrl: url, token }
}

/**
 * The origin that a person signs in to: the given one, GATEHOUSE_URL, BASE_URL, or the demo that runs here.
 * @throws ConfigError
 */
export async function readOrigin(env: Environment, given: string | undefined): Promise<string> {
  const address = given ?? env.GATEHOUSE_URL ?? env.BASE_URL ?? (await findDemo(env))
  const origin = address === undefined ? null : URL.parse(address)
  if (origin === null || !/^https?:$/.test(origin.protocol)) {
    throw new ConfigError(['The address is missing: gatehouse login https://app.example.com'])
  }
  if (origin.protocol === 'http:' && !loopbackHosts.includes(origin.hostname)) {
    throw new ConfigError(['The address must be https, except on loopback.'])
  }
  return origin.origin
}

async function findDemo({ NODE_ENV }: Environment): Promise<string | undefined> {
  if (NODE_ENV === 'production') return undefined
  const { findRunningDemo } = await loadDevelopment()
  return (await findRunningDemo())?.env.BASE_URL
}

/** Sends one attempt. A redirect is not followed: it would carry the token elsewhere. */
export async function send(
  request: Request,
  signal = AbortSignal.timeout(deadlineMs),
): Promise<Response> {
  const { origin } = new URL(request.url)
  try {
    const response = await fetch(request, { redirect: 'manual', signal })
    const body = await readBody(response.body, maxBytes)
    if (body === null) throw new OperatorError(`${origin} sent too much.`, 'Ask for less at once.')
    return new Response(body.length > 0 ? body : null, response)
  } catch (error) {
    if (error instanceof OperatorError) throw error
    throw new ApiUnreachable(
      `${origin} did not respond: ${reasonOf(error)}.`,
      'Is it running there?',
    )
  }
}
