import type { Environment } from '#src/config/parse.ts'
import {
  adoptInstallation,
  findQuarantine,
  type Quarantine,
  quarantineInstallation,
} from '#src/operations/installation.ts'
import { withWorkerDatabase } from '../kit/databases.ts'
import { print, printJson } from '../kit/output.ts'

type Options = { readonly json?: true }

/** `gatehouse quarantine`: no worker of this database does a job until it is adopted. */
export function quarantine(env: Environment, options: Options): Promise<void> {
  return change(env, options, quarantineInstallation, (before, now) =>
    before === null
      ? `The quarantine has begun: workers do nothing until \`gatehouse adopt\`. ${running}`
      : `Nothing was changed: in quarantine since ${timeOf(now ?? before)}, ${reasons[before.reason]}.`,
  )
}

/** `gatehouse adopt`: ends the quarantine. */
export function adopt(env: Environment, options: Options): Promise<void> {
  return change(env, options, adoptInstallation, (before) =>
    before === null
      ? 'Nothing was changed: the database was not in quarantine, workers do its jobs.'
      : `The quarantine since ${timeOf(before)} (${reasons[before.reason]}) has ended: workers do the jobs of this database. ${waiting}`,
  )
}

const running = 'Running workers stop within seconds.'
const waiting = 'Waiting workers begin within seconds.'

const reasons: Readonly<Record<Quarantine['reason'], string>> = {
  copied: 'a copy of another database',
  'by-hand': 'begun by hand',
}

type Found = Quarantine | null

async function change(
  env: Environment,
  { json }: Options,
  work: typeof adoptInstallation,
  describe: (before: Found, now: Found) => string,
): Promise<void> {
  const [before, now] = await withWorkerDatabase(env, async (systemDb) => {
    const found = await findQuarantine(systemDb, { record: false })
    await work(systemDb)
    return [found, await findQuarantine(systemDb, { record: false })] as const
  })
  if (json) printJson({ before, quarantine: now })
  else print(describe(before, now))
}

function timeOf({ since }: Quarantine): string {
  return since.toISOString()
}
