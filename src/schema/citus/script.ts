import type pg from 'pg'
import type { ScopeWords } from '#src/resources/kit/sql.ts'
import { resources } from '#src/resources/running-app.ts'
import type { Definer } from '../define.ts'
import {
  type Definitions,
  describe,
  divide,
  join,
  nameOf,
  readDefinitions,
} from '../definitions.ts'
import { readShardNames } from './cluster.ts'
import { functionsOnShards, referenceTables } from './placement.ts'
import { rowFunctionsOf } from './reads.ts'

/**
 * Settings of what changes the schema. Triggers on distributed tables are those of the counters and of the
 * event feed, which write only rows of the same tenant.
 */
export const sessionSettings = [
  'SET citus.enable_unsafe_triggers = on',
  `SET citus.multi_shard_modify_mode = 'sequential'`,
] as const

const rowFunctions = rowFunctionsOf(resources)

/** Functions that run as their caller: what policies of the scope `chain` call, and those for rows. */
const callerFunctions = [
  'current_team_ids()',
  'drop_endpoint(uuid, uuid)',
  ...rowFunctions.map(({ signature }) => signature),
]

/** Citus accepts no subquery in a policy. */
const scopeWords: ScopeWords = {
  tenant: 'current_tenant_id()',
  user: 'current_user_id()',
  kind: 'current_scope_kind()',
  ofTeams: 'team_id = ANY (current_team_ids())',
  manages: 'is_manager()',
  canJoin: false,
}

/** The definitions of a distributed database: the functions of prisma/citus instead of those of the same name. */
export async function readCitusDefinitions(): Promise<Definitions> {
  const { scripts, kept } = await readDefinitions('citus', scopeWords)
  const functions = scripts.functions.map((script) => join(divide(script).map(readShards)))
  functions.push(join(rowFunctions.map(({ sql }) => sql.replace(/;$/, ''))))
  return describe({ ...scripts, functions }, kept)
}

/** Locks and reads of these functions are on the only shard of a reference table, as if it was written in braces. */
function readShards(statement: string): string {
  if (!functionsOnShards.includes(nameOf(statement))) return statement
  return referenceTables.reduce(
    (text, table) => text.replaceAll(`public.${table} `, `public.{${table}} `),
    statement,
  )
}

/**
 * What `define` needs on a distributed database. For a policy of a table Citus creates the roles that have
 * privileges on it on the nodes, and as the owner it cannot change those of another database of the cluster.
 */
export async function openDefiner(
  owner: pg.ClientBase,
): Promise<Pick<Definer, 'definitions' | 'run' | 'open' | 'grantsLast'>> {
  for (const setting of sessionSettings) await owner.query(setting)
  const definitions = await readCitusDefinitions()
  return { definitions, run: runStatements, open: callerFunctions, grantsLast: true }
}

/** The statements to send for the script of a migration. CONCURRENTLY allows no setting beside it. */
export function divideMigration(script: string): string[] {
  const statements = divide(script)
  return /\bCONCURRENTLY\b/i.test(script) ? statements : [...sessionSettings, ...statements]
}

/** Sends each statement on its own, because Citus sends the whole text of a query to the nodes. */
export async function runStatements(owner: pg.ClientBase, script: string): Promise<void> {
  const shards = await readShardNames(owner)
  for (const statement of divide(script)) {
    await owner.query(withShardNames(statement, shards))
  }
}

/**
 * The name of a reference table in braces is that of its only shard, which every node has. Before the table
 * is copied to the nodes it is the name of the table.
 */
function withShardNames(sql: string, shards: ReadonlyMap<string, string>): string {
  return referenceTables.reduce(
    (text, table) => text.replaceAll(`{${table}}`, shards.get(table) ?? table),
    sql,
  )
}
