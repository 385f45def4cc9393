import type pg from 'pg'

export type ObjectKind = 'function' | 'policy' | 'table' | 'trigger' | 'view'

/** An object of the schema `public` as PostgreSQL's catalogue has it. */
export type CatalogueObject = {
  kind: ObjectKind
  /** A signature, a relation, or `table.policy`. */
  name: string
  /** The table that it belongs to; null for a function. */
  table: string | null
  /** By aspect: `definition` is a hash, the others are texts. */
  facts: Readonly<Record<string, string>>
}

/**
 * Reads the functions of the schema and what belongs to the given tables: row-level security, policies,
 * triggers and views.
 * @param client of any role
 * @param functions their signatures; all by default
 */
export async function readCatalogue(
  client: pg.ClientBase,
  tables: readonly string[],
  functions: readonly string[] | null = null,
): Promise<CatalogueObject[]> {
  const { rows } = await client.query<CatalogueObject>(catalogue, [tables, functions])
  return rows
}

/** Rights by object: a table or view by its name, a function by its signature. */
export type Privileges = Readonly<Record<string, readonly string[]>>

/** @param role its name, or `PUBLIC` */
export async function readPrivileges(client: pg.ClientBase, role: string): Promise<Privileges> {
  const { rows } = await client.query<{ object: string; rights: string[] }>(privileges, [role])
  return Object.fromEntries(rows.map(({ object, rights }) => [object, rights]))
}

const ofExtension = (catalog: string, oid: string) =>
  `EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = '${catalog}'::regclass AND d.objid = ${oid}
     AND d.deptype = 'e')`

// The texts come from PostgreSQL itself, so they are compared only with texts of the same server.
const catalogue = `
  WITH relation AS (
    SELECT c.* FROM pg_class c
    WHERE c.relnamespace = 'public'::regnamespace AND c.relname = ANY ($1)
  )
  SELECT 'function' AS kind, p.oid::regprocedure::text AS name, NULL AS table, json_build_object(
      'definition', md5(pg_get_functiondef(p.oid)), 'body', encode(sha256(convert_to(p.prosrc, 'UTF8')), 'hex'),
      'owner', p.proowner::regrole::text, 'settings', coalesce(array_to_string(p.proconfig, '; '), '')
    ) AS facts
  FROM pg_proc p
  WHERE p.pronamespace = 'public'::regnamespace AND p.prokind IN ('f', 'p')
    AND ($2::text[] IS NULL OR p.oid::regprocedure::text = ANY ($2))
    AND NOT ${ofExtension('pg_proc', 'p.oid')}
  UNION ALL
  SELECT 'table', c.relname, c.relname, json_build_object('owner', c.relowner::regrole::text,
      'row-level security', concat_ws(', ', CASE WHEN c.relrowsecurity THEN 'enabled' END,
        CASE WHEN c.relforcerowsecurity THEN 'forced' END))
  FROM relation c WHERE c.relkind IN ('r', 'p')
  UNION ALL
  SELECT 'view', c.relname, c.relname, json_build_object('owner', c.relowner::regrole::text,
      'definition', md5(pg_get_viewdef(c.oid)), 'settings', coalesce(array_to_string(c.reloptions, '; '), ''))
  FROM relation c WHERE c.relkind = 'v'
  UNION ALL
  SELECT 'policy', c.relname || '.' || p.polname, c.relname, json_build_object(
      'definition', md5(concat_ws('|', p.polcmd, p.polpermissive, pg_get_expr(p.polqual, p.polrelid), '',
        pg_get_expr(p.polwithcheck, p.polrelid))),
      'roles', (SELECT string_agg(r::regrole::text, ', ' ORDER BY r) FROM unnest(p.polroles) r))
  FROM pg_policy p JOIN relation c ON c.oid = p.polrelid
  UNION ALL
  SELECT 'trigger', c.relname || '.' || t.tgname, c.relname, json_build_object(
      'definition', md5(pg_get_triggerdef(t.oid)), 'enabled', t.tgenabled::text)
  FROM pg_trigger t JOIN relation c ON c.oid = t.tgrelid WHERE NOT t.tgisinternal
  ORDER BY 1, 2`

const privileges = `
  WITH grantee AS (
    SELECT CASE WHEN $1 = 'PUBLIC' THEN 0 ELSE (SELECT r.oid FROM pg_roles r WHERE r.rolname = $1) END AS oid
  ), held AS (
    SELECT c.relname::text AS object, a.privilege_type AS "right", a.grantee
    FROM pg_class c, aclexplode(c.relacl) a
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
    UNION ALL
    SELECT c.relname, a.privilege_type || ' (' || t.attname || ')', a.grantee
    FROM pg_class c JOIN pg_attribute t ON t.attrelid = c.oid AND NOT t.attisdropped, aclexplode(t.attacl) a
    WHERE c.relnamespace = 'public'::regnamespace
    UNION ALL
    SELECT p.oid::regprocedure::text, a.privilege_type, a.grantee
    FROM pg_proc p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
    WHERE p.pronamespace = 'public'::regnamespace AND NOT ${ofExtension('pg_proc', 'p.oid')}
  )
  SELECT h.object, array_agg(h."right" ORDER BY h."right" COLLATE "C") AS rights
  FROM held h JOIN grantee g ON g.oid = h.grantee GROUP BY h.object ORDER BY h.object`
