import { writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Test } from 'tap'
import { parse } from 'yaml'
import { findFreePort } from '#dev/demo/postgres/free-port.ts'
import { startReceiver } from '#dev/testing/receiver.ts'
import { caddy, startCaddy } from '#test/release/caddy.ts'
import { build } from '#test/support/app/app.ts'
import { untilTrue } from '#test/support/database/until.ts'
import { findProgram } from '#test/support/processes/find-program.ts'
import { runProgram, temporaryFolder } from '#test/support/processes/program.ts'
import { readPage } from '../page.ts'

const nginx = findProgram('nginx')

export type BesideProxy = (typeof proxies)[number]

type Ports = { proxy: number; gatehouse: number; app: number }

/** The proxies of docs/beside-your-app.md, started with their own configuration. */
export const proxies = [
  {
    name: 'Caddy',
    file: 'Caddyfile',
    isInstalled: caddy !== null,
    async start(t: Test, config: string, { proxy }: Ports) {
      await startCaddy(t, config.replace('app.example.com', `http://localhost:${proxy}`))
    },
  },
  {
    name: 'the Compose example',
    file: 'compose.yaml',
    isInstalled: caddy !== null,
    async start(t: Test, config: string, { proxy, gatehouse, app }: Ports) {
      const caddyfile: string = parse(config).configs.beside.content
      const local = caddyfile
        .replace('{$$DOMAIN}', `http://localhost:${proxy}`)
        .replaceAll('web-a:3000 web-b:3000', `127.0.0.1:${gatehouse}`)
        .replaceAll('app:8000', `127.0.0.1:${app}`)
      // The server of this test has no admin listener.
      await startCaddy(t, local.replaceAll(/^ *health_.*\n/gm, ''))
    },
  },
  {
    name: 'nginx',
    file: 'nginx.conf',
    isInstalled: nginx !== null,
    async start(t: Test, config: string, { proxy }: Ports) {
      const folder = await temporaryFolder(t)
      const server = config
        .replace('listen 443 ssl;', `listen 127.0.0.1:${proxy};`)
        .replaceAll(/^ *ssl_.*\n/gm, '')
        .replace('app.example.com', 'localhost')
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
        .map((kind) => `${kind}_temp_path ${folder}/${kind};`)
        .join('\n')
      const main = `daemon off; master_process off; pid ${folder}/pid; error_log stderr;
events {}
http {
access_log off;
${temporary}
${server}}\n`
      await writeFile(`${folder}/nginx.conf`, main)
      const args = ['-p', folder, '-e', 'stderr', '-c', `${folder}/nginx.conf`]
      await runProgram(t, args, {}, { program: nginx ?? '' })
    },
  },
]

/** Gatehouse, an app that answers 200 to everything, and the proxy before both. */
export async function startBehind(
  t: Test,
  proxy: BesideProxy,
  settings: Record<string, string> = {},
) {
  const receiver = await startReceiver((_request, response) => response.end('app'))
  t.teardown(() => receiver.close())
  const { test, origin, port } = await startBefore(t, proxy, { app: receiver.port, settings })
  return {
    test,
    origin,
    send: (...sent: Sent) => send(port, ...sent),
    count: () => receiver.requests.length,
    /** The latest request that has reached the app. */
    received() {
      const latest = receiver.requests.at(-1)
      if (latest === undefined) throw new Error('Nothing has reached the app.')
      return latest
    },
  }
}

/** Gatehouse and the proxy before it and the app at this port. `edit` changes the configuration. */
export async function startBefore(
  t: Test,
  { file, start }: BesideProxy,
  {
    app,
    settings,
    edit = (config) => config,
  }: { app: number; settings: Record<string, string>; edit?: (config: string) => string },
) {
  const port = await findFreePort()
  const origin = `http://localhost:${port}`
  const test = await build(t, { BASE_URL: origin, SIGN_IN_RETURN_TO: '/,/dashboard', ...settings })
  const address = await test.app.listen({ host: '127.0.0.1', port: 0 })
  const gatehouse = Number(new URL(address).port)
  const config = edit(await readPage(`docs/beside-your-app/${file}`))
    .replaceAll('127.0.0.1:3000', `127.0.0.1:${gatehouse}`)
    .replaceAll('127.0.0.1:8000', `127.0.0.1:${app}`)
  await start(t, config, { proxy: port, gatehouse, app })
  await untilListening(port)
  return { test, origin, port }
}

function untilListening(port: number): Promise<void> {
  return untilTrue(
    () =>
      new Promise<boolean>((resolve) => {
        const socket = connect(port, '127.0.0.1', () => resolve(true))
        socket.on('error', () => resolve(false))
        socket.on('connect', () => socket.destroy())
      }),
  )
}

type Sent = [method: string, path: string, headers: Record<string, string>, body?: string]

/** Sends the path as it is, which `fetch` would normalize. */
export async function send(port: number, ...[method, path, headers, body = '']: Sent) {
  const host = `localhost:${port}`
  const length = body === '' ? {} : { 'content-length': String(body.length) }
  const sent = request({
    port,
    host: '127.0.0.1',
    method,
    path,
    headers: { host, ...length, ...headers },
  })
  const answer = new Promise<{ status: number | undefined; location: string | undefined }>(
    (resolve, reject) => {
      sent.on('error', reject)
      sent.on('response', async (response) => {
        await text(response)
        resolve({ status: response.statusCode, location: response.headers.location })
      })
    },
  )
  sent.end(body)
  return answer
}
