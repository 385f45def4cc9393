import { setTimeout as wait } from 'node:timers/promises'
import type { EventStatus } from '#src/billing/events.ts'
import {
  createReplay,
  findReplay,
  findUnreplayable,
  isReplayRunning,
  type Replay,
} from '#src/billing/replays.ts'
import type { Environment } from '#src/config/parse.ts'
import type { SystemDatabase } from '#src/db/system-database.ts'
import { statementTimeoutsMs } from '#src/db/timeouts.ts'
import { OperatorError } from '#src/runtime/operator-error.ts'
import { createProgress, print, printJson } from '../kit/output.ts'
import { withApplicationQueue } from '../kit/queue.ts'

const statementTimeoutMs = statementTimeoutsMs.replay
const pollMs = 250
const waitForWorkerMs = 10_000 // workers look for jobs every two seconds

/** `status` applies when no ids are given; `from` and `to` are RFC 3339 times. */
type Options = {
  readonly status?: EventStatus
  readonly from?: string
  readonly to?: string
  readonly json?: true
}

/** `gatehouse billing replay`: processes received events again and shows the progress. */
export default async function replayCommand(
  env: Environment,
  ids: readonly string[],
  { status = 'dead', from, to, json }: Options,
): Promise<void> {
  const selection = ids.length > 0 ? { ids } : { status, from, to }
  await withApplicationQueue(env, async ({ systemDb, queue }) => {
    await requireReplayable(systemDb, ids)
    const replay = await systemDb.transaction({ statementTimeoutMs }, (connection) =>
      createReplay(connection, queue, selection),
    )
    const { id, total, succeeded, failed } = await follow(systemDb, replay)
    if (failed > 0) process.exitCode = 1
    if (json) printJson({ id, total, succeeded, failed })
    else print(`${total} selected, ${succeeded} succeeded, ${failed} failed`)
  })
}

/** @throws OperatorError if an event is unknown or can no longer be replayed; nothing is replayed then */
async function requireReplayable(systemDb: SystemDatabase, ids: readonly string[]): Promise<void> {
  const { unknown, withoutBody } = await findUnreplayable(systemDb, ids)
  const remedy = 'Nothing was replayed. Check the ids, or leave these out.'
  if (unknown.length > 0) throw new OperatorError(`Unknown events: ${unknown.join(', ')}.`, remedy)
  if (withoutBody.length > 0) {
    throw new OperatorError(`The body is no longer stored: ${withoutBody.join(', ')}.`, remedy)
  }
}

/**
 * Polls the replay and shows its progress until it has finished.
 * @throws OperatorError if no worker processes it
 */
async function follow(systemDb: SystemDatabase, created: Replay): Promise<Replay> {
  const show = createProgress(process.stderr)
  const showReplay = (replay: Replay) =>
    show({ label: 'events', done: doneOf(replay), total: replay.total })
  let replay = created
  let lastProgress = performance.now()
  showReplay(replay)
  while (replay.finishedAt === null) {
    await wait(pollMs)
    const next = (await findReplay(systemDb, replay.id)) ?? replay
    if (doneOf(next) !== doneOf(replay)) {
      lastProgress = performance.now()
      showReplay(next)
    } else if (performance.now() - lastProgress > waitForWorkerMs) {
      if (!(await isReplayRunning(systemDb, replay.id))) throw noWorker()
      lastProgress = performance.now()
    }
    replay = next
  }
  return replay
}

function noWorker(): OperatorError {
  return new OperatorError(
    `No worker has taken up the replay within ${waitForWorkerMs / 1_000} seconds.`,
    'It is stored and starts with the next worker: gatehouse worker.',
  )
}

function doneOf({ succeeded, failed }: Replay): number {
  return succeeded + failed
}
