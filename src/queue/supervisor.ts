import { askPersistently } from '#src/db/errors.ts'
import type { JobLog } from '#src/observability/logger.ts'
import type { Quarantine } from '#src/operations/installation.ts'
import { repeat } from '#src/runtime/repeat.ts'

type Stoppable = { stop(): Promise<void> }

export type Supervised<Worker extends Stoppable> = {
  /** The running worker; null in quarantine. */
  current(): Worker | null
  stop(): Promise<void>
}

type Deps<Worker> = {
  start(): Promise<Worker>
  findQuarantine(): Promise<Quarantine | null>
  logger: JobLog
  /** Between two looks at the quarantine. */
  pauseMs?: number
}

const defaultPauseMs = 10_000

/** What an operator does about it. */
export const quarantineRemedy =
  'If this installation is the one that works now, run `gatehouse adopt`; otherwise stop it.'

/** Why no job is done, for the log and `gatehouse doctor`. */
export const explanations: Readonly<Record<Quarantine['reason'], string>> = {
  copied: 'The database is a copy of another one and in quarantine: no job is done.',
  'by-hand': 'The database was put into quarantine by hand: no job is done.',
}

/**
 * Runs a worker while the database is not in quarantine: stops it within seconds after a quarantine
 * begins, and starts one after it ends. Without an answer of the database nothing changes.
 * @throws what `start` throws at the first time, or if the database cannot be asked then
 */
export async function supervise<Worker extends Stoppable>({
  start,
  findQuarantine,
  logger,
  pauseMs = defaultPauseMs,
}: Deps<Worker>): Promise<Supervised<Worker>> {
  let worker: Worker | null = null
  let isHeld = false

  async function follow(quarantine: Quarantine | null): Promise<void> {
    if (quarantine === null) {
      worker ??= await start()
      if (isHeld) logger.info({}, 'the quarantine has ended: jobs are done again')
      isHeld = false
      return
    }
    if (!isHeld)
      logger.error({ ...quarantine, remedy: quarantineRemedy }, explanations[quarantine.reason])
    isHeld = true
    const ending = worker
    worker = null
    await ending?.stop()
  }

  await follow(await askPersistently(findQuarantine))
  const { stop } = repeat(async () => follow(await findQuarantine()), {
    everyMs: pauseMs,
    onError: (error) =>
      logger.warn({ err: error }, 'the quarantine could not be looked up or followed'),
  })
  return {
    current: () => worker,
    async stop() {
      await stop()
      await worker?.stop()
    },
  }
}
