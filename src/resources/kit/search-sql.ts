import type { Resource } from './define.ts'
import { columnOf, wordsKeeperOf, wordsTableOf } from './names.ts'
import type { ScopeWords } from './sql.ts'

/*
 * The SQL by which the database keeps the words of the fields that lists are searched by. A cluster keeps none: its
 * searches look at the rows (src/rows/search.ts).
 */

/** The columns of a row of words, beside the word. */
export function wordKeysOf({ scope }: Pick<Resource, 'scope'>): string[] {
  return scope === 'owner' ? ['tenant_id', 'id', 'user_id'] : ['tenant_id', 'id']
}

/** What the words of a list compare first. */
export function wordOwnerOf({ scope }: Pick<Resource, 'scope'>): string {
  return scope === 'owner' ? 'user_id' : 'tenant_id'
}

/** The columns of the searched fields in a row. */
function valuesOf({ search }: Resource, row: string): string {
  return search.map((key) => `${row}.${columnOf(key)}`).join(', ')
}

/** The function of the triggers. As the owner, because no role of the program may write words. */
export function wordFunctionsOf(resource: Resource): string[] {
  const { plural, search } = resource
  if (search.length === 0) return []
  const words = `public.${wordsTableOf(resource)}`
  const keys = wordKeysOf(resource)
  return [
    `-- Keeps the words of ${search.join(', ')} of a row of ${plural} in ${wordsTableOf(resource)}.
CREATE OR REPLACE FUNCTION ${wordsKeeperOf(resource)}() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  kept text[];
BEGIN
  IF TG_OP = 'DELETE' THEN
    DELETE FROM ${words} w WHERE w.tenant_id = OLD.tenant_id AND w.id = OLD.id;
    RETURN NULL;
  END IF;
  IF TG_OP = 'UPDATE' AND ROW(${valuesOf(resource, 'OLD')}) IS NOT DISTINCT FROM ROW(${valuesOf(resource, 'NEW')}) THEN
    RETURN NULL;
  END IF;
  kept := public.search_words(concat_ws(' ', ${valuesOf(resource, 'NEW')}));
  IF TG_OP = 'UPDATE' THEN
    DELETE FROM ${words} w WHERE w.tenant_id = NEW.tenant_id AND w.id = NEW.id AND w.word <> ALL (kept);
  END IF;
  INSERT INTO ${words} (${keys.join(', ')}, word)
  SELECT ${keys.map((key) => `NEW.${key}`).join(', ')}, unnest(kept) ON CONFLICT DO NOTHING;
  RETURN NULL;
END
$$;`,
  ]
}

/**
 * Words are seen where their rows are. The triggers reach them in every scope: rows are also deleted in one that shows
 * none, such as that of an erasure.
 */
export function wordPoliciesOf(resource: Resource, { tenant, user, canJoin }: ScopeWords) {
  const { plural, scope, search, visible } = resource
  if (search.length === 0) return []
  const table = wordsTableOf(resource)
  const policy = (name: string, rest: string) => `CREATE POLICY ${name} ON ${table} ${rest};`
  const inTenant = `tenant_id = ${tenant}`
  const ofRow = `EXISTS (
    SELECT FROM ${plural} r WHERE r.tenant_id = ${table}.tenant_id AND r.id = ${table}.id)`
  const isSeen = visible === undefined ? inTenant : `${inTenant} AND ${ofRow}`
  return [
    ...(scope === 'owner'
      ? [
          policy('owner_scope', `FOR SELECT USING (user_id = ${user})`),
          policy(
            'placed_in_own_tenant',
            `FOR INSERT\n  WITH CHECK (user_id = ${user} AND ${inTenant})`,
          ),
        ]
      : [policy('tenant_scope', `USING (${isSeen})`)]),
    ...(canJoin
      ? [policy('kept_by_triggers', 'TO CURRENT_USER USING (pg_trigger_depth() > 0)')]
      : []),
  ]
}

/** What a word takes in its table and the two indexes, measured. */
const wordBytes = 180

/** Characters for each different word in a text of 5,000, measured; shorter texts repeat fewer words. */
const charactersPerWord = 8

/** What the words of a text of so many characters count where they are not counted themselves. */
export function typicalWordBytes(characters: number): number {
  return Math.ceil(characters / charactersPerWord) * wordBytes
}

/**
 * The triggers, and the words of the rows that are there when they are made. A word counts in the quota of its tenant.
 * Those of a row with an owner do not: they count with the row, because the owner can change it after leaving.
 */
export function wordTriggersOf(resource: Resource): string[] {
  const { plural, scope, search, actions } = resource
  if (search.length === 0) return []
  const keeper = wordsKeeperOf(resource)
  const isCounted = scope !== 'owner' && actions.create !== undefined
  return [
    `CREATE TRIGGER ${keeper} AFTER INSERT OR UPDATE OR DELETE ON ${plural}
  FOR EACH ROW EXECUTE FUNCTION ${keeper}();`,
    `SELECT fill_words('${plural}', '${wordKeysOf(resource).join(', ')}', '${valuesOf(resource, 'r')}', ${isCounted ? wordBytes : 0});`,
    ...(isCounted
      ? [`SELECT count_table('${wordsTableOf(resource)}', 'resource', '${wordBytes}', '0');`]
      : []),
  ]
}
