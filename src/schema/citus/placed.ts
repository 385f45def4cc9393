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

/** Both, for a database that is distributed. */
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

const placements = `
  SELECT w.name, w.kind, t.citus_table_type::text AS found, t.distribution_column AS "column",
    t.colocation_id = (SELECT o.colocation_id FROM citus_tables o
                       WHERE o.table_name = to_regclass('public.${firstTable}')) AS colocated
  FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS w (name, kind, position)
  LEFT JOIN citus_tables t ON t.table_name = to_regclass('public.' || quote_ident(w.name))
  ORDER BY w.position`
