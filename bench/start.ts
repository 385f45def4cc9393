import { setTimeout } from 'node:timers/promises'
import { startBinary, withBinary } from './binary.ts'
import { sessionSecret, webhookSecret } from './contender.ts'
import type { Place } from './place.ts'
import type { Effort, Section } from './section.ts'

const settleMs = 10_000

const note = `\`dist/gatehouse serve\` with ROLE=all on a migrated database: from the start of the process to the
first complete response to \`GET /\`, requested every 5 ms; resident memory ${settleMs / 1000} s later without
requests: the mapped pages of the file, which processes on one machine share, and private memory. A copy
of the file is measured, like an installed one; for the file that the build has just written the
system counts about 50 MB more. The first run counts like the others.`

type Start = { seconds: number; megabytes: number; ownMegabytes: number }

/** The single binary: time to the first response, and memory at rest. */
export async function measureStart(place: Place, { runs }: Effort): Promise<Section> {
  const starts = await withBinary(async (installed) => {
    const measured: Start[] = []
    for (let run = 0; run < runs; run += 1) measured.push(await measureOnce(place, installed))
    return measured
  })
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

async function measureOnce({ url }: Place, installed: string): Promise<Start> {
  const running = await startBinary(installed, settings(url))
  try {
    await setTimeout(settleMs)
    const { resident, own } = await running.memory()
    return { seconds: running.seconds, megabytes: resident, ownMegabytes: own }
  } finally {
    await running.stop()
  }
}

function settings(url: string): Record<string, string> {
  return {
    NODE_ENV: 'production',
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
