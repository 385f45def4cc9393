import pg from 'pg'
import type { Definitions } from './definitions.ts'

/** The state of a table as far as a repair needs it. */
export type RepairedTable = {
  name: string
  /** The names of its policies. */
  policies: readonly string[]
  public: boolean
  enabled: boolean
  forced: boolean
}

/**
 * The statements that give a table the row-level security that the migrations make: its flags and
 * policies, and nothing granted to PUBLIC. Policies that no migration makes are dropped.
 * @returns none for a table that the migrations do not make
 */
export function repairTable(table: RepairedTable, { tables }: Definitions): string[] {
  const wanted = tables.get(table.name)
  const name = pg.escapeIdentifier(table.name)
  const revoke = table.public ? [`REVOKE ALL ON TABLE ${name} FROM PUBLIC`] : []
  if (wanted === undefined) return revoke
  const flags = [
    ...(table.enabled === wanted.enabled ? [] : [wanted.enabled ? 'ENABLE' : 'DISABLE']),
    ...(table.forced === wanted.forced ? [] : [wanted.forced ? 'FORCE' : 'NO FORCE']),
  ].map((flag) => `${flag} ROW LEVEL SECURITY`)
  return [...revoke, ...(flags.length > 0 ? [`ALTER TABLE ${name} ${flags.join(', ')}`] : [])]
}

/** The statements that recreate all policies of a table, as the migrations have them. */
export function repairPolicies(table: RepairedTable, { tables }: Definitions): string[] {
  const wanted = tables.get(table.name)?.policies
  if (wanted === undefined) return []
  const name = pg.escapeIdentifier(table.name)
  return [
    ...table.policies.map((policy) => `DROP POLICY ${pg.escapeIdentifier(policy)} ON ${name}`),
    ...wanted.values(),
  ]
}

/** The statement that recreates a view; none if the migrations do not make it. */
export function repairView(name: string, { views }: Definitions): string[] {
  const view = views.get(name)
  return view === undefined ? [] : [view]
}

/** The statement that recreates functions, by name; none for those the migrations do not make. */
export function repairFunctions(names: readonly string[], { functions }: Definitions): string[] {
  return names.flatMap((name) => functions.get(name) ?? [])
}
