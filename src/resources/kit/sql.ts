import type { TSchema } from 'typebox'
import type { Resource } from './define.ts'
import { givenKeysOf, homeFunctionOf, publishesAtHome, sectionOf } from './derived.ts'
import { columns as columnTypes } from './fields/columns.ts'
import type { Field } from './fields/field.ts'
import { membersOf } from './fields/keys/member.ts'
import { columnOf, memberCheckOf, memberKeyOf } from './names.ts'
import { typicalWordBytes, wordFunctionsOf, wordPoliciesOf, wordTriggersOf } from './search-sql.ts'
import { askingOf, personKinds, visiblePolicy } from './visible.ts'

/*
 * The SQL that follows from the declared resources. `migrate` applies it after the files of
 * prisma/functions, prisma/policies.sql and prisma/triggers.sql.
 */

export type DeclaredSql = {
  readonly functions: string
  readonly policies: string
  readonly triggers: string
}

/** How a policy names the facts of the scope. */
export type ScopeWords = {
  readonly tenant: string
  readonly user: string
  readonly kind: string
  /** The condition that a row belongs to a team of the user. */
  readonly ofTeams: string
  /** Whether the user manages the tenant. */
  readonly manages: string
  /** Whether a policy can read another table. */
  readonly canJoin: boolean
}

/** The scalar subselect calls each function once per statement, not once per row. */
const onOneServer: ScopeWords = {
  tenant: '(SELECT current_tenant_id())',
  user: '(SELECT current_user_id())',
  kind: '(SELECT current_scope_kind())',
  // Depends on no row of the table. team_members has a policy by tenant alone, so nothing recurses.
  ofTeams: `team_id IN (
    SELECT m.team_id FROM team_members m
    WHERE m.tenant_id = (SELECT current_tenant_id()) AND m.user_id = (SELECT current_user_id()))`,
  manages: '(SELECT is_manager())',
  canJoin: true,
}

/** Each statement is followed by an empty line, at which a script can be divided. */
export function sqlOf(
  resources: readonly Resource[],
  words: ScopeWords = onOneServer,
): DeclaredSql {
  const homes = resources.filter(publishesAtHome).map(homeOf)
  return {
    functions: script([
      tablesFunction(resources),
      membersFunction(resources),
      ...homes,
      ...resources.flatMap(memberChecksOf),
      ...(words.canJoin ? resources.flatMap(wordFunctionsOf) : []),
    ]),
    policies: script(
      resources.flatMap((one) => [...policiesOf(one, words), ...wordPoliciesOf(one, words)]),
    ),
    triggers: script([
      ...resources.flatMap(triggersOf),
      ...(words.canJoin ? resources.flatMap(wordTriggersOf) : []),
    ]),
  }
}

function script(statements: readonly string[]): string {
  return statements.map((statement) => `${statement}\n\n`).join('')
}

/**
 * The table of the declared resources that functions of the owner read. It is a function, because what it
 * returns becomes part of statements that the owner runs: no role can write into it.
 */
function tablesFunction(resources: readonly Resource[]): string {
  const rows = resources.map((resource) => {
    const { name, plural, scope } = resource
    const texts = [plural, name, scope, sectionOf(resource), personConditionOf(resource)]
    return `  (${[...texts.map(literal), `${literal(erasedOf(resource))}::jsonb`].join(', ')})`
  })
  const none = '  (NULL::text, NULL::text, NULL::text, NULL::text, NULL::text, NULL::jsonb)'
  return `-- The tables of the declared resources. \`section\` names them in an export; \`of_person\` is the condition on a row
-- \`r\` that belongs into the export of the person $1 in the tenant $2, or NULL. \`erased\` replaces what the owner of a
-- row wrote, in events that outlive the owner; NULL if events keep it.
CREATE OR REPLACE FUNCTION declared_tables() RETURNS TABLE (
  name text, resource text, scope text, section text, of_person text, erased jsonb
) LANGUAGE sql IMMUTABLE AS $$
SELECT * FROM (VALUES
${[none, ...rows].join(',\n')}
) t (name, resource, scope, section, of_person, erased) WHERE t.name IS NOT NULL
$$;`
}

/** The columns that are cleared when the person whom they name leaves the tenant. */
function membersFunction(resources: readonly Resource[]): string {
  const rows = resources.flatMap(({ plural, fields }) =>
    membersOf(fields)
      .filter(({ onLeave }) => onLeave === 'clear')
      .map(({ key }) => `  (${literal(plural)}, ${literal(columnOf(key))})`),
  )
  return `-- The columns of declared resources that name a member, and are cleared after that person has left.
CREATE OR REPLACE FUNCTION declared_members() RETURNS TABLE (name text, named text) LANGUAGE sql IMMUTABLE AS $$
SELECT * FROM (VALUES
${['  (NULL::text, NULL::text)', ...rows].join(',\n')}
) t (name, named) WHERE t.name IS NOT NULL
$$;`
}

