import type pg from 'pg'

/** The event ids that senders saw acknowledged with 200, and the others. */
export type History = { acknowledged: ReadonlySet<string>; sent: ReadonlySet<string> }

/**
 * Compares the database with the responses that senders got.
 * @returns the violations; none if every event with a 200 exists once and took effect once
 */
export async function checkHistory(admin: pg.Pool, history: History): Promise<string[]> {
  const ids = async (sql: string) => {
    const { rows } = await admin.query<{ id: string }>(sql)
    return rows.map(({ id }) => id)
  }
  const known = await ids('SELECT event_id AS id FROM processed_events')
  const received = await ids('SELECT event_id AS id FROM received_events')
  const effects = await ids('SELECT source_event AS id FROM invoices')
  const unsettled = await ids(
    `SELECT event_id AS id FROM received_events WHERE status <> 'processed'`,
  )
  const jobs = await ids(
    `SELECT data->>'eventId' AS id FROM pgboss.job WHERE name = 'billing-event'`,
  )
  const violations: string[] = []
  const report = (what: string, which: readonly string[]) => {
    if (which.length > 0) violations.push(`${what}: ${which.slice(0, 5).join(', ')}`)
  }
  const acknowledged = [...history.acknowledged]
  report('acknowledged, but not recorded', missing(acknowledged, received))
  report('acknowledged, but without effect', missing(acknowledged, effects))
  report('took effect more than once', doubled(effects))
  report('has more than one job', doubled(jobs))
  report('recorded without a job', missing(received, jobs))
  report('known, but not recorded', missing(known, received))
  report('recorded, but not known', missing(received, known))
  report('recorded, but never sent', missing(received, [...history.sent]))
  report('not processed', unsettled)
  return violations
}

function missing(from: readonly string[], inside: readonly string[]): string[] {
  const there = new Set(inside)
  return from.filter((id) => !there.has(id))
}

function doubled(ids: readonly string[]): string[] {
  return ids.filter((id, index) => ids.indexOf(id) !== index)
}
