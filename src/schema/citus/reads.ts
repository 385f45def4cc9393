import { scopeTenantId, scopeUserId } from '#src/access/scope.ts'
import type { Statement } from '#src/db/connections/one-trip.ts'
import type { Resource } from '#src/resources/kit/define.ts'
import { insertedKeysOf } from '#src/resources/kit/derived.ts'
import { columns } from '#src/resources/kit/fields/columns.ts'
import { columnOf } from '#src/resources/kit/names.ts'

/*
 * Rows of the declared resources on a cluster, by functions instead of the statements of src/rows. In
 * PL/pgSQL the tenant is a parameter, which tells the coordinator the node to ask. In a plain statement it is a
 * setting that is read while the statement runs, so every node would be asked.
 */

type RowFunction = {
  /** As GRANT names it. */
  readonly signature: string
  readonly sql: string
}

/** `blog_post` of `blog-post`. */
const wordOf = ({ name }: Resource) => name.replaceAll('-', '_')

/** The functions of each resource, by what they do. */
export function rowFunctionsOf(resources: readonly Resource[]): RowFunction[] {
  return resources.flatMap((one) => [
    finding(one),
    ...(isLocked(one) ? [locking(one)] : []),
    ...(isCreatedInFolder(one) ? [creating(one)] : []),
  ])
}

const isLocked = ({ scope, actions }: Resource) =>
  scope === 'owner' && (actions.update !== undefined || actions.delete !== undefined)
const isCreatedInFolder = ({ scope, actions }: Resource) =>
  scope === 'chain' && actions.create !== undefined

const [tenant, user] = [scopeTenantId.text, scopeUserId.text]

/**
 * The statement that a cluster gets instead; null if it gets the same.
 * @param table of a declared resource
 */
export function instead(resource: Resource, statement: Statement): Statement | null {
  const { row, values = [] } = statement
  if (row === undefined) return null
  const { does, table, selected } = row
  const word = wordOf(resource)
  if (does === 'find') {
    const scoped = resource.scope === 'tenant' ? tenant : `${tenant}, ${user}`
    return { text: `SELECT ${selected} FROM find_${word}(${scoped}, $1) AS ${table}`, values }
  }
  // In its own tenant a row is locked as on one PostgreSQL.
  if (does === 'lock' && isLocked(resource) && values.length === 2) {
    return { text: `SELECT ${selected} FROM lock_${word}($1, $2)`, values }
  }
  // By a function in two statements, because Citus inserts selected rows into a table with an
  // identity by COPY, which row-level security refuses.
  if (does === 'insert' && isCreatedInFolder(resource)) {
    const written = values.slice(0, insertedKeysOf(resource).length)
    const [inTenant, folder, , person] = values.slice(written.length)
    const marks = written.map((_, index) => `$${index + 4}`)
    return {
      text: `SELECT ${selected} FROM create_${word}($1::uuid, $2, $3, ${marks.join(', ')})`,
      values: [inTenant, person, folder, ...written],
    }
  }
  return null
}

function finding(resource: Resource): RowFunction {
  const { plural, scope } = resource
  const name = `find_${wordOf(resource)}`
  const inTenant = 'r.tenant_id = tenant AND r.id = wanted'
  const bodies = {
    tenant: `  RETURN QUERY SELECT r.* FROM public.${plural} r WHERE ${inTenant};`,
    chain: `  RETURN QUERY SELECT r.* FROM public.${plural} r
    WHERE ${inTenant} AND r.team_id IN (
      SELECT m.team_id FROM public.team_members m WHERE m.tenant_id = tenant AND m.user_id = person);`,
    // The node of the tenant of the scope first, and every node only if the row is in another tenant.
    owner: `  RETURN QUERY SELECT r.* FROM public.${plural} r
    WHERE ${inTenant} AND r.user_id = person;
  IF FOUND THEN RETURN; END IF;
  RETURN QUERY SELECT r.* FROM public.${plural} r WHERE r.user_id = person AND r.id = wanted;`,
  }
  const types = scope === 'tenant' ? ['uuid', 'bigint'] : ['uuid', 'bigint', 'bigint']
  const names = scope === 'tenant' ? ['tenant', 'wanted'] : ['tenant', 'person', 'wanted']
  return {
    signature: `${name}(${types.join(', ')})`,
    sql: `CREATE OR REPLACE FUNCTION ${name}(${parameters(names, types)}) RETURNS SETOF ${plural}
LANGUAGE plpgsql STABLE ROWS 1 AS $$
#variable_conflict use_column
BEGIN
${bodies[scope]}
END
$$;`,
  }
}

/** Finds the tenant first, because a lock needs one node. */
function locking(resource: Resource): RowFunction {
  const { plural } = resource
  const name = `lock_${wordOf(resource)}`
  return {
    signature: `${name}(bigint, bigint)`,
    sql: `CREATE OR REPLACE FUNCTION ${name}(person bigint, wanted bigint) RETURNS SETOF ${plural}
LANGUAGE plpgsql VOLATILE ROWS 1 AS $$
DECLARE
  tenant uuid;
BEGIN
  SELECT r.tenant_id INTO tenant FROM public.${plural} r WHERE r.user_id = person AND r.id = wanted;
  RETURN QUERY SELECT r.* FROM public.${plural} r
    WHERE r.tenant_id = tenant AND r.user_id = person AND r.id = wanted FOR UPDATE;
END
$$;`,
  }
}

/**
 * Creates a row in two statements: Citus inserts selected rows into a table with an identity by COPY,
 * which row-level security refuses.
 */
function creating(resource: Resource): RowFunction {
  const { plural, fields } = resource
  const name = `create_${wordOf(resource)}`
  const keys = insertedKeysOf(resource)
  const written = keys.map((key) => `new_${columnOf(key)}`)
  const names = ['tenant', 'person', 'folder', ...written]
  const types = [
    'uuid',
    'bigint',
    'bigint',
    ...keys.map((key) => columns[columnIn(fields, key)].spelled),
  ]
  return {
    signature: `${name}(${types.join(', ')})`,
    sql: `CREATE OR REPLACE FUNCTION ${name}(
  ${parameters(names, types)}
) RETURNS SETOF ${plural}
LANGUAGE plpgsql VOLATILE ROWS 1 AS $$
DECLARE
  team bigint;
BEGIN
  SELECT f.team_id INTO team FROM public.folders f
    WHERE f.tenant_id = tenant AND f.id = folder AND f.team_id IN (
      SELECT m.team_id FROM public.team_members m WHERE m.tenant_id = tenant AND m.user_id = person)
    FOR KEY SHARE OF f;
  IF NOT FOUND THEN RETURN; END IF;
  RETURN QUERY
    INSERT INTO public.${plural} (${['tenant_id, folder_id, team_id', ...keys.map(columnOf)].join(', ')})
    VALUES (${['tenant, folder, team', ...written].join(', ')})
    RETURNING *;
END
$$;`,
  }
}

function columnIn(fields: Resource['fields'], key: string) {
  const one = fields[key]
  if (one === undefined) throw new Error(`There is no field ${key}.`)
  return one.column
}

function parameters(names: readonly string[], types: readonly string[]): string {
  return names.map((name, index) => `${name} ${types[index]}`).join(', ')
}
