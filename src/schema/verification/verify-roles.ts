import type pg from 'pg'
import type { Finding } from '../finding.ts'

type RoleFacts = {
  name: string
  bypasses: boolean
  powers: string[]
  owned: string[]
  creates: boolean
  excessive: string[]
  hasScope: boolean
  firesTriggers: boolean
  unlimited: string[]
}

/** Predefined roles that bypass table privileges or reach the server's file system. */
const powerfulRoles = [
  'pg_read_all_data',
  'pg_write_all_data',
  'pg_read_server_files',
  'pg_write_server_files',
  'pg_execute_server_program',
]

const remedy =
  'Name another role in the connection URL and run `gatehouse migrate`, which grants that role exactly what it needs.'

/** Checks whether the role that is logged in can bypass row-level security. */
export async function verifyRoles(client: pg.Client): Promise<Finding[]> {
  const { rows } = await client.query<RoleFacts>(roleFacts, [powerfulRoles])
  return rows.flatMap((role) => [
    ...roleProblems(role).map((problem) => ({ problem, remedy })),
    ...(role.firesTriggers ? [] : [withoutTriggers(role)]),
  ])
}

function withoutTriggers({ name }: RoleFacts): Finding {
  return {
    problem: `The role ${name} has another session_replication_role than origin, so triggers neither count nor record what it writes.`,
    remedy:
      'As a superuser, take it back where it was set: ALTER ROLE …, ALTER DATABASE … or ALTER SYSTEM RESET session_replication_role.',
  }
}

function roleProblems(role: RoleFacts): string[] {
  const { name } = role
  if (role.bypasses) {
    return [`The role ${name} can bypass row-level security (superuser or BYPASSRLS).`]
  }
  if (role.owned.length > 0) {
    return [`The role ${name} owns tables, or may become their owner (${some(role.owned)}).`]
  }
  const problems: string[] = []
  if (role.powers.length > 0) problems.push(`The role ${name} is too powerful: ${role.powers}.`)
  if (role.creates) problems.push(`The role ${name} may create objects in the schema public.`)
  if (role.excessive.length > 0) {
    problems.push(`The role ${name} may TRUNCATE, REFERENCE or TRIGGER ${some(role.excessive)}.`)
  }
  if (role.hasScope) {
    problems.push(`The role ${name} has a scope before any credential sets one.`)
  }
  if (role.unlimited.length > 0) {
    problems.push(
      `The role ${name} may wait without a limit (${role.unlimited.join(', ')}): behind a pooler the role itself must have one, as ALTER ROLE ${name} SET … gives it.`,
    )
  }
  return problems
}

function some(names: readonly string[]): string {
  return names.length > 3 ? `${names.slice(0, 3).join(', ')} …` : names.join(', ')
}

// MEMBER, not USAGE: it includes roles that need SET ROLE first.
const roleFacts = `
  SELECT current_user AS name,
    EXISTS (SELECT FROM pg_roles m WHERE (m.rolbypassrls OR m.rolsuper)
            AND pg_has_role(current_user, m.oid, 'MEMBER')) AS bypasses,
    ARRAY(SELECT m.rolname::text FROM pg_roles m
          WHERE m.rolname = ANY ($1) AND pg_has_role(current_user, m.oid, 'MEMBER'))
      || ARRAY(SELECT a FROM unnest(ARRAY['CREATEROLE', 'REPLICATION']) a
          WHERE CASE a WHEN 'CREATEROLE' THEN r.rolcreaterole ELSE r.rolreplication END) AS powers,
    ARRAY(SELECT c.relname::text FROM pg_class c
          WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
            AND pg_has_role(current_user, c.relowner, 'MEMBER') ORDER BY 1) AS owned,
    has_schema_privilege('public', 'CREATE') AS creates,
    ARRAY(SELECT c.relname::text FROM pg_class c
          WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
            AND has_table_privilege(c.oid, 'TRUNCATE, REFERENCES, TRIGGER') ORDER BY 1) AS excessive,
    coalesce(current_setting('app.scope', true), '') <> '' AS "hasScope",
    current_setting('session_replication_role') = 'origin' AS "firesTriggers",
    ARRAY(SELECT l FROM unnest(ARRAY['statement_timeout', 'lock_timeout',
            'idle_in_transaction_session_timeout']) l WHERE current_setting(l) = '0') AS unlimited
  FROM pg_roles r WHERE r.rolname = current_user`
