import { readTextAsset } from '#src/runtime/assets.ts'
import { parseDefinitions, splitStatements } from '../definitions.ts'
import { withoutSubselects } from './policies.ts'

/**
 * Settings of what changes the schema. Triggers on distributed tables are those of the counters, which
 * write only rows of the same tenant.
 */
export const sessionSettings = [
  'SET citus.enable_unsafe_triggers = on',
  `SET citus.multi_shard_modify_mode = 'sequential'`,
] as const

/** functions.sql and data-flow.sql. */
export async function readScripts(): Promise<string> {
  const names = ['functions.sql', 'data-flow.sql']
  const scripts = names.map((name) => readTextAsset(`src/schema/citus/${name}`))
  return (await Promise.all(scripts)).join('\n')
}

/**
 * Turns the script of a migration into the statements for a distributed database, each sent on its own,
 * because Citus sends the whole text to the nodes: without scalar subselects in policies, and with the
 * policies of functions.sql. Functions that are replaced there are left out; they
 * are made again afterwards. What Citus refuses fails with its reason, and the migration is rolled back.
 */
export async function readCitusForm(): Promise<(script: string) => string[]> {
  const sql = await readScripts()
  const { functions, tables } = parseDefinitions([{ name: 'citus', sql }])

  function formOf(statement: string): string[] {
    const [, name] = /^CREATE (?:OR REPLACE )?FUNCTION (?:public\.)?"?(\w+)/i.exec(statement) ?? []
    if (name !== undefined && functions.has(name)) return []
    const [, policy = '', table = ''] = /^CREATE POLICY "?(\w+)"? ON "?(\w+)/i.exec(statement) ?? []
    return [tables.get(table)?.policies.get(policy) ?? withoutSubselects(statement)]
  }

  return (script) => {
    const statements = splitStatements(script).flatMap(formOf)
    return /\bCONCURRENTLY\b/i.test(script) ? statements : [...sessionSettings, ...statements]
  }
}
