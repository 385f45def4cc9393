import type pg from 'pg'

/** Invariants of deliveries. Each query finds the violations of one. With the tenant, as a cluster needs it. */
const rules: Readonly<Record<string, string>> = {
  'not delivered to an end': `SELECT id FROM deliveries WHERE status = 'pending'`,
  'without a delivery': `SELECT v.id FROM outbound_events v JOIN webhook_endpoints e USING (tenant_id)
    WHERE NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.tenant_id = v.tenant_id
      AND d.event_id = v.id AND d.endpoint_id = e.id)`,
  'attempts with a gap': `SELECT delivery_id AS id FROM delivery_attempts
    GROUP BY tenant_id, delivery_id, series HAVING max(number) <> count(*)`,
  'another number of attempts': `SELECT d.id FROM deliveries d WHERE attempts <>
    (SELECT count(*) FROM delivery_attempts a
     WHERE a.tenant_id = d.tenant_id AND a.delivery_id = d.id AND a.series = d.series)`,
  'attempted past success': `SELECT a.delivery_id AS id FROM delivery_attempts a
    JOIN delivery_attempts b USING (tenant_id, delivery_id, series)
    WHERE a.status_code = 204 AND b.number > a.number`,
  'succeeded without a success': `SELECT id FROM deliveries d WHERE status = 'succeeded' AND NOT EXISTS
    (SELECT 1 FROM delivery_attempts a
     WHERE a.tenant_id = d.tenant_id AND a.delivery_id = d.id AND a.status_code = 204)`,
  'exhausted too early': `SELECT id FROM deliveries WHERE status = 'exhausted' AND attempts < 5`,
  'a due attempt past the end': `SELECT d.id FROM deliveries d JOIN due_attempts a
    ON a.tenant_id = d.tenant_id AND a.delivery_id = d.id WHERE status <> 'pending'`,
  'pending without a due attempt': `SELECT id FROM deliveries d WHERE status = 'pending' AND NOT EXISTS
    (SELECT 1 FROM due_attempts a WHERE a.tenant_id = d.tenant_id AND a.delivery_id = d.id
       AND a.series = d.series AND a.number = d.attempts + 1)`,
  'a due attempt without a job of its endpoint': `SELECT a.delivery_id AS id FROM due_attempts a
    WHERE a.endpoint_id::text NOT IN (SELECT j.group_id FROM pgboss.job j
      WHERE j.name = 'endpoint-turn' AND j.state < 'completed' AND j.group_id IS NOT NULL)`,
}

/** The violations of all invariants, with the ids of the deliveries. */
export async function checkDeliveries(admin: pg.Pool): Promise<string[]> {
  const violations: string[] = []
  for (const [rule, sql] of Object.entries(rules)) {
    const { rows } = await admin.query<{ id: string }>(sql)
    if (rows.length > 0) violations.push(`${rule}: ${rows.map(({ id }) => id).join()}`)
  }
  return violations
}
