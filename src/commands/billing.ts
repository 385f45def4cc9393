import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { type EventStatus, eventStatuses } from '#src/billing/received.ts'
import {
  createReplay,
  findReplay,
  type Replay,
  type ReplaySelection,
} from '#src/billing/replays.ts'
import { readConfig } from '#src/config.ts'
import { type IdentityPlane, openIdentityPlane } from '#src/db/identity-plane.ts'
import { openQueue } from '#src/jobs.ts'
import { OperatorError } from '#src/operator-error.ts'
import type { Environment } from '#src/setting-readers.ts'
import { withEnvironment } from './environment.ts'
import { createProgress } from './progress.ts'

const usage =
  'Run: gatehouse billing replay [--status dead] [--from TIME] [--to TIME], or with event ids.'
const pollMs = 250
const patienceMs = 15_000 // then it is said that no worker seems to run

/** `gatehouse billing replay`: runs received events again and shows how far it has come. */
export default async function billingCommand(
  env: Environment,
  args: readonly string[],
): Promise<void> {
  const selection = readArguments(args)
  await withEnvironment(env, async (whole) => {
    const { url } = readConfig(whole).database
    const plane = openIdentityPlane(url, 1)
    const queue = openQueue(url, 'web', () => {})
    try {
      await queue.start()
      const replay = await createReplay(plane, queue, selection)
      await follow(plane, replay)
    } finally {
      await queue.stop({ graceful: false })
      await plane.close()
    }
  })
}

function readArguments(args: readonly string[]): ReplaySelection {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { status: { type: 'string' }, from: { type: 'string' }, to: { type: 'string' } },
    })
    const [action, ...ids] = positionals
    if (action !== 'replay') throw new OperatorError('There is one action: replay.', usage)
    if (ids.length > 0) {
      if (Object.keys(values).length > 0) {
        throw new OperatorError('Event ids and a selection exclude each other.', usage)
      }
      return { ids }
    }
    const { status = 'dead', from, to } = values
    if (!isStatus(status)) {
      throw new OperatorError(`--status is one of ${eventStatuses.join(', ')}.`, usage)
    }
    for (const time of [from, to]) {
      if (time !== undefined && !/^\d{4}-\d\d-\d\dT.+(Z|[+-]\d\d:\d\d)$/.test(time)) {
        throw new OperatorError(`“${time}” is no RFC 3339 time.`, usage)
      }
    }
    return { status, from, to }
  } catch (error) {
    if (error instanceof OperatorError) throw error
    throw new OperatorError(error instanceof Error ? error.message : String(error), usage)
  }
}

function isStatus(text: string): text is EventStatus {
  return eventStatuses.some((status) => status === text)
}

/** Shows how far the replay has come; it goes on without us. */
async function follow(plane: IdentityPlane, begun: Replay): Promise<void> {
  const show = createProgress(process.stdout)
  const step = (replay: Replay) =>
    show({ label: 'events', done: doneOf(replay), total: replay.total })
  let replay = begun
  let moved = performance.now()
  let isImpatient = false
  step(replay)
  while (replay.finishedAt === null) {
    await wait(pollMs)
    const next = (await findReplay(plane, replay.id)) ?? replay
    if (doneOf(next) !== doneOf(replay)) moved = performance.now()
    if (!isImpatient && performance.now() - moved > patienceMs) {
      isImpatient = true
      process.stderr.write('\nNothing moves yet: is a worker running? The replay waits for one.\n')
    }
    if (doneOf(next) !== doneOf(replay)) step(next)
    replay = next
  }
  process.stdout.write(
    `${replay.total} selected, ${replay.succeeded} succeeded, ${replay.failed} failed\n`,
  )
  if (replay.failed > 0) process.exitCode = 1
}

function doneOf({ succeeded, failed }: Replay): number {
  return succeeded + failed
}
