-- The same function, except for how it finds events without a job.
CREATE OR REPLACE FUNCTION "check_ledger"(since timestamptz, before timestamptz, batch integer)
RETURNS TABLE (
  kind text, window_start timestamptz, tenant_id uuid, event_id text, delivery_id uuid,
  endpoint_id uuid, series integer, number integer, detail text
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
  scope_text text;
BEGIN
  -- An id that is known gets 200 as a duplicate, so it must be recorded; and the other way round.
  RETURN QUERY
    SELECT 'event-not-recorded', public.ledger_window(p.created_at), NULL::uuid, p.event_id,
      NULL::uuid, NULL::uuid, NULL::integer, NULL::integer, NULL::text
    FROM public.processed_events p
    WHERE p.created_at >= since AND p.created_at < before
      AND NOT EXISTS (SELECT FROM public.received_events r WHERE r.event_id = p.event_id)
    LIMIT batch;
  RETURN QUERY
    SELECT 'event-not-known', public.ledger_window(r.received_at), NULL::uuid, r.event_id,
      NULL::uuid, NULL::uuid, NULL::integer, NULL::integer, NULL::text
    FROM public.received_events r
    WHERE r.received_at >= since AND r.received_at < before
      AND NOT EXISTS (SELECT FROM public.processed_events p WHERE p.event_id = r.event_id)
    LIMIT batch;
  -- An event that is neither processed nor given up has a job. No index has the event of a job, and a
  -- join without statistics compares every event with every job: EXCEPT reads both once.
  RETURN QUERY
    WITH waiting AS MATERIALIZED (
      SELECT r.event_id FROM public.received_events r
      WHERE r.received_at >= since AND r.received_at < before AND r.status IN ('recorded', 'failed')
    ), lost AS (
      SELECT w.event_id FROM waiting w
      EXCEPT
      SELECT j.data->>'eventId' FROM pgboss.job_common j
      WHERE j.name IN ('billing-event', 'billing-event-dead') AND j.state < 'completed'
        AND EXISTS (SELECT FROM waiting)
      LIMIT batch
    )
    SELECT 'event-without-job', public.ledger_window(r.received_at), NULL::uuid, r.event_id,
      NULL::uuid, NULL::uuid, NULL::integer, NULL::integer, r.status
    FROM lost JOIN public.received_events r ON r.event_id = lost.event_id;
  scope_text := public.set_scope('ledger', '', NULL, NULL);
  -- A delivery that waits has a due attempt, and its endpoint a job; or a job that adds the attempt,
  -- whose id follows from it (delivery/due-attempts.ts). A test event is attempted at once. A delivery
  -- that is held for the rate limit of its endpoint gets its attempt from the drain of the endpoint.
  RETURN QUERY
    SELECT 'delivery-without-job', public.ledger_window(e.created_at), d.tenant_id, d.event_id, d.id,
      d.endpoint_id, d.series, d.attempts + 1, NULL::text
    FROM public.tenant_usage u CROSS JOIN LATERAL (
      SELECT o.id, o.created_at FROM public.outbound_events o
      WHERE o.tenant_id = u.tenant_id AND o.created_at >= since AND o.created_at < before
        AND o.type <> 'endpoint.test' AND NOT o.example) e
    JOIN public.deliveries d ON d.tenant_id = u.tenant_id AND d.event_id = e.id
    WHERE d.status = 'pending' AND d.held_for IS NULL
      AND NOT (
        EXISTS (
          SELECT FROM public.due_attempts a
          WHERE a.tenant_id = d.tenant_id AND a.delivery_id = d.id
            AND a.series = d.series AND a.number = d.attempts + 1)
        AND d.endpoint_id::text IN (
          SELECT j.group_id FROM pgboss.job_common j
          WHERE j.name = 'endpoint-turn' AND j.state < 'completed'))
      AND NOT EXISTS (
        SELECT FROM pgboss.job_common j
        WHERE j.name = 'deliver' AND j.state < 'completed'
          AND j.id = md5(concat_ws(':', d.id, d.series, d.attempts + 1))::uuid)
    LIMIT batch;
  -- An event has a delivery for every endpoint that had chosen its type. Endpoints that have changed
  -- since, or in the minute before, are left out: what they had chosen then is not known.
  RETURN QUERY
    SELECT 'event-without-delivery', public.ledger_window(e.created_at), u.tenant_id, e.id,
      NULL::uuid, p.id, NULL::integer, NULL::integer, e.type
    FROM public.tenant_usage u CROSS JOIN LATERAL (
      SELECT o.id, o.type, o.created_at FROM public.outbound_events o
      WHERE o.tenant_id = u.tenant_id AND o.created_at >= since AND o.created_at < before
        AND o.type <> 'endpoint.test' AND NOT o.example) e
    JOIN public.webhook_endpoints p ON p.tenant_id = u.tenant_id
      AND greatest(p.created_at, p.updated_at) < e.created_at - interval '1 minute'
      AND (p.all_event_types OR e.type = ANY (p.event_types))
    WHERE NOT EXISTS (
      SELECT FROM public.deliveries d
      WHERE d.tenant_id = u.tenant_id AND d.event_id = e.id AND d.endpoint_id = p.id)
    LIMIT batch;
  RETURN QUERY
    SELECT 'window-changed', d.window_start, NULL::uuid, NULL::text, NULL::uuid, NULL::uuid,
      NULL::integer, NULL::integer, format('%s: %s sealed, %s found', d.kind, d.sealed, d.found)
    FROM public.ledger_differences(since, before) d ORDER BY d.window_start LIMIT batch;
  scope_text := public.clear_scope();
END
$$;
