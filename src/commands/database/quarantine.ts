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
  return change(env, options, quarantineInstallation)
}

/** `gatehouse adopt`: ends the quarantine. */
export function adopt(env: Environment, options: Options): Promise<void> {
  return change(env, options, adoptInstallation)
}

async function change(
  env: Environment,
  { json }: Options,
  work: typeof adoptInstallation,
): Promise<void> {
  const found = await withWorkerDatabase(env, async (systemDb) => {
    await work(systemDb)
    return findQuarantine(systemDb, { record: false })
  })
  if (json) printJson({ quarantine: found })
  else print(describe(found))
}

function describe(found: Quarantine | null): string {
  return found === null
    ? 'Not in quarantine: workers do their jobs.'
    : `In quarantine since ${found.since.toISOString()}: workers do nothing until \`gatehouse adopt\`.`
}
