-- Outbound events: publishing, and the order of the event feed.

-- The feed shows events before this position, which is a transaction. It stops before the oldest transaction in
-- progress, so that it never skips a late commit. Inlined in the statement.
CREATE OR REPLACE FUNCTION feed_horizon() RETURNS xid8 LANGUAGE sql STABLE PARALLEL SAFE
RETURN pg_snapshot_xmin(pg_current_snapshot());

-- The body of an event, reduced to the id of its object if the whole body exceeds the tenant's budget.
CREATE OR REPLACE FUNCTION body_within_budget(tenant uuid, body text) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
  budget bigint[] := nullif(current_setting('app.quota', true), '')::bigint[];
  event json := body::json;
BEGIN
  IF EXISTS (
    SELECT FROM public.tenant_usage u WHERE u.tenant_id = tenant
      AND (u.event_rows >= coalesce(u.max_event_rows, budget[3])
        OR u.event_bytes + octet_length(body) > coalesce(u.max_event_bytes, budget[4])))
  THEN
    RETURN json_build_object('id', event -> 'id', 'type', event -> 'type', 'createdAt', event -> 'createdAt',
      'data', json_build_object('id', event -> 'data' -> 'id'));
  END IF;
  RETURN body;
END
$$;

-- Inserts an event, and a delivery with its first attempt for each endpoint that has chosen its type, or for the
-- `chosen` endpoint. A disabled endpoint, and one that is paused without holding deliveries, gets a
-- delivery without an attempt: its `due_at` is NULL.
-- The event of a deletion has only the id of the object once the tenant has used up its budget of events.
CREATE OR REPLACE FUNCTION publish_event(
  tenant uuid, event text, event_type text, event_body text, published_at timestamptz, chosen uuid
) RETURNS TABLE (delivery_id uuid, endpoint_id uuid, due_at timestamptz, wait_seconds float8, priority int, in_turn boolean)
LANGUAGE plpgsql VOLATILE ROWS 3 SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
BEGIN
  IF current_setting('app.deletes', true) = 'on' THEN
    event_body := public.body_within_budget(tenant, event_body);
  END IF;
  RETURN QUERY
    WITH published AS (
      INSERT INTO public.outbound_events (tenant_id, id, type, body, created_at, cause, traceparent)
      VALUES (tenant, event, event_type, event_body, published_at,
        NULLIF(current_setting('app.cause', true), ''),
        NULLIF(current_setting('app.traceparent', true), ''))
    ), endpoint AS (
      -- Takes the lock of the foreign key early, so that an endpoint being deleted is skipped.
      SELECT e.id, s.status, e.in_turn, s.status <> 'disabled' AND s.paused IS DISTINCT FROM 'drop' AS receives
      FROM public.webhook_endpoints e
      JOIN public.endpoint_states s ON s.tenant_id = e.tenant_id AND s.id = e.id
      WHERE e.tenant_id = tenant
        AND CASE WHEN chosen IS NULL THEN e.all_event_types OR event_type = ANY (e.event_types)
            ELSE e.id = chosen END
      FOR KEY SHARE OF e
    ), delivery AS (
      INSERT INTO public.deliveries AS d (tenant_id, event_id, endpoint_id, event_type, status,
        created_at, held_for, next_attempt_at, finished_at)
      SELECT tenant, event, endpoint.id, event_type,
        CASE WHEN endpoint.receives THEN 'pending' ELSE 'exhausted' END, published_at,
        CASE WHEN NOT endpoint.receives THEN 'recovery' END,
        -- Not after now() of the database, in case the clock of the process is ahead.
        CASE WHEN endpoint.receives THEN least(published_at, now()) END,
        CASE WHEN NOT endpoint.receives THEN published_at END
      FROM endpoint
      RETURNING d.id, d.endpoint_id, d.next_attempt_at
    ), scheduled AS (
      INSERT INTO public.due_attempts (tenant_id, delivery_id, endpoint_id, due_at, series, number)
      SELECT tenant, delivery.id, delivery.endpoint_id, delivery.next_attempt_at, 0, 1
      FROM delivery WHERE delivery.next_attempt_at IS NOT NULL
    )
    -- A failing endpoint comes after the others.
    SELECT delivery.id, delivery.endpoint_id, delivery.next_attempt_at, 0::double precision,
      CASE endpoint.status WHEN 'failing' THEN -1 ELSE 0 END, endpoint.in_turn
    FROM delivery JOIN endpoint ON endpoint.id = delivery.endpoint_id;
