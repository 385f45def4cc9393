import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { hostname } from 'node:os'
import { createClient, unwrap } from '#clients/typescript/src/client.ts'
import { equalBytes, randomToken } from '#src/crypto/hash.ts'
import { createReceiver, openMessage } from '#src/crypto/sealed-message.ts'
import { OperatorError } from '#src/runtime/operator-error.ts'
import type { Sources } from '../kit/environment.ts'
import { print, printJson, printMessage } from '../kit/output.ts'
import { readOrigin, send } from './api-client.ts'
import { writeLogin } from './login-file.ts'

type Options = { readonly browser: boolean; readonly json?: true }

const waitMs = 10 * 60_000 // a sign-in with a new account takes some time
const nameLength = 100

/** `gatehouse login`: signs in with the browser, and keeps address and token for the other commands. */
export default async function login(
  sources: Sources,
  url: string | undefined,
  { browser, json }: Options,
): Promise<void> {
  const baseUrl = await readOrigin(sources.env, url)
  const receiver = createReceiver()
  const state = randomToken()
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const { port } = server.address() as AddressInfo
    const query = new URLSearchParams({
      port: String(port),
      key: receiver.publicKey,
      state,
      name: `Command line on ${hostname()}`.slice(0, nameLength),
    })
    const page = `${baseUrl}/app/command-line?${query}`
    printMessage(`Open this page to sign in:\n${page}`)
    if (browser) openBrowser(page)
    const token = await receive(server, state, (sealed) => openMessage(receiver, sealed))
    const api = createClient({ baseUrl, token, fetch: send })
    const { user, tenant } = unwrap(await api.GET('/me'))
    const file = await writeLogin(sources.shell, { url: baseUrl, token })
    const who = { url: baseUrl, user: user.email, tenant: tenant?.name ?? null, file }
    if (json) return printJson(who)
    print(`Signed in to ${baseUrl} as ${who.user ?? 'you'}, tenant ${who.tenant ?? 'none'}.`)
    print(`The token is in ${file}. Revoke it on the account page.`)
  } finally {
    server.close()
    server.closeAllConnections()
  }
}

const page = (text: string) =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>Gatehouse</title><p>${text}</p></html>\n`

/** Waits for the browser to bring the token. A request without the state of this run changes nothing. */
function receive(
  server: Server,
  state: string,
  open: (sealed: string) => string | null,
): Promise<string> {
  const expected = Buffer.from(state)
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new OperatorError('No one signed in for ten minutes.', 'Run it again.')),
      waitMs,
    )
    server.on('request', (request, response) => {
      const asked = URL.parse(request.url ?? '/', 'http://127.0.0.1')?.searchParams
      const given = Buffer.from(asked?.get('state') ?? '')
      const token = equalBytes(given, expected) ? open(asked?.get('token') ?? '') : null
      response.writeHead(token === null ? 400 : 200, {
        'content-type': 'text/html; charset=utf-8',
        'referrer-policy': 'no-referrer',
        'cache-control': 'no-store',
        connection: 'close',
      })
      if (token === null) {
        response.end(page('This is not the answer to gatehouse login.'))
        return
      }
      clearTimeout(timer)
      response.once('close', () => resolve(token)) // also if the browser did not wait for the page
      response.end(page('The command line is signed in. You can close this window.'))
    })
  })
}

/** Where there is no browser, the person opens the page that was printed. */
function openBrowser(url: string): void {
  const [command, ...args] =
    process.platform === 'darwin'
      ? ['open']
      : process.platform === 'win32'
        ? ['rundll32', 'url.dll,FileProtocolHandler']
        : ['xdg-open']
  if (command === undefined) return
  const child = spawn(command, [...args, url], { stdio: 'ignore', detached: true })
  child.on('error', () => {})
  child.unref()
}
