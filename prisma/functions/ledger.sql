-- The ledger: whether each published event and each delivery is accounted for (src/ledger).

-- Among the events published from `since` until `before`: pending deliveries that no job would ever attempt, and events
-- without a delivery for an endpoint that had chosen their type. At most `batch` of each kind. An endpoint that has
-- changed since the event, or in the minute before, is left out, because its types at that time are unknown. Sets no
-- scope.
--
-- The jobs are read first, into arrays, since a cluster cannot join rows of its nodes with the table of jobs. Planned
-- with its values, a long array is compared by hash.
CREATE OR REPLACE FUNCTION check_deliveries(since timestamptz, before timestamptz, batch integer)
RETURNS TABLE (
  kind text, at timestamptz, tenant_id uuid, event_id text, delivery_id uuid, endpoint_id uuid,
  series integer, number integer, detail text
) LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
  turns text[] := ARRAY(
    SELECT DISTINCT j.group_id FROM pgboss.job_common j WHERE j.name = 'endpoint-turn' AND j.state < 'completed');
  lost uuid[] := ARRAY(
    SELECT j.id FROM pgboss.job_common j WHERE j.name = 'deliver' AND j.state < 'completed');
  scope_text text;
BEGIN
  PERFORM set_config('plan_cache_mode', 'force_custom_plan', true);
  scope_text := public.set_scope('ledger', '', NULL, NULL);
  -- A pending delivery has a due attempt and its endpoint has a job, or a job will add the attempt: its id is made from
  -- the id, the series and the number (src/webhooks/schedule/due-attempts.ts). A test event is attempted at once. A
  -- delivery held for the rate limit of its endpoint gets its attempt when it is released. Deliveries to a deleted
  -- endpoint wait for their deletion.
  RETURN QUERY
    SELECT 'delivery-without-job', e.created_at, d.tenant_id, d.event_id, d.id,
      d.endpoint_id, d.series, d.attempts + 1, NULL::text
    FROM public.tenant_usage u CROSS JOIN LATERAL (
      SELECT o.id, o.created_at FROM public.outbound_events o
      WHERE o.tenant_id = u.tenant_id AND o.created_at >= since AND o.created_at < before
        AND o.type <> 'endpoint.test' AND NOT o.example) e
    JOIN public.deliveries d ON d.tenant_id = u.tenant_id AND d.event_id = e.id
    WHERE d.status = 'pending' AND d.held_for IS NULL
      AND EXISTS (SELECT 1 FROM public.webhook_endpoints p WHERE p.tenant_id = d.tenant_id AND p.id = d.endpoint_id)
      AND NOT (
        EXISTS (
          SELECT 1 FROM public.due_attempts a
          WHERE a.tenant_id = d.tenant_id AND a.delivery_id = d.id
            AND a.series = d.series AND a.number = d.attempts + 1)
        AND d.endpoint_id::text = ANY (turns))
      AND md5(concat_ws(':', d.id, d.series, d.attempts + 1))::uuid <> ALL (lost)
    LIMIT batch;
  RETURN QUERY
    SELECT 'event-without-delivery', e.created_at, u.tenant_id, e.id,
      NULL::uuid, p.id, NULL::integer, NULL::integer, e.type
    FROM public.tenant_usage u CROSS JOIN LATERAL (
      SELECT o.id, o.type, o.created_at FROM public.outbound_events o
      WHERE o.tenant_id = u.tenant_id AND o.created_at >= since AND o.created_at < before
        AND o.type <> 'endpoint.test' AND NOT o.example) e
    JOIN public.webhook_endpoints p ON p.tenant_id = u.tenant_id
      AND greatest(p.created_at, p.updated_at) < e.created_at - interval '1 minute'
      AND (p.all_event_types OR e.type = ANY (p.event_types))
    WHERE NOT EXISTS (
      SELECT 1 FROM public.deliveries d
      WHERE d.tenant_id = u.tenant_id AND d.event_id = e.id AND d.endpoint_id = p.id)
    LIMIT batch;
  scope_text := public.clear_scope();
END
$$;

-- The findings of the newest check about the tenant of the scope. No row without a tenant or a check.
CREATE OR REPLACE FUNCTION own_unaccounted() RETURNS TABLE (checked_at timestamptz, partial boolean, findings integer)
LANGUAGE sql STABLE SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
  SELECT c.checked_at, c.partial, coalesce((c.tenants -> public.current_tenant_id()::text)::integer, 0)
  FROM (SELECT * FROM public.ledger_checks l ORDER BY l.id DESC LIMIT 1) c
  WHERE public.current_tenant_id() IS NOT NULL
$$;

-- For operators: tenants with findings of the newest check, most findings first.
CREATE OR REPLACE FUNCTION unaccounted_tenants(batch integer)
RETURNS TABLE (tenant_id uuid, findings integer)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
BEGIN
  PERFORM public.operator_user_id();
  RETURN QUERY
    SELECT t.key::uuid, t.value::integer
    FROM (SELECT l.tenants FROM public.ledger_checks l ORDER BY l.id DESC LIMIT 1) c
    CROSS JOIN LATERAL jsonb_each_text(c.tenants) t
    ORDER BY t.value::integer DESC, t.key LIMIT batch;
END
$$;
