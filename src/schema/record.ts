import type pg from 'pg'
import type { Queryable } from '#src/db/system-database.ts'
import { version } from '#src/runtime/assets.ts'
import type { CatalogueObject, Privileges } from './catalogue.ts'
import { type Definitions, type Part, parts, type Subjects } from './definitions.ts'

/** A run of `migrate` that applied definitions. */
type Release = {
  id: string
  version: string
  /** SHA-256 of each part. `subjects`: of the statements about each table or view. */
  files: Readonly<Record<Part, string>> & { readonly subjects?: Subjects }
}

/** What `migrate` left behind, as its tables schema_releases and schema_objects have it. */
export type SchemaRecord = {
  /** The newest last. */
  releases: readonly Release[]
  objects: readonly (CatalogueObject & { part: Part })[]
  /** By role, and `PUBLIC`. */
  privileges: ReadonlyMap<string, Privileges>
}

/** @returns null if no release has been recorded */
export async function readRecord(client: pg.ClientBase): Promise<SchemaRecord | null> {
  const { rows: releases } = await client.query<Release>(
    'SELECT id, version, files FROM schema_releases ORDER BY id',
  )
  if (releases.length === 0) return null
  const { rows } = await client.query<Row>('SELECT kind, name, part, facts FROM schema_objects')
  return {
    releases,
    objects: rows
      .filter((row) => row.kind !== 'privileges')
      .map(({ kind, name, part, facts }) => ({ kind, name, part, ...facts })),
    privileges: new Map(
      rows.filter((row) => row.kind === 'privileges').map(({ name, facts }) => [name, facts]),
    ),
  }
}

type Row =
  | { kind: CatalogueObject['kind']; name: string; part: Part; facts: Recorded }
  | { kind: 'privileges'; name: string; part: Part; facts: Privileges }
type Recorded = Pick<CatalogueObject, 'table' | 'facts'>

/** The release that last ran `migrate`. @returns null if none has been recorded */
export async function findSchemaVersion({ sql }: Pick<Queryable, 'sql'>): Promise<string | null> {
  const [newest] = await sql<{ version: string }>`
    SELECT version FROM schema_releases ORDER BY id DESC LIMIT 1`
  return newest?.version ?? null
}

/** Replaces the objects of a part. */
export async function recordObjects(
  owner: pg.ClientBase,
  part: Part,
  objects: readonly CatalogueObject[],
): Promise<void> {
  await forgetObjects(owner, [part])
  await addObjects(owner, part, objects)
}

export async function forgetObjects(owner: pg.ClientBase, of: readonly Part[]): Promise<void> {
  await owner.query('DELETE FROM schema_objects WHERE part = ANY ($1)', [of])
}

/** Adds to the objects of a part those that it does not have. */
export async function addObjects(
  owner: pg.ClientBase,
  part: Part,
  objects: readonly CatalogueObject[],
): Promise<void> {
  await owner.query(
    `INSERT INTO schema_objects (kind, name, part, facts)
     SELECT o.kind, o.name, $1, json_build_object('table', o.table, 'facts', o.facts)
     FROM json_to_recordset($2) AS o (kind text, name text, "table" text, facts json)`,
    [part, JSON.stringify(objects)],
  )
}

export async function recordPrivileges(
  owner: pg.ClientBase,
  role: string,
  privileges: Privileges,
): Promise<void> {
  await owner.query(
    `INSERT INTO schema_objects (kind, name, part, facts) VALUES ('privileges', $1, 'privileges', $2)
     ON CONFLICT (kind, name) DO UPDATE SET facts = excluded.facts`,
    [role, JSON.stringify(privileges)],
  )
}

export async function recordRelease(owner: pg.ClientBase, definitions: Definitions): Promise<void> {
  const { digests, subjects } = definitions
  await owner.query('INSERT INTO schema_releases (version, files) VALUES ($1, $2)', [
    version,
    JSON.stringify({ ...digests, subjects }),
  ])
}

/**
 * How the newest recorded release relates to this program: `same` files; a `newer` release, on whose
 * database this program may run; or `other` files, which `migrate` replaces.
 * @param ahead whether the database has migrations that this program does not know
 */
export function compareRelease(
  { releases }: SchemaRecord,
  own: Definitions,
  ahead: boolean,
): 'same' | 'newer' | 'other' {
  const newest = releases.at(-1)
  if (newest !== undefined && isSame(newest, own)) return 'same'
  if (ahead || (newest !== undefined && isNewer(newest.version))) return 'newer'
  return 'other'
}

/** Whether some earlier run of `migrate` applied the same files. */
export function wasApplied({ releases }: SchemaRecord, own: Definitions): boolean {
  return releases.some((release) => isSame(release, own))
}

function isSame({ files }: Release, { digests }: Definitions): boolean {
  return parts.every((part) => files[part] === digests[part])
}

function isNewer(other: string): boolean {
  const numbers = (text: string) => text.split('.').map(Number)
  const own = numbers(version)
  const position = numbers(other).findIndex((number, index) => number !== own[index])
  return position !== -1 && (numbers(other)[position] ?? 0) > (own[position] ?? 0)
}
