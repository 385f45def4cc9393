import { distance } from 'fastest-levenshtein'
import { lockUntilCommit } from '#src/db/advisory-lock.ts'
import type { Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { withinBytes } from '#src/db/keyset.ts'
import { type Page, pageOf } from '#src/http/lists/pagination.ts'
import { type FieldError, Problem } from '#src/http/problems.ts'
import type { JsonObject } from '#src/runtime/json.ts'
import { eventTypes, isOwnType } from './types.ts'

/** The description of an event type, as the app registers it. */
export type AppTypeFacts = {
  description: string
  /** JSON Schema (draft 7) of `data`; null accepts any object. */
  schema: JsonObject | null
  example: JsonObject | null
}

/** A type of the events that the app publishes. Times are RFC 3339 in UTC. */
export type AppEventType = AppTypeFacts & { name: string; createdAt: string; updatedAt: string }

type TypeRow = AppTypeFacts & { name: string; createdAt: Date; updatedAt: Date }

/** Parts divided by full stops. */
export const appTypeName = /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/

/** Types that an installation can have: every endpoint form shows all of them. */
export const maxAppTypes = 500

/** Characters of a description in the catalogue, which shows all types on one page. */
const summaryLength = 200

/** Types that the refusal of an unknown one names: all, or as many of the most similar. */
const maxNamedTypes = 12
const similarTypes = 3
// Comparing 100 long names with 500 types takes 0.3 s.
const explainedTypes = 10

/** A schema and an example, each as JSON: publishing reads the schemas of up to 100 types. */
export const maxTypeBytes = 65_536

export const appTypeList = { name: 'event-types', forms: [appTypeName] }

const columns = Prisma.sql`
  name, description, schema, example, created_at AS "createdAt", updated_at AS "updatedAt"`

const shownBytes = Prisma.sql`
  octet_length(description) + coalesce(octet_length(schema::text), 0) + coalesce(octet_length(example::text), 0)`

/** The registered types, sorted by name. */
export async function listAppTypes(tx: Tx, page: Page) {
  const [after = ''] = page.after ?? []
  const first = Prisma.sql`
    SELECT ${columns} FROM app_event_types WHERE name > ${after} ORDER BY name LIMIT ${page.limit + 1}`
  const rows = await tx.sql<TypeRow>(withinBytes(first, shownBytes))
  const listed = pageOf(rows, page, appTypeList.name, ({ name }) => [name], toType)
  return { ...listed, previousCursor: null }
}

/** The registered type of this name; null if there is none. */
export async function findAppType({ sql }: Pick<Tx, 'sql'>, name: string) {
  const [row] = await sql<TypeRow>`SELECT ${columns} FROM app_event_types WHERE name = ${name}`
  return row === undefined ? null : toType(row)
}

/** A type in the catalogue: the start of its description. */
export type AppTypeSummary = { name: string; summary: string }

/** All registered types, sorted by name. */
export async function summarizeAppTypes({ sql }: Pick<Tx, 'sql'>): Promise<AppTypeSummary[]> {
  return sql<AppTypeSummary>`
    SELECT name, CASE WHEN length(description) > ${summaryLength}
      THEN left(description, ${summaryLength}) || '…' ELSE description END AS summary
    FROM app_event_types ORDER BY name`
}

/** The names of all registered types, sorted, for forms. */
export async function listAppTypeNames({ sql }: Pick<Tx, 'sql'>): Promise<string[]> {
  const rows = await sql<{ name: string }>`SELECT name FROM app_event_types ORDER BY name`
  return rows.map(({ name }) => name)
}

/**
 * Refuses event types that the program does not have and the app has not registered.
 * @throws Problem `malformed` that names each of them in the field `eventTypes`
 */
export async function requireEventTypes(
  tx: Pick<Tx, 'sql'>,
  names: readonly string[],
): Promise<void> {
  const others = names.filter((name) => !isOwnType(name))
  if (others.length === 0) return
  const rows = await tx.sql<{ name: string }>`
    SELECT name FROM app_event_types WHERE name = ANY (${others})`
  const known = new Set(rows.map(({ name }) => name))
  if (others.every((name) => known.has(name))) return
  const all = [...eventTypes, ...(await listAppTypeNames(tx))]
  const unknown = names.flatMap((name, index) =>
    isOwnType(name) || known.has(name) ? [] : [{ name, pointer: `/eventTypes/${index}` }],
  )
  const fields = unknown.map(({ name, pointer }, index): FieldError => {
    const detail = index < explainedTypes ? unknownTypeText(name, all) : 'is not an event type'
    return { in: 'body', pointer, detail }
  })
  throw new Problem('malformed', { fields })
}

/** All types where they fit in a sentence, or else the most similar. */
function unknownTypeText(name: string, all: readonly string[]): string {
  if (all.length <= maxNamedTypes) return `is not an event type; these are: ${all.join(', ')}`
  const similar = all
    .map((type) => ({ type, edits: distance(name, type) }))
    .toSorted((one, other) => one.edits - other.edits)
    .slice(0, similarTypes)
    .map(({ type }) => type)
  return `is not an event type; the most similar are ${similar.join(', ')}, and /docs/events has all`
}

/** What publishing an event needs to know about its type. The schema is JSON. */
export type AppTypeSchema = { name: string; schema: string | null; updatedAt: Date }

/** The schemas of the registered types with these names, by name. */
export async function findAppTypeSchemas(
  { sql }: Pick<Tx, 'sql'>,
  names: readonly string[],
): Promise<Map<string, AppTypeSchema>> {
  const rows = await sql<AppTypeSchema>`
    SELECT name, schema::text, updated_at AS "updatedAt" FROM app_event_types
    WHERE name = ANY (${[...names]})`
  return new Map(rows.map((row) => [row.name, row]))
}

/**
 * Registers a type, or replaces its description, schema and example. Published events do not change.
 * The caller has checked that the schema can be used.
 * @throws Problem `malformed` if the schema or the example is longer than `maxTypeBytes`; `conflict` for a type of the program itself, or if there are
 *   `maxAppTypes` already
 */
export async function putAppType(
  tx: Tx,
  name: string,
  { description, schema, example }: AppTypeFacts,
  now: Date,
): Promise<{ type: AppEventType; isNew: boolean }> {
  if (isOwnType(name)) {
    throw new Problem('conflict', { detail: `${name} is a type of this program itself.` })
  }
  const [schemaText, exampleText] = [toText(schema, '/schema'), toText(example, '/example')]
  // Without the lock, two requests at once could both see room for one more.
  await lockUntilCommit(tx, 'event-types')
  const [row] = await tx.sql<TypeRow & { isNew: boolean }>`
    INSERT INTO app_event_types AS t (name, description, schema, example, created_at, updated_at)
    SELECT ${name}, ${description}, ${schemaText}::json, ${exampleText}::json, ${now}, ${now}
    WHERE ${maxAppTypes} > (SELECT count(*) FROM app_event_types o WHERE o.name <> ${name})
    ON CONFLICT (name) DO UPDATE SET
      description = excluded.description, schema = excluded.schema, example = excluded.example,
      updated_at = greatest(excluded.updated_at, t.updated_at + interval '1 millisecond')
    RETURNING ${columns}, (xmax = 0) AS "isNew"`
  if (row === undefined) {
    throw new Problem('conflict', {
      detail: `There are ${maxAppTypes} event types, which is the most.`,
    })
  }
  return { type: toType(row), isNew: row.isNew }
}

/** @throws Problem `malformed` if it is longer than `maxTypeBytes` */
function toText(value: JsonObject | null, pointer: string): string | null {
  if (value === null) return null
  const text = JSON.stringify(value)
  if (Buffer.byteLength(text) <= maxTypeBytes) return text
  const detail = `must have at most ${maxTypeBytes / 1_024} KiB as JSON`
  throw new Problem('malformed', { fields: [{ in: 'body', pointer, detail }] })
}

/** A version of a type: when it began, and whether data is checked; without a schema it is any object. */
export type TypeVersion = { readonly updatedAt: Date; readonly hasSchema: boolean }
type TypeVersions = ReadonlyMap<string, TypeVersion>

export type KnownTypes = {
  /** The versions of these types, by name. */
  of(types: ReadonlyMap<string, AppTypeSchema>): TypeVersions
  /**
   * The versions that were seen last. They are only a hint: the database compares them
   * (require_event_types).
   * @returns null if one of the types is not known
   */
  foresee(names: ReadonlySet<string>): TypeVersions | null
}

/** Remembers the latest version of each type that this process has seen. */
export function createKnownTypes(): KnownTypes {
  const latest = new Map<string, TypeVersion>()
  function versionOf({ name, schema, updatedAt }: AppTypeSchema): TypeVersion {
    const version = { updatedAt, hasSchema: schema !== null }
    latest.set(name, version)
    return version
  }
  return {
    of: (types) => new Map([...types].map(([name, type]) => [name, versionOf(type)])),
    foresee(names) {
      const known = [...names].flatMap((name) => {
        const version = latest.get(name)
        return version === undefined ? [] : [[name, version] as const]
      })
      return known.length < names.size ? null : new Map(known)
    },
  }
}

function toType({
  name,
  description,
  schema,
  example,
  createdAt,
  updatedAt,
}: TypeRow): AppEventType {
  return {
    ...{ name, description, schema, example },
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  }
}
