import { ConfigError } from '#src/config/config.ts'
import { type Environment, readDatabaseUrl } from '#src/config/parse.ts'
import { migrate, type RepairReport, repair } from '#src/schema/migrate.ts'
import { withDatabaseOwner } from '../kit/environment.ts'
import { print, printJson } from '../kit/output.ts'

type Options = { readonly json?: true; readonly repair?: true; readonly citus?: true }

/**
 * `gatehouse migrate`: the schema, the queue's schema, the roles and their privileges; with
 * `--repair` also everything that the verification at start checks.
 */
export default async function migrateCommand(env: Environment, options: Options): Promise<void> {
  const { json } = options
  await withDatabaseOwner(env, async (whole) => {
    const urls = readDatabaseUrls(whole)
    const { applied, createdRoles, ahead } = await migrate(urls, undefined, {
      citus: options.citus === true,
      ...(!json && { progress: print }),
    })
    const report = options.repair && ahead.length === 0 ? await repair(urls) : null
    if (report !== null && report.remaining.length > 0) process.exitCode = 1
    if (json) return printJson({ applied, createdRoles, ahead, ...report })
    for (const name of applied) print(`applied ${name}`)
    for (const name of createdRoles) print(`created role ${name}`)
    if (ahead.length > 0) {
      print(`A newer release has applied ${ahead.join(', ')}. Nothing was changed.`)
    } else if (applied.length === 0) print('The database is up to date.')
    if (report !== null) printRepairs(report)
  })
}

function printRepairs({ repaired, remaining }: RepairReport): void {
  for (const statement of repaired) print(`repaired with ${statement.split('\n')[0]}`)
  if (repaired.length === 0 && remaining.length === 0) print('Nothing had to be repaired.')
  for (const { problem, remedy } of remaining) print(`FAULT  ${problem} ${remedy}`)
}

export type DatabaseUrls = { ownerUrl: string; url: string; workerUrl: string }

/**
 * The only settings that `migrate` and `seed` need.
 * @throws ConfigError naming each missing one
 */
export function readDatabaseUrls(env: Environment): DatabaseUrls {
  const faults: string[] = []
  const read = (name: string) => readDatabaseUrl(name, env[name] || undefined, faults)
  const ownerUrl = read('DATABASE_OWNER_URL')
  const url = read('DATABASE_URL')
  const workerUrl = env.DATABASE_WORKER_URL ? read('DATABASE_WORKER_URL') : url
  if (faults.length > 0) throw new ConfigError(faults)
  return { ownerUrl, url, workerUrl }
}
