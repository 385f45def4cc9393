-- Operations: quarantine of a copied database, and tracing one thing through all tenants.

-- Identifies the cluster, whose standbys have the same identifier, and the database in it.
CREATE OR REPLACE FUNCTION installation_place() RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
RETURN (SELECT c.system_identifier FROM pg_control_system() c) || '/' ||
       (SELECT d.oid FROM pg_database d WHERE d.datname = current_database());

-- Why and since when workers must not work; NULLs if they may. With `record`, as workers call it, it stores the place
-- the first time, and a quarantine once the database is in another place. It writes nothing else, so workers may call
-- it often.
CREATE OR REPLACE FUNCTION installation_state(record boolean, OUT quarantined_at timestamptz, OUT reason text)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  here text := public.installation_place();
  noted text;
BEGIN
  SELECT i.place, i.quarantined_at, i.reason INTO noted, quarantined_at, reason FROM public.installation i;
  IF noted IS NULL AND record THEN
    INSERT INTO public.installation (place) VALUES (here) ON CONFLICT DO NOTHING;
  ELSIF noted <> here AND quarantined_at IS NULL THEN
    quarantined_at := now();
    reason := 'copied';
    IF record THEN
      UPDATE public.installation i
        SET quarantined_at = installation_state.quarantined_at, reason = installation_state.reason
        WHERE i.quarantined_at IS NULL;
    END IF;
  END IF;
END
$$;

-- Ends a quarantine: workers may work on this database.
CREATE OR REPLACE FUNCTION adopt_installation() RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO public.installation (place) VALUES (public.installation_place())
    ON CONFLICT (id) DO UPDATE SET place = excluded.place, quarantined_at = NULL, reason = NULL;
END
$$;

-- Quarantines a copy by hand, if it has the same identity as the original: a base backup, a snapshot of a disk.
CREATE OR REPLACE FUNCTION quarantine_installation() RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO public.installation AS i (place, quarantined_at, reason)
    VALUES (public.installation_place(), now(), 'by-hand')
    ON CONFLICT (id) DO UPDATE SET quarantined_at = now(), reason = 'by-hand'
    WHERE i.quarantined_at IS NULL;
END
$$;

-- Events of all tenants with one of these causes, this id or this delivery: one look-up per tenant. Sets no scope.
CREATE OR REPLACE FUNCTION trace_outgoing(causes text[], message text, delivery uuid, batch integer)
RETURNS TABLE (kind text, tenant_id uuid, event_id text)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
BEGIN
  PERFORM public.set_scope('trace', '', NULL, NULL);
  RETURN QUERY
    SELECT found.kind, found.tenant_id, found.event_id
    FROM public.tenant_usage u CROSS JOIN LATERAL (
      SELECT 'message' AS kind, e.tenant_id, e.id AS event_id
        FROM public.outbound_events e WHERE e.tenant_id = u.tenant_id AND e.id = message
      UNION ALL
      SELECT 'delivery', d.tenant_id, d.event_id
        FROM public.deliveries d WHERE d.tenant_id = u.tenant_id AND d.id = delivery
      UNION ALL
      SELECT 'cause', e.tenant_id, e.id
        FROM public.outbound_events e WHERE e.tenant_id = u.tenant_id AND e.cause = ANY (causes)
    ) found
    LIMIT batch;
  PERFORM public.clear_scope();
END
$$;

-- An event with its deliveries or one of them, their attempts, and replays whose range contains it. Omits payloads,
-- URLs and responses. Sets no scope.
CREATE OR REPLACE FUNCTION trace_event(tenant uuid, event text, delivery uuid, batch integer)
RETURNS TABLE (at timestamptz, kind text, facts jsonb)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
  scope_text text;
BEGIN
  scope_text := public.set_scope('trace', '', NULL, tenant);
  RETURN QUERY
    WITH chosen AS (
      SELECT * FROM public.deliveries d
      WHERE d.tenant_id = tenant AND d.event_id = event AND (delivery IS NULL OR d.id = delivery)
    )
    SELECT * FROM (
      SELECT e.created_at AS at, 'event published' AS kind, jsonb_build_object(
          'messageId', e.id, 'tenantId', e.tenant_id, 'type', e.type, 'cause', e.cause,
          'traceparent', e.traceparent) AS facts
        FROM public.outbound_events e WHERE e.tenant_id = tenant AND e.id = event
      UNION ALL
      SELECT d.created_at, 'delivery created', jsonb_build_object(
          'deliveryId', d.id, 'endpointId', d.endpoint_id, 'status', d.status,
          'nextAttemptAt', d.next_attempt_at)
        FROM chosen d
      UNION ALL
      SELECT a.started_at, 'delivery attempt', jsonb_build_object(
          'deliveryId', d.id, 'endpointId', d.endpoint_id, 'series', a.series, 'attempt', a.number,
          'statusCode', a.status_code, 'ms', a.duration_ms, 'failure', a.cause)
        FROM chosen d JOIN public.delivery_attempts a
          ON a.tenant_id = tenant AND a.delivery_id = d.id
      UNION ALL
      SELECT d.finished_at, 'delivery ' || d.status, jsonb_build_object(
          'deliveryId', d.id, 'endpointId', d.endpoint_id)
        FROM chosen d WHERE d.finished_at IS NOT NULL
      UNION ALL
      SELECT r.created_at, 'replay of a range', jsonb_build_object(
          'replayId', r.id, 'endpointId', r.endpoint_id, 'status', r.status,
          'finishedAt', r.finished_at)
        FROM public.endpoint_replays r JOIN chosen d
          ON r.tenant_id = tenant AND r.endpoint_id = d.endpoint_id
          AND d.created_at >= r.replay_from AND d.created_at < r.replay_to
    ) entry ORDER BY entry.at LIMIT batch;
  scope_text := public.clear_scope();
END
$$;

-- Audit entries of requests, or of a tenant about these ids. Omits addresses and user agents. Sets no scope.
CREATE OR REPLACE FUNCTION trace_audit(requests uuid[], tenant uuid, targets text[], batch integer)
RETURNS TABLE (at timestamptz, facts jsonb)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
  scope_text text;
BEGIN
  scope_text := public.set_scope('trace', '', NULL, NULL);
  RETURN QUERY
    SELECT a.at, jsonb_build_object('id', a.id, 'action', a.action, 'outcome', a.outcome,
        'reason', a.reason, 'target', a.target, 'userId', a.user_id, 'tenantId', a.tenant_id,
        'requestId', a.request_id)
    FROM public.audit_log a
    WHERE a.request_id = ANY (requests) OR a.tenant_id = tenant AND a.target = ANY (targets)
    ORDER BY a.id LIMIT batch;
  scope_text := public.clear_scope();
END
$$;

-- For scheduled jobs of the app: the ids of the open tenants after this one, in their order.
CREATE OR REPLACE FUNCTION list_open_tenants(tenant_after uuid, batch integer) RETURNS SETOF uuid
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT t.id FROM public.tenants t
  WHERE t.id > tenant_after AND t.closed_at IS NULL ORDER BY t.id LIMIT batch
$$;
