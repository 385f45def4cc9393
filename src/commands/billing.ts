import { setTimeout as wait } from 'node:timers/promises'
import { type EventStatus, eventStatuses } from '#src/billing/events.ts'
import {
  createReplay,
  findReplay,
  type Replay,
  type ReplaySelection,
} from '#src/billing/replays.ts'
import { readConfig } from '#src/config/config.ts'
import type { Environment } from '#src/config/parse.ts'
import { openSystemDatabase, type SystemDatabase } from '#src/db/system-database.ts'
import { openQueue } from '#src/queue/queue.ts'
import { createProgress, print, printJson, tell, UsageError, withEnvironment } from './command.ts'

const pollMs = 250
const patienceMs = 15_000 // then it is said that no worker seems to run

type Selection = { readonly [Name in 'status' | 'from' | 'to']: string | undefined }
type Options = Selection & { readonly json: boolean }

/** `gatehouse billing replay`: runs received events again and shows how far it has come. */
export default async function replayCommand(
  env: Environment,
  ids: readonly string[],
  { json, ...options }: Options,
): Promise<void> {
  const selection = readSelection(ids, options)
  await withEnvironment(env, async (whole) => {
    const { url } = readConfig(whole).database
    const systemDb = openSystemDatabase(url, 1)
    const queue = openQueue(url, 'web', () => {})
    try {
      await queue.start()
      const replay = await createReplay(systemDb, queue, selection)
      const done = await follow(systemDb, replay)
      if (done.failed > 0) process.exitCode = 1
      const { total, succeeded, failed } = done
      if (json) printJson({ id: done.id, total, succeeded, failed })
      else print(`${total} selected, ${succeeded} succeeded, ${failed} failed`)
    } finally {
      await queue.stop({ graceful: false })
      await systemDb.close()
    }
  })
}

function readSelection(ids: readonly string[], selection: Selection): ReplaySelection {
  const { status = 'dead', from, to } = selection
  if (ids.length > 0) {
    if (Object.values(selection).every((one) => one === undefined)) return { ids }
    throw new UsageError('Event ids and a selection exclude each other.')
  }
  if (!isStatus(status)) throw new UsageError(`--status is one of ${eventStatuses.join(', ')}.`)
  for (const time of [from, to]) {
    if (time === undefined || isTime(time)) continue
    throw new UsageError(`“${time}” is no RFC 3339 time.`)
  }
  return { status, from, to }
}

function isTime(text: string): boolean {
  const shape = /^\d{4}-\d\d-\d\dT.+(Z|[+-]\d\d:\d\d)$/
  return shape.test(text) && !Number.isNaN(Date.parse(text))
}

function isStatus(text: string): text is EventStatus {
  return eventStatuses.some((status) => status === text)
}

/** Shows how far the replay has come; it goes on without us. */
async function follow(systemDb: SystemDatabase, begun: Replay): Promise<Replay> {
  const show = createProgress(process.stderr)
  const step = (replay: Replay) =>
    show({ label: 'events', done: doneOf(replay), total: replay.total })
  let replay = begun
  let moved = performance.now()
  let isImpatient = false
  step(replay)
  while (replay.finishedAt === null) {
    await wait(pollMs)
    const next = (await findReplay(systemDb, replay.id)) ?? replay
    if (doneOf(next) !== doneOf(replay)) moved = performance.now()
    if (!isImpatient && performance.now() - moved > patienceMs) {
      isImpatient = true
      tell('\nNothing moves yet: is a worker running? The replay waits for one.')
    }
    if (doneOf(next) !== doneOf(replay)) step(next)
    replay = next
  }
  return replay
}

function doneOf({ succeeded, failed }: Replay): number {
  return succeeded + failed
}
