/**
 * The statement without scalar subselects: Citus accepts no subquery in a policy. `(SELECT
 * current_tenant_id())` becomes a plain call, which is an index condition too; only in a condition with
 * OR and in WITH CHECK it is evaluated for each row. Other statements stay as they are.
 */
export function withoutSubselects(statement: string): string {
  if (!/^\s*(CREATE|ALTER)\s+POLICY\b/i.test(statement)) return statement
  return statement.replaceAll(/\(\s*SELECT\s+(?:public\.)?(current_\w+\(\))\s*\)/gi, '$1')
}