END
$$;

-- Raises GH001 unless these are types of the app's events, last changed at these times.
CREATE OR REPLACE FUNCTION require_event_types(names text[], changed_at timestamptz[]) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF cardinality(names) > (
    SELECT count(*) FROM unnest(names, changed_at) AS expected (name, changed_at)
    JOIN public.app_event_types t ON t.name = expected.name AND t.updated_at = expected.changed_at)
  THEN
    RAISE EXCEPTION 'a type of events has changed' USING ERRCODE = 'GH001';
  END IF;
  RETURN true;
END
$$;

-- Inserts events of the app and their deliveries as publish_event does, in the order of the arrays. Raises
-- unique_violation if the tenant has an event with one of the ids.
CREATE OR REPLACE FUNCTION publish_app_events(
  tenant uuid, ids text[], event_types text[], bodies text[], published_at timestamptz
) RETURNS TABLE (delivery_id uuid, endpoint_id uuid, due_at timestamptz, wait_seconds float8, priority int, in_turn boolean)
LANGUAGE plpgsql VOLATILE ROWS 100 SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
    WITH event AS MATERIALIZED (
      SELECT * FROM unnest(ids, event_types, bodies) WITH ORDINALITY e ("id", "type", "body", "position")
    ), published AS (
      INSERT INTO public.outbound_events (tenant_id, id, type, body, created_at, cause, traceparent)
      SELECT tenant, event.id, event.type, event.body, published_at,
        NULLIF(current_setting('app.cause', true), ''),
        NULLIF(current_setting('app.traceparent', true), '')
      FROM event ORDER BY event.position
    ), endpoint AS MATERIALIZED (
      SELECT e.id, s.status, e.in_turn, s.status <> 'disabled' AND s.paused IS DISTINCT FROM 'drop' AS receives,
        e.all_event_types, e.event_types AS chosen_types
      FROM public.webhook_endpoints e
      JOIN public.endpoint_states s ON s.tenant_id = e.tenant_id AND s.id = e.id
      WHERE e.tenant_id = tenant AND (e.all_event_types OR e.event_types && publish_app_events.event_types)
      FOR KEY SHARE OF e
    ), delivery AS (
      INSERT INTO public.deliveries AS d (tenant_id, event_id, endpoint_id, event_type, status,
        created_at, held_for, next_attempt_at, finished_at)
      SELECT tenant, event.id, endpoint.id, event.type,
        CASE WHEN endpoint.receives THEN 'pending' ELSE 'exhausted' END, published_at,
        CASE WHEN NOT endpoint.receives THEN 'recovery' END,
        CASE WHEN endpoint.receives THEN least(published_at, now()) END,
        CASE WHEN NOT endpoint.receives THEN published_at END
      FROM event JOIN endpoint ON endpoint.all_event_types OR event.type = ANY (endpoint.chosen_types)
      ORDER BY event.position
      RETURNING d.id, d.endpoint_id, d.next_attempt_at
    ), scheduled AS (
      INSERT INTO public.due_attempts (tenant_id, delivery_id, endpoint_id, due_at, series, number)
      SELECT tenant, delivery.id, delivery.endpoint_id, delivery.next_attempt_at, 0, 1
      FROM delivery WHERE delivery.next_attempt_at IS NOT NULL
    )
    SELECT delivery.id, delivery.endpoint_id, delivery.next_attempt_at, 0::double precision,
      CASE endpoint.status WHEN 'failing' THEN -1 ELSE 0 END, endpoint.in_turn
    FROM delivery JOIN endpoint ON endpoint.id = delivery.endpoint_id;
END
$$;
