import { setTimeout as wait } from 'node:timers/promises'
import type { EventStatus } from '#src/billing/events.ts'
import { createReplay, findReplay, type Replay } from '#src/billing/replays.ts'
import { readConfig } from '#src/config/config.ts'
import type { Environment } from '#src/config/parse.ts'
import { openSystemDatabase, type SystemDatabase } from '#src/db/system-database.ts'
import { statementTimeoutsMs } from '#src/db/timeouts.ts'
import { openQueue } from '#src/queue/queue.ts'
import { withEnvironment } from './environment.ts'
import { createProgress, print, printJson, printMessage } from './output.ts'

const statementTimeoutMs = statementTimeoutsMs.replay
const pollMs = 250
const stalledAfterMs = 15_000 // then the user is asked whether a worker runs

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
  await withEnvironment(env, async (whole) => {
    const { url } = readConfig(whole).database
    const systemDb = openSystemDatabase(url, 1)
    const queue = openQueue(url, 'web', () => {})
    try {
      await queue.start()
      const replay = await systemDb.transaction({ statementTimeoutMs }, (connection) =>
        createReplay(connection, queue, selection),
      )
      const { id, total, succeeded, failed } = await follow(systemDb, replay)
      if (failed > 0) process.exitCode = 1
      if (json) printJson({ id, total, succeeded, failed })
      else print(`${total} selected, ${succeeded} succeeded, ${failed} failed`)
    } finally {
      await queue.stop({ graceful: false })
      await systemDb.close()
    }
  })
}

/** Polls the replay and shows its progress until it has finished. */
async function follow(systemDb: SystemDatabase, created: Replay): Promise<Replay> {
  const show = createProgress(process.stderr)
  const showReplay = (replay: Replay) =>
    show({ label: 'events', done: doneOf(replay), total: replay.total })
  let replay = created
  let lastProgress = performance.now()
  let isWarned = false
  showReplay(replay)
  while (replay.finishedAt === null) {
    await wait(pollMs)
    const next = (await findReplay(systemDb, replay.id)) ?? replay
    if (doneOf(next) !== doneOf(replay)) {
      lastProgress = performance.now()
      showReplay(next)
    } else if (!isWarned && performance.now() - lastProgress > stalledAfterMs) {
      isWarned = true
      printMessage('\nNo progress yet: is a worker running? The replay waits for a worker.')
    }
    replay = next
  }
  return replay
}

function doneOf({ succeeded, failed }: Replay): number {
  return succeeded + failed
}
