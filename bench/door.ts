import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { findFreePort } from '#dev/demo/postgres/free-port.ts'
import { startGatehouse } from './contender.ts'
import { startBaseline } from './contest.ts'
import { type Measured, measuredHead, measuredRow, ratioOf } from './measured.ts'
import { placeOrders } from './orders.ts'
import type { Place } from './place.ts'
import { measureServer, type Server } from './processes.ts'
import type { Effort, Section } from './section.ts'
import { nameOf, takeTurns } from './turns.ts'

const connections = 64
const nginx = '/usr/sbin/nginx' // of Debian
const configuration = new URL('../docs/beside-your-app/nginx.conf', import.meta.url)
const startMs = 5_000

type Contender = { contender: string; start(): Promise<Server> }

const note = `Requests with a session to an app behind nginx, with the configuration of docs/beside-your-app.md:
nginx asks \`/auth/verify\` about each and keeps its connections. The app is nginx too and answers at once, so
that the rest is the proxy and its question. “One select” is bare Fastify in our place, which looks up the
session with one prepared select, without limits, policy, row-level security and a signed token.`

/** An app behind nginx. @returns null if nginx is not installed */
export async function measureDoor(
  place: Place,
  { runs, seconds }: Effort,
): Promise<Section | null> {
  if (!existsSync(nginx)) return null
  const placed = await placeOrders(place, connections)
  const reads = placed.map(({ cookie }) => ({ path: '/dashboard', cookie }))
  const contenders: readonly Contender[] = [
    { contender: 'nginx alone', start: () => startNginx(null) },
    {
      contender: 'nginx and Gatehouse',
      start: async () => startNginx(await startGatehouse(place)),
    },
    {
      contender: 'nginx and one select',
      start: async () =>
        startNginx(await startBaseline('verify-one-select.ts')(place.superuserUrl)),
    },
  ]
  const contests = contenders.map((one) => ({ ...one, connections }))
  const medians = await takeTurns(contests, runs, async ({ start }) =>
    measureServer(await start(), { connections, seconds, requests: { reads } }),
  )
  const at = (contender: string) => medians.get(nameOf({ contender, connections }))
  const [ours, least] = [at('nginx and Gatehouse'), at('nginx and one select')]
  return {
    title: 'An app behind a proxy',
    ratios: [
      {
        measure: 'requests/s ÷ with bare Fastify and one select in our place, 64',
        value: ratioOf(ours, least, 'perSecond'),
        goal: '≥ 0.9',
      },
      {
        measure: 'p99 ÷ p99 with bare Fastify and one select, 64',
        value: ratioOf(ours, least, 'p99Ms'),
        goal: '≤ 1.2',
      },
      {
        measure: 'requests/s ÷ nginx without a question, 64',
        value: ratioOf(ours, at('nginx alone'), 'perSecond'),
        goal: '–',
      },
    ],
    measures: [
      measuredHead('Requests/s'),
      ...[...medians].map(([name, measured]: [string, Measured]) => measuredRow(name, measured)),
    ],
    note,
  }
}

/** @param asked what nginx asks about each request, which ends with it; null: it asks nothing */
async function startNginx(asked: Server | null): Promise<Server> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-nginx-'))
  const [port, app] = [await findFreePort(), await findFreePort()]
  await writeFile(join(folder, 'nginx.conf'), await configure(folder, { asked, port, app }))
  const args = ['-p', folder, '-e', 'stderr', '-c', join(folder, 'nginx.conf')]
  const child = spawn(nginx, args, { stdio: ['ignore', 'inherit', 'inherit'] })
  const ended = once(child, 'exit')
  await Promise.race([untilListening(port), ended.then(() => Promise.reject(new Error('nginx')))])
  return {
    url: `http://127.0.0.1:${port}`,
    pid: Number(child.pid),
    async stop() {
      child.kill('SIGTERM')
      await ended
      await asked?.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function configure(
  folder: string,
  { asked, port, app }: { asked: Server | null; port: number; app: number },
): Promise<string> {
  const documented = (await readFile(configuration, 'utf8'))
    .replace('listen 443 ssl;', `listen 127.0.0.1:${port};`)
    .replaceAll(/^ *ssl_.*\n/gm, '')
    .replaceAll('127.0.0.1:3000', asked === null ? '127.0.0.1:9' : new URL(asked.url).host)
    .replaceAll('127.0.0.1:8000', `127.0.0.1:${app}`)
  const server = asked === null ? documented.replace(/^ *auth_request .*\n/m, '') : documented
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `${kind}_temp_path ${folder}/${kind};`)
    .join('\n')
  return `daemon off; master_process off; pid ${folder}/pid; error_log stderr;
events { worker_connections 1024; }
http {
access_log off;
keepalive_requests 100000000; # the load generator keeps its connections
${temporary}
server { listen 127.0.0.1:${app}; location / { return 200 "app"; } }
${server}}\n`
}

async function untilListening(port: number): Promise<void> {
  const end = performance.now() + startMs
  while (performance.now() < end) {
    const socket = connect(port, '127.0.0.1')
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    if (isOpen) return
    await wait(20)
  }
  throw new Error('nginx does not listen')
}
