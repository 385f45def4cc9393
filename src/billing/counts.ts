import type { Queryable } from '#src/db/system-database.ts'
import { type EventStatus, eventStatuses } from './events.ts'

/** Counted up to here, so that a page stays cheap however much was received. */
export const mostCounted = 10_000

/** How many events are in each state, counted to 10,000 of each. */
export async function countByStatus(
  plane: Queryable,
): Promise<{ status: EventStatus; events: number }[]> {
  // Processed ones are most of the table, the others have an index of their own.
  const { rows } = await plane.query<{ status: EventStatus; events: number }>({
    text: `
      SELECT s.status, CASE WHEN s.status = 'processed' THEN
        (SELECT count(*)::int FROM (
           SELECT FROM received_events WHERE status = 'processed' LIMIT $2) AS done)
      ELSE
        (SELECT count(*)::int FROM (
           SELECT FROM received_events e
           WHERE e.status = s.status AND e.status <> 'processed' LIMIT $2) AS few)
      END AS events
      FROM unnest($1::text[]) WITH ORDINALITY AS s (status, position) ORDER BY s.position`,
    values: [eventStatuses, mostCounted],
  })
  return rows
}