/**
 * Refuses a row that names somebody who is no member of its tenant, as a foreign key would. It is none, because a
 * person leaves in constant time, however many rows name them: a worker clears these. The membership stays until
 * the transaction ends.
 */
function memberChecksOf(resource: Resource): string[] {
  const { plural, fields } = resource
  return membersOf(fields).map(({ key }) => {
    const column = columnOf(key)
    return `-- Refuses a row of ${plural} whose ${column} is no member of its tenant, as a foreign key does. A row that is changed
-- keeps a person who has left.
CREATE OR REPLACE FUNCTION ${memberCheckOf(resource, key)}() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF NEW.${column} IS NULL OR (TG_OP = 'UPDATE' AND NEW.${column} IS NOT DISTINCT FROM OLD.${column}) THEN
    RETURN NEW;
  END IF;
  PERFORM FROM public.memberships m WHERE m.tenant_id = NEW.tenant_id AND m.user_id = NEW.${column} FOR KEY SHARE;
  IF NOT FOUND THEN
    RAISE foreign_key_violation USING
      MESSAGE = 'insert or update on table "${plural}" violates foreign key constraint "${memberKeyOf(resource, key)}"';
  END IF;
  RETURN NEW;
END
$$;`
  })
}

/** Rows of a tenant belong to the people whom one of their fields names. */
function personConditionOf({ scope, fields }: Resource): string | null {
  if (scope === 'owner') return 'r.user_id = $1'
  // The policy of the table shows the rows of the person's teams.
  if (scope === 'chain') return 'r.tenant_id = $2'
  const people = Object.keys(fields).filter((key) => fields[key]?.isPerson)
  if (people.length === 0) return null
  const named = people.map((key) => `r.${columnOf(key)} = $1`).join(' OR ')
  return `r.tenant_id = $2 AND ${people.length === 1 ? named : `(${named})`}`
}

/** What events of a deleted owner's row have instead of what the owner wrote. */
function erasedOf(resource: Resource): string | null {
  const { scope, fields, events, erased } = resource
  if (scope !== 'owner' || Object.keys(events).length === 0) return null
  const values = givenKeysOf(resource)
    .filter((key) => !fields[key]?.isCurrency)
    .map((key) => [key, fields[key]?.neutral])
  return JSON.stringify(erased ?? Object.fromEntries(values))
}

/** Enters the tenant of a row, whose event belongs there. */
function homeOf(resource: Resource): string {
  const id = `${resource.name.replaceAll('-', '_')}_id`
  return `-- Enters the tenant of a row of ${resource.plural} that the current user owns, and returns it. NULL if there is no such
-- row, if its owner is not a member of the tenant, or if the tenant is closed. Locks the tenant and the membership
-- until the transaction ends.
CREATE OR REPLACE FUNCTION ${homeFunctionOf(resource)}(${id} bigint) RETURNS uuid
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  scope text[] := public.verified_scope();
  tenant uuid;
BEGIN
  IF scope IS NULL OR scope[2] NOT IN ('session', 'token') THEN
    RAISE EXCEPTION 'no person has entered' USING ERRCODE = 'insufficient_privilege';
  END IF;
  SELECT r.tenant_id INTO tenant FROM public.${resource.plural} r WHERE r.id = ${id} AND r.user_id = scope[4]::bigint;
  IF tenant IS NULL THEN RETURN NULL; END IF;
  PERFORM FROM public.memberships m JOIN public.tenants t ON t.id = m.tenant_id
    WHERE m.tenant_id = tenant AND m.user_id = scope[4]::bigint AND t.closed_at IS NULL
    FOR KEY SHARE OF t FOR KEY SHARE OF m;
  IF NOT FOUND THEN RETURN NULL; END IF;
  PERFORM public.set_scope('order', scope[2] || '/' || scope[5], scope[4]::bigint, tenant);
  RETURN tenant;
END
$$;`
}

