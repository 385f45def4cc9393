/** How the rows of a table are scoped: by their user, their tenant, or the team of a tenant. */
type ScopeKind = 'owner' | 'tenant' | 'chain'

const conditions: Readonly<Record<ScopeKind, string>> = {
  owner: 'user_id = (SELECT current_user_id())',
  tenant: 'tenant_id = (SELECT current_tenant_id())',
  chain: `tenant_id = (SELECT current_tenant_id()) AND team_id IN (
    SELECT m.team_id FROM team_members m
    WHERE m.tenant_id = (SELECT current_tenant_id()) AND m.user_id = (SELECT current_user_id()))`,
}

/** The block of prisma/policies.sql for a table. */
export function policyBlock(table: string, kind: ScopeKind): string {
  return `CREATE POLICY ${kind}_scope ON ${table} USING (${conditions[kind]});`
}

/**
 * What a table of a migration lacks, with what to paste into which file.
 * @param columns of the table
 */
export function describeLack(table: string, columns: readonly string[]): string {
  const kind = kindOf(columns)
  if (kind === null) {
    return `it has neither tenant_id nor user_id, so list it in serviceTables of src/schema/tables.ts.`
  }
  return [
    `add to the migration: ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;`,
    `to prisma/policies.sql:\n${policyBlock(table, kind)}`,
    `and its privileges to src/schema/tables.ts, its quota to prisma/triggers.sql, its section to prisma/functions/export.sql.`,
  ].join('\n')
}

function kindOf(columns: readonly string[]): ScopeKind | null {
  if (columns.includes('tenant_id')) return columns.includes('team_id') ? 'chain' : 'tenant'
  return columns.includes('user_id') ? 'owner' : null
}
