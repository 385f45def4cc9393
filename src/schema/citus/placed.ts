import type pg from 'pg'
import type { Finding } from '../finding.ts'
import { citusTables, firstTable, isReferenceTable } from './placement.ts'

type Placement = {
  name: string
  kind: 'distributed' | 'reference'
  found: string | null
  column: string | null
  colocated: boolean | null
}

/** The tables of placement.ts that are ordinary ones still. */
export async function findUndistributed(client: pg.ClientBase): Promise<string[]> {
  return (await readPlacements(client)).filter(isUndistributed).map(({ name }) => name)
}

/** Tables that were distributed in another way, by hand. */
export async function findPlacedByHand(client: pg.ClientBase): Promise<Finding[]> {
  const placements = await readPlacements(client)
  return placements.filter((row) => !isUndistributed(row) && !isAsPlanned(row)).map(describe)
}

/** Tables of a distributed database that are not distributed, or not as planned. */
export async function findMisplaced(client: pg.ClientBase): Promise<Finding[]> {
  const undistributed = (await findUndistributed(client)).map((name) => ({
    problem: `The table ${name} is not distributed.`,
    remedy: 'Run `gatehouse migrate --distribute` with DATABASE_OWNER_URL.',
  }))
  return [...undistributed, ...(await findPlacedByHand(client))]
}

async function readPlacements(client: pg.ClientBase): Promise<Placement[]> {
  const kinds = citusTables.map((name) => (isReferenceTable(name) ? 'reference' : 'distributed'))
  const { rows } = await client.query<Placement>(placements, [citusTables, kinds])
  return rows
}

function isUndistributed({ found }: Placement): boolean {
  return found === null
}

function isAsPlanned({ kind, found, column, colocated }: Placement): boolean {
  if (found !== kind) return false
  return kind === 'reference' || (column === 'tenant_id' && colocated === true)
}

function describe({ name, kind }: Placement): Finding {
  const planned = kind === 'reference' ? 'as a reference table' : `by tenant_id, with ${firstTable}`
  return {
    problem: `The table ${name} is not distributed ${planned}.`,
    remedy: `As its owner: SELECT undistribute_table('${name}', cascade_via_foreign_keys => true); then run \`gatehouse migrate --distribute\`.`,
  }
}

/** The view citus_tables would measure every table, over connections that wait for the caller's locks. */
const placements = `
  SELECT w.name, w.kind,
    CASE WHEN p.partmethod = 'h' THEN 'distributed'
         WHEN p.partmethod = 'n' AND p.repmodel = 't' THEN 'reference'
         WHEN p.logicalrelid IS NOT NULL THEN 'other' END AS found,
    column_to_column_name(p.logicalrelid, p.partkey) AS "column",
    p.colocationid = (SELECT o.colocationid FROM pg_dist_partition o
                      WHERE o.logicalrelid = to_regclass('public.${firstTable}')) AS colocated
  FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS w (name, kind, position)
  LEFT JOIN pg_dist_partition p ON p.logicalrelid = to_regclass('public.' || quote_ident(w.name))
  ORDER BY w.position`
