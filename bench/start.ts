import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { findFreePort } from '#src/demo/postgres/free-port.ts'
import { sessionSecret, webhookSecret } from './contender.ts'
import type { Place } from './place.ts'
import { runNode } from './processes.ts'
import type { Effort, Section } from './section.ts'

const binary = fileURLToPath(new URL('../dist/gatehouse', import.meta.url))
const buildScript = fileURLToPath(new URL('../src/release/binary.ts', import.meta.url))
const patienceMs = 20_000
const askAgainMs = 5
const settleMs = 10_000

const note = `\`dist/gatehouse serve\` with ROLE=all on a migrated database: from the start of the process to the
first complete response to \`GET /\`, requested every ${askAgainMs} ms; resident memory ${settleMs / 1000} s later without
requests: the mapped pages of the file, which processes on one machine share, and private memory. A copy
of the file is measured, like an installed one; for the file that the build has just written the
system counts about 50 MB more. The first run counts like the others.`

type Start = { seconds: number; megabytes: number; ownMegabytes: number }

/** The single binary: time to the first response, and memory at rest. */
export async function measureStart(place: Place, { runs }: Effort): Promise<Section> {
  await runNode(buildScript, [])
  const starts = await measureInstalled(place, runs)
  const seconds = middleOf(starts.map((start) => start.seconds))
  const megabytes = middleOf(starts.map((start) => start.megabytes))
  return {
    title: 'Start of the single binary',
    ratios: [
      {
        measure: 'start of the binary to its first answer, s',
        value: seconds.toFixed(2),
        goal: '≤ 1',
      },
      { measure: 'resident memory at rest, MB', value: megabytes.toFixed(0), goal: '≤ 150' },
    ],
    measures: [
      ['Run', 'To the first answer, s', 'Resident memory, MB', 'Its own, MB'],
      ...starts.map((start, index) => [
        String(index + 1),
        start.seconds.toFixed(2),
        start.megabytes.toFixed(0),
        start.ownMegabytes.toFixed(0),
      ]),
    ],
    note,
  }
}

async function measureInstalled(place: Place, runs: number): Promise<Start[]> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-start-'))
  try {
    const installed = join(folder, 'gatehouse')
    await copyFile(binary, installed)
    const starts: Start[] = []
    for (let run = 0; run < runs; run += 1) starts.push(await measureOnce(place, installed))
    return starts
  } finally {
    await rm(folder, { recursive: true })
  }
}

async function measureOnce({ url }: Place, installed: string): Promise<Start> {
  const port = await findFreePort()
  const begun = performance.now()
  const child = spawn(installed, ['serve'], { env: settings(url, port), stdio: 'ignore' })
  try {
    await answered(`http://127.0.0.1:${port}/`, begun)
    const seconds = (performance.now() - begun) / 1000
    await setTimeout(settleMs)
    return { seconds, ...(await residentMemory(child)) }
  } finally {
    const ended = once(child, 'exit')
    child.kill()
    await ended
  }
}

async function answered(url: string, begun: number): Promise<void> {
  while (performance.now() - begun < patienceMs) {
    const answer = await fetch(url).catch(() => null)
    if (answer !== null) return void (await answer.text())
    await setTimeout(askAgainMs)
  }
  throw new Error('The binary does not respond.')
}

/** Linux only; NaN elsewhere. */
async function residentMemory({ pid }: ChildProcess) {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  const read = (name: string) => {
    const [, kilobytes] = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status) ?? []
    return (Number(kilobytes ?? Number.NaN) * 1024) / 1e6
  }
  return { megabytes: read('VmRSS'), ownMegabytes: read('RssAnon') }
}

function settings(url: string, port: number): Record<string, string> {
  return {
    NODE_ENV: 'production',
    HOST: '127.0.0.1',
    PORT: String(port),
    ADMIN_PORT: '0',
    BASE_URL: 'https://app.example.com',
    TRUST_PROXY: '127.0.0.1',
    DATABASE_URL: url,
    SESSION_SECRETS: sessionSecret,
    BILLING_WEBHOOK_SECRETS: webhookSecret,
    ENCRYPTION_KEYS: `bench:${Buffer.alloc(32, 1).toString('base64')}`,
    OIDC_PROVIDERS: 'acme',
    OIDC_ACME_ISSUER: 'https://login.example.com',
    OIDC_ACME_CLIENT_ID: 'bench',
    OIDC_ACME_CLIENT_SECRET: 'bench',
  }
}

function middleOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
}
