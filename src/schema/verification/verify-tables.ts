import type pg from 'pg'
import { listExtensionViews } from '../citus/cluster.ts'
import { type Finding, migrateRemedy } from '../finding.ts'
import { appendOnly, identityTables, serviceTables, tablePrivileges } from '../tables.ts'
import { describeLack } from './scope-kinds.ts'

type TableFacts = {
  name: string
  kind: 'r' | 'p' | 'v' | 'm' | 'f'
  /** Belongs to no tenant. */
  service: boolean
  /** One of the tables that are not forced (identityTables). */
  identity: boolean
  public: boolean
  enabled: boolean
  forced: boolean
  invoker: boolean
  overUnforcedTables: boolean
  scoped: boolean
  readable: boolean
  open: string[]
  columns: string[]
  placed: boolean
}

/**
 * Checks that every table is under row-level security (except `serviceTables`), forced on its owner
 * (except `identityTables`), with policies that name the scope; and every view with it.
 * @param concerns which of them are checked
 * @param made whether a newer release has recorded a table as it is. Its functions are those of the owner then,
 *   so that release decides whether row-level security applies to them.
 */
export async function verifyTables(
  client: pg.Client,
  concerns: (table: string) => boolean,
  made: (table: string) => boolean = () => false,
): Promise<Finding[]> {
  const { rows } = await client.query<TableFacts>(tableFacts, [
    identityTables,
    appendOnly,
    serviceTables,
  ])
  const others = await listExtensionViews(client)
  return rows
    .filter(({ name }) => concerns(name) && !others.includes(name))
    .flatMap((table) => {
      const problem = tableProblem(table, made(table.name))
      return problem === null ? [] : [{ object: table.name, problem, remedy: remedyFor(table) }]
    })
}

/** A table that this release does not know lacks its block in policies.sql. */
function remedyFor({ name, kind, columns }: TableFacts): string {
  if (Object.hasOwn(tablePrivileges, name)) return migrateRemedy
  return kind === 'r' || kind === 'p'
    ? `No release made it. Drop it, or add it as docs/new-resource.md shows: ${describeLack(name, columns)}`
    : 'No release made it: drop it.'
}

function tableProblem(table: TableFacts, isOfNewer: boolean): string | null {
  const { name } = table
  if (table.public) return `The table ${name} is granted to PUBLIC.`
  if (table.service) return null
  if (table.kind === 'm') return `The materialized view ${name} cannot be under row-level security.`
  if (table.kind === 'f') return `The foreign table ${name} cannot be under row-level security.`
  if (table.kind === 'v') return viewProblem(table)
  if (!table.enabled) return `The table ${name} is not under row-level security.`
  if (!table.identity && !table.forced && !isOfNewer)
    return `Row-level security of the table ${name} is not forced on its owner.`
  if (table.identity && table.forced && !isOfNewer)
    return `Row-level security of the table ${name} is forced on its owner, whose functions read it.`
  if (!table.identity && !table.readable)
    return `The table ${name} has no policy that lets its rows be read in scope.`
  if (table.open.length > 0) {
    return `The policy ${table.open.join(', ')} of the table ${name} accepts rows of every scope.`
  }
  if (!table.identity && !table.placed)
    return `The table ${name} accepts new rows of a tenant other than the scope's.`
  return null
}

function viewProblem({ name, invoker, overUnforcedTables, scoped }: TableFacts): string | null {
  if (!invoker) return `The view ${name} is not security_invoker.`
  if (overUnforcedTables && !scoped) return `The view ${name} shows rows of every scope.`
  return null
}

// A branch for the constant true, or for a scope that is not set.
const openText = String.raw`'\mtrue\M|current_(tenant_id|webhook_tenant_id|user_id|idempotency_holder)\(\)( AS \w+\))? IS NULL'`

/*
 * A permissive policy is open if one of its conditions does not name the scope, or has a branch for
 * the constant true or for a missing scope. UPDATE and ALL policies without WITH CHECK use USING for
 * it. `appendOnly` tables are exempt for INSERT only. A policy for the owner alone opens nothing to the
 * program, whose roles are no members of it (verify-roles.ts). A view over service or identity tables must
 * name the scope in the same way.
 */
const tableFacts = `
  WITH policy AS (
    SELECT polrelid, polname, polpermissive, polcmd,
      pg_get_expr(polqual, polrelid) AS qual,
      coalesce(pg_get_expr(polwithcheck, polrelid), pg_get_expr(polqual, polrelid)) AS chk
    FROM pg_policy
    WHERE polroles <> ARRAY[(SELECT relowner FROM pg_class WHERE oid = polrelid)]
  ), condition AS (
    SELECT polrelid, polname, polpermissive, polcmd, part, CASE part WHEN 'check' THEN chk ELSE qual END AS text
    FROM policy CROSS JOIN unnest(ARRAY['using', 'check']) part
    WHERE CASE part WHEN 'check' THEN polcmd IN ('*', 'a', 'w') ELSE polcmd <> 'a' END
  )
  SELECT c.relname AS name, c.relkind AS kind, c.relname = ANY ($1) AS identity,
    c.relname = ANY ($3) AS service,
    EXISTS (SELECT FROM aclexplode(c.relacl) WHERE grantee = 0)
      OR EXISTS (SELECT FROM pg_attribute a, aclexplode(a.attacl)
                 WHERE a.attrelid = c.oid AND grantee = 0) AS public,
    c.relrowsecurity AS enabled, c.relforcerowsecurity AS forced,
    coalesce(c.reloptions && ARRAY['security_invoker=true', 'security_invoker=on'], false) AS invoker,
    EXISTS (SELECT FROM pg_rewrite r JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
            JOIN pg_class base ON d.refclassid = 'pg_class'::regclass AND base.oid = d.refobjid
            WHERE r.ev_class = c.oid AND base.relname = ANY ($1 || $3)) AS "overUnforcedTables",
    c.relkind = 'v' AND pg_get_viewdef(c.oid) ~ 'current_(tenant|webhook_tenant|user)_id\\(\\)'
      AND pg_get_viewdef(c.oid) !~ ${openText} AS scoped,
    EXISTS (SELECT FROM policy p WHERE p.polrelid = c.oid AND p.polpermissive
            AND p.polcmd IN ('*', 'r')) AS readable,
    ARRAY(SELECT DISTINCT p.polname::text FROM condition p
          WHERE p.polrelid = c.oid AND p.polpermissive
            AND (p.text !~ '(current_(tenant_id|webhook_tenant_id|user_id|idempotency_holder)|is_operator)\\(\\)' OR p.text ~ ${openText})
            AND NOT (p.polcmd = 'a' AND c.relname = ANY ($2))) AS open,
    ARRAY(SELECT a.attname::text FROM pg_attribute a
          WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) AS columns,
    c.relname = ANY ($2)
      OR NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'tenant_id')
      OR EXISTS (SELECT FROM condition p WHERE p.polrelid = c.oid AND p.part = 'check'
                 AND p.polcmd IN ('*', 'a') AND p.text ~ 'current_(webhook_)?tenant_id\\(\\)') AS placed
  FROM pg_class c
  WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
  ORDER BY c.relname`
