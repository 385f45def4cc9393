import Type from 'typebox'
import { checkUsage, listUsage, setQuota, type Used } from '#src/auth/members/usage.ts'
import { ConfigError } from '#src/config/config.ts'
import { type Budget, type Environment, readBudget, readSchema } from '#src/config/parse.ts'
import { Settings } from '#src/config/settings.ts'
import { sqlOver } from '#src/db/sql.ts'
import type { Queryable } from '#src/db/system-database.ts'
import { statementTimeoutsMs } from '#src/db/timeouts.ts'
import { uuidForm } from '#src/http/schemas.ts'
import { OperatorError } from '#src/runtime/operator-error.ts'
import { withWorkerDatabase } from '../kit/databases.ts'
import { print, printJson } from '../kit/output.ts'
import { printTable } from '../kit/table.ts'

type Json = { readonly json?: true | undefined }

/** `gatehouse usage list`: the tenants that store most. */
export function list(
  env: Environment,
  { limit, json }: Json & { readonly limit: number },
): Promise<void> {
  return withLongStatements(env, async (systemDb, whole) => {
    const tenants = await listUsage(systemDb, limit, readQuota(whole))
    if (json) return printJson(tenants)
    printTable(
      ['Tenant', 'Resources', 'of', 'MiB', 'of', 'Events', 'of', 'MiB', 'of'],
      tenants.map(({ tenantId, resources, events }) => [
        ...[tenantId, ...usedCells(resources), ...usedCells(events)],
      ]),
    )
  })
}

/** `gatehouse usage check`: whether the counters agree with the rows. */
export function check(
  env: Environment,
  { repair, json }: Json & { readonly repair?: true | undefined },
): Promise<void> {
  return withLongStatements(env, async (systemDb) => {
    const { tenants, wrong } = await checkUsage(systemDb, repair === true)
    if (wrong.length > 0 && repair !== true) process.exitCode = 1
    if (json) return printJson({ tenants, wrong })
    if (wrong.length > 0) {
      printTable(
        ['Tenant', 'Counted', 'Stored', 'State'],
        wrong.map(({ tenantId, counted, stored }) => [
          ...[tenantId, counted, stored, repair ? 'corrected' : 'wrong'],
        ]),
      )
    }
    print(`${tenants} tenants, ${wrong.length} with wrong counters`)
  })
}

/** `gatehouse usage limit`: limits of one tenant's own. */
export function limit(
  env: Environment,
  tenantId: string,
  {
    json,
    ...options
  }: Json & { readonly resources?: string | undefined; readonly events?: string | undefined },
): Promise<void> {
  return withLongStatements(env, async (systemDb) => {
    const limits = {
      resources: readOption('--resources', options.resources),
      events: readOption('--events', options.events),
    }
    const isSet = uuidForm.test(tenantId) && (await setQuota(systemDb, tenantId, limits))
    if (!isSet) {
      throw new OperatorError('There is no such tenant.', '`gatehouse usage list` shows their ids.')
    }
    if (json) return printJson({ tenantId, ...limits })
    print(`The limits of ${tenantId} are set.`)
  })
}

function readOption(name: string, value: string | undefined): Budget | null {
  if (value === undefined) return null
  const faults: string[] = []
  const budget = readBudget(name, value, faults)
  if (faults.length > 0) throw new ConfigError(faults)
  return budget
}

function readQuota(env: Environment) {
  const faults: string[] = []
  const { QUOTA_RESOURCES, QUOTA_EVENTS } = Settings.properties
  const values = readSchema(Type.Object({ QUOTA_RESOURCES, QUOTA_EVENTS }), env, '', faults)
  const quota = {
    resources: readBudget('QUOTA_RESOURCES', values.QUOTA_RESOURCES, faults),
    events: readBudget('QUOTA_EVENTS', values.QUOTA_EVENTS, faults),
  }
  if (faults.length > 0) throw new ConfigError(faults)
  return quota
}

/** Counting a large tenant takes longer than a request may. */
const statementTimeoutMs = statementTimeoutsMs.countUsage

function withLongStatements(
  env: Environment,
  work: (systemDb: Queryable, env: Environment) => Promise<void>,
): Promise<void> {
  return withWorkerDatabase(env, (systemDb, whole) => {
    const sql = sqlOver((statement) =>
      systemDb.transaction({ statementTimeoutMs }, (connection) => connection.sql(statement)),
    )
    return work({ ...systemDb, sql }, whole)
  })
}

function usedCells({ rows, bytes, maxRows, maxBytes }: Used): string[] {
  const mebibytes = (count: number) => (count / 1_048_576).toFixed(1)
  return [
    ...[String(rows), String(maxRows ?? 'off')],
    ...[mebibytes(bytes), maxBytes === null ? 'off' : mebibytes(maxBytes)],
  ]
}