/** Policies TO CURRENT_USER are for functions of the owner of the table, which is under FORCE too. */
function policiesOf(resource: Resource, words: ScopeWords): string[] {
  const { plural, scope, visible } = resource
  const { tenant, user, kind, ofTeams, manages, canJoin } = words
  if (visible !== undefined && !canJoin && visible.readsNoTable !== true) {
    throw new Error(
      `The resource ${resource.name} says who sees a row, which a distributed database cannot.`,
    )
  }
  const policy = (name: string, rest: string) => `CREATE POLICY ${name} ON ${plural} ${rest};`
  const inTenant = `tenant_id = ${tenant}`
  const whole = (kinds: string) =>
    policy(
      'whole_tenant',
      `FOR SELECT TO CURRENT_USER\n  USING (${inTenant} AND ${kind} IN (${kinds}))`,
    )
  const forOwner = (name: string, command: string, of: string) =>
    policy(name, `${command}TO CURRENT_USER\n  USING (${inTenant} AND ${kind} = '${of}')`)
  switch (scope) {
    case 'tenant': {
      if (visible === undefined) return [policy('tenant_scope', `USING (${inTenant})`)]
      const seen = `${kind} NOT IN ${personKinds} OR ${visible.sql(askingOf({ tenant, user, kind, manages }), columnOf)}`
      // A distributed database copies policies to its nodes without AS RESTRICTIVE: there they would permit.
      if (!canJoin) return [policy('tenant_scope', `USING (${inTenant} AND (${seen}))`)]
      return [
        policy('tenant_scope', `USING (${inTenant})`),
        policy(visiblePolicy, `AS RESTRICTIVE\n  USING (${seen})`),
      ]
    }
    // The owner reaches a row in every tenant; a new row is in the current one.
    case 'owner':
      return [
        policy('owner_scope', `FOR SELECT USING (user_id = ${user})`),
        policy(
          'placed_in_own_tenant',
          `FOR INSERT\n  WITH CHECK (user_id = ${user} AND ${inTenant})`,
        ),
        policy('owner_change', `FOR UPDATE USING (user_id = ${user})`),
        policy('owner_removal', `FOR DELETE USING (user_id = ${user})`),
        whole(`'usage', 'tenant-export'`),
        forOwner('erasure', '', 'erasure'),
      ]
    // Admins need the team, too. A person who moves a folder may be in neither of the two teams (place_folder).
    case 'chain':
      return [
        policy('chain_scope', `\n  USING (${inTenant} AND ${ofTeams})`),
        whole(`'move', 'usage', 'tenant-export'`),
        forOwner('move_to_team', 'FOR UPDATE ', 'move'),
        forOwner('erasure', '', 'erasure'),
      ]
  }
}

/** What a tenant stores is limited, so rows that it creates are counted. The database fills in services. */
function triggersOf(resource: Resource): string[] {
  const { plural, fields, actions } = resource
  const services = Object.keys(fields).filter((key) => fields[key]?.isService)
  return [
    ...services.map(
      (key) =>
        `ALTER TABLE ${plural} ALTER COLUMN ${columnOf(key)} SET DEFAULT current_service_id();`,
    ),
    ...membersOf(fields).map(({ key }) => {
      const [name, column] = [memberCheckOf(resource, key), columnOf(key)]
      return `CREATE TRIGGER ${name} AFTER INSERT OR UPDATE OF ${column} ON ${plural}
  FOR EACH ROW EXECUTE FUNCTION ${name}();`
    }),
    ...(actions.create === undefined
      ? []
      : [`SELECT count_table('${plural}', 'resource', ${literal(bytesOf(resource))});`]),
  ]
}

/** What the owner of a row can change after they have left its tenant counts this much. */
const changeableBytes = 1_024

/** The bytes of a row `r` that depend on what was written. */
function bytesOf({ scope, fields, actions, search }: Resource): string {
  const computed = Object.keys(fields).filter((key) => fields[key]?.computes !== undefined)
  const isChanged = scope === 'owner' && actions.update !== undefined
  const changed = isChanged ? [...(actions.update?.accepts ?? []), ...computed] : []
  const sizes = [...(actions.create?.accepts ?? []), ...computed].flatMap((key) => {
    const { column = 'text', isNullable, isCurrency } = fields[key] ?? {}
    if (!columnTypes[column].isLarge || isCurrency) return []
    if (changed.includes(key)) return [String(changeableBytes)]
    const size = `octet_length(r.${columnOf(key)}${column === 'jsonb' ? '::text' : ''})`
    return [isNullable ? `coalesce(${size}, 0)` : size]
  })
  // The words of a tenant's rows count by themselves (wordTriggersOf).
  const words = scope === 'owner' ? search.map((key) => `${wordBytesOf(fields[key])}`) : []
  const all = [...sizes, ...words]
  return all.length === 0 ? '0' : all.join(' + ')
}

/** The bytes of the words that a searched field may have, of as much as its owner can change after leaving. */
function wordBytesOf(field: Field | undefined): number {
  const schema: (TSchema & { maxLength?: number }) | undefined = field?.control?.schema(false)
  return typicalWordBytes(Math.min(changeableBytes, schema?.maxLength ?? changeableBytes))
}

function literal(text: string | null): string {
  return text === null ? 'NULL' : `'${text.replaceAll("'", "''")}'`
}
