import type pg from 'pg'
import type { Finding } from './finding.ts'
import { appendOnly, serviceTables, unscopedTables } from './tables.ts'

type TableFacts = {
  name: string
  kind: 'r' | 'p' | 'v' | 'm' | 'f'
  listed: boolean
  public: boolean
  enabled: boolean
  forced: boolean
  invoker: boolean
  overUnscopedTables: boolean
  scoped: boolean
  readable: boolean
  open: string[]
  placed: boolean
}

const remedy = 'Restore it as the migrations make it; see prisma/migrations.'

/**
 * Verifies that every table and view is either listed in src/schema/tables.ts or restricted to a
 * scope.
 * @param concerns selects the tables to verify
 */
export async function verifyTables(
  client: pg.Client,
  concerns: (table: string) => boolean,
): Promise<Finding[]> {
  const { rows } = await client.query<TableFacts>(tableFacts, [
    [...unscopedTables, ...serviceTables],
    appendOnly,
  ])
  return rows
    .filter(({ name }) => concerns(name))
    .flatMap((table) => {
      const problem = tableProblem(table)
      return problem === null ? [] : [{ problem, remedy }]
    })
}

function tableProblem(table: TableFacts): string | null {
  const { name } = table
  if (table.public) return `The table ${name} is granted to PUBLIC.`
  if (table.listed) return null
  if (table.kind === 'm') return `The materialized view ${name} cannot be under row-level security.`
  if (table.kind === 'f') return `The foreign table ${name} cannot be under row-level security.`
  if (table.kind === 'v') return viewProblem(table)
  if (!table.enabled) return `The table ${name} is not under row-level security.`
  if (!table.forced) return `Row-level security of the table ${name} is not forced on its owner.`
  if (!table.readable) return `The table ${name} has no policy that lets its rows be read in scope.`
  if (table.open.length > 0) {
    return `The policy ${table.open.join(', ')} of the table ${name} lets rows of every scope through.`
  }
  if (!table.placed) return `The table ${name} takes new rows for a tenant other than the scope's.`
  return null
}

function viewProblem({ name, invoker, overUnscopedTables, scoped }: TableFacts): string | null {
  if (!invoker) return `The view ${name} is not security_invoker.`
  if (overUnscopedTables && !scoped) return `The view ${name} shows rows of every scope.`
  return null
}

// Matches the constant true, or a condition that holds if no scope is set.
const openText = String.raw`'\mtrue\M|current_(tenant|user)_id\(\)( AS \w+\))? IS NULL'`

/*
 * A permissive policy is open if one of its conditions uses neither current_tenant_id() nor
 * current_user_id(), or contains the constant true or a case for a scope that is not set. UPDATE and
 * ALL policies without WITH CHECK use USING instead. Append-only tables may have open INSERT
 * policies. A view over tables without row-level security must use one of the functions likewise.
 */
const tableFacts = `
  WITH policy AS (
    SELECT polrelid, polname, polpermissive, polcmd,
      pg_get_expr(polqual, polrelid) AS qual,
      coalesce(pg_get_expr(polwithcheck, polrelid), pg_get_expr(polqual, polrelid)) AS chk
    FROM pg_policy
  ), condition AS (
    SELECT polrelid, polname, polpermissive, polcmd, part, CASE part WHEN 'check' THEN chk ELSE qual END AS text
    FROM policy CROSS JOIN unnest(ARRAY['using', 'check']) part
    WHERE CASE part WHEN 'check' THEN polcmd IN ('*', 'a', 'w') ELSE polcmd <> 'a' END
  )
  SELECT c.relname AS name, c.relkind AS kind, c.relname = ANY ($1) AS listed,
    EXISTS (SELECT FROM aclexplode(c.relacl) WHERE grantee = 0)
      OR EXISTS (SELECT FROM pg_attribute a, aclexplode(a.attacl)
                 WHERE a.attrelid = c.oid AND grantee = 0) AS public,
    c.relrowsecurity AS enabled, c.relforcerowsecurity AS forced,
    coalesce(c.reloptions && ARRAY['security_invoker=true', 'security_invoker=on'], false) AS invoker,
    EXISTS (SELECT FROM pg_rewrite r JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
            JOIN pg_class base ON d.refclassid = 'pg_class'::regclass AND base.oid = d.refobjid
            WHERE r.ev_class = c.oid AND base.relname = ANY ($1)) AS "overUnscopedTables",
    c.relkind = 'v' AND pg_get_viewdef(c.oid) ~ 'current_(tenant|user)_id\\(\\)'
      AND pg_get_viewdef(c.oid) !~ ${openText} AS scoped,
    EXISTS (SELECT FROM policy p WHERE p.polrelid = c.oid AND p.polpermissive
            AND p.polcmd IN ('*', 'r')) AS readable,
    ARRAY(SELECT DISTINCT p.polname::text FROM condition p
          WHERE p.polrelid = c.oid AND p.polpermissive
            AND (p.text !~ 'current_(tenant|user)_id\\(\\)' OR p.text ~ ${openText})
            AND NOT (p.polcmd = 'a' AND c.relname = ANY ($2))) AS open,
    c.relname = ANY ($2)
      OR NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'tenant_id')
      OR EXISTS (SELECT FROM condition p WHERE p.polrelid = c.oid AND p.part = 'check'
                 AND p.polcmd IN ('*', 'a') AND p.text ~ 'current_tenant_id\\(\\)') AS placed
  FROM pg_class c
  WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
  ORDER BY c.relname`
