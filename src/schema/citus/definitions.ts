import type pg from 'pg'
import { type Definitions, parseDefinitions, readDefinitions } from '../definitions.ts'
import { readMigrations } from '../history.ts'
import { isDistributed, readShardNames } from './cluster.ts'
import { deriveFunctions } from './functions.ts'
import { citusTables } from './placement.ts'
import { withoutSubselects } from './policies.ts'
import { readScripts } from './script.ts'

/** What the database of `client` should have: as the migrations make it, or its form for Citus. */
export async function definitionsFor(client: pg.ClientBase): Promise<Definitions> {
  return (await isDistributed(client)) ? readCitusDefinitions(client) : readDefinitions()
}

/** The definitions of a database that is distributed with Citus, or is about to be. */
export async function readCitusDefinitions(client: pg.ClientBase): Promise<Definitions> {
  const own = { name: 'citus', sql: await readCitusFunctions(client) }
  const migrations = await readMigrations()
  const adapted = { name: 'derived', sql: (await readDerivedFunctions(client)).join(';\n') }
  const { tables, ...rest } = parseDefinitions([...migrations, adapted, own])
  const derived = [...tables].map(([name, table]) => {
    if (!citusTables.includes(name)) return [name, table] as const
    const { policies, ...flags } = table
    const plain = [...policies].map(([policy, text]) => [policy, withoutSubselects(text)] as const)
    return [name, { ...flags, policies: new Map(plain) }] as const
  })
  return { ...rest, tables: new Map(derived) }
}

/** The functions of the migrations in the form that Citus needs, derived from them. */
export async function readDerivedFunctions(client: pg.ClientBase): Promise<string[]> {
  const { functions } = await readDefinitions()
  const shards = await readShardNames(client)
  return [...deriveFunctions(functions).values()].map((text) => withShardNames(text, shards))
}

/** The statements of functions.sql and data-flow.sql. */
export async function readCitusFunctions(client: pg.ClientBase): Promise<string> {
  return withShardNames(await readScripts(), await readShardNames(client))
}

/** A name in braces is that of the shard; a table that is not copied to the nodes yet has its own name. */
function withShardNames(sql: string, shards: ReadonlyMap<string, string>): string {
  return sql.replaceAll(/\{(\w+)\}/g, (_, table: string) => shards.get(table) ?? table)
}
