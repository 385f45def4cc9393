-- Outbound events: publishing, and the order of the event feed.

-- Events of a tenant become visible in the order of their positions, so the feed has no horizon.
CREATE OR REPLACE FUNCTION feed_horizon() RETURNS xid8
LANGUAGE sql STABLE PARALLEL SAFE
RETURN '18446744073709551615'::xid8;

-- Inserts an event, and a delivery with its first attempt for each endpoint that has chosen its type, or for the
-- `chosen` endpoint. A disabled endpoint, and one that is paused without holding deliveries, gets a
-- delivery without an attempt: its `due_at` is NULL.
-- The event of a deletion has only the id of the object once the tenant has used up its budget of events.
CREATE OR REPLACE FUNCTION publish_event(
  tenant uuid, event text, event_type text, event_body text, published_at timestamptz, chosen uuid
) RETURNS TABLE (
  delivery_id uuid, endpoint_id uuid, due_at timestamptz, wait_seconds double precision,
  priority integer, in_turn boolean
)
LANGUAGE plpgsql VOLATILE ROWS 3 AS $$
#variable_conflict use_column
DECLARE
  entered_cause text := NULLIF(current_setting('app.cause', true), '');
  entered_trace text := NULLIF(current_setting('app.traceparent', true), '');
  -- Not after now() of the database, in case the clock of the process is ahead.
  first_at timestamptz := least(published_at, now());
  endpoints uuid[];
  turns uuid[];
  failing uuid[];
BEGIN
  -- By its type: the trigger that sets app.deletes runs on the node.
  IF event_type LIKE '%.deleted' THEN
    event_body := public.body_within_budget(tenant, event_body);
  END IF;
  INSERT INTO public.outbound_events (tenant_id, id, type, body, created_at, cause, traceparent)
    VALUES (tenant, event, event_type, event_body, published_at, entered_cause,
      entered_trace);
  -- Takes the lock of the foreign key early, so that an endpoint being deleted is skipped.
  SELECT array_agg(p.id), array_agg(p.id) FILTER (WHERE p.in_turn),
      array_agg(p.id) FILTER (WHERE p.status = 'failing')
    INTO endpoints, turns, failing
    FROM (
      SELECT e.id, e.in_turn, s.status FROM public.webhook_endpoints e
      JOIN public.endpoint_states s ON s.tenant_id = e.tenant_id AND s.id = e.id
      WHERE e.tenant_id = tenant
        AND CASE WHEN chosen IS NULL THEN e.all_event_types OR event_type = ANY (e.event_types)
            ELSE e.id = chosen END
      FOR KEY SHARE OF e) p;
  IF endpoints IS NULL THEN RETURN; END IF;
  wait_seconds := 0;
  FOR delivery_id, endpoint_id, due_at IN
    INSERT INTO public.deliveries AS d (tenant_id, id, event_id, endpoint_id, event_type, status,
      created_at, held_for, next_attempt_at, finished_at)
    SELECT s.tenant_id, gen_random_uuid(), event, s.id, event_type,
      CASE WHEN r.receives THEN 'pending' ELSE 'exhausted' END, published_at,
      CASE WHEN NOT r.receives THEN 'recovery' END,
      CASE WHEN r.receives THEN first_at END,
      CASE WHEN NOT r.receives THEN published_at END
    FROM public.endpoint_states s
    CROSS JOIN LATERAL (
      SELECT s.status <> 'disabled' AND s.paused IS DISTINCT FROM 'drop' AS receives) r
    WHERE s.tenant_id = tenant AND s.id = ANY (endpoints)
    RETURNING d.id, d.endpoint_id, d.next_attempt_at
  LOOP
    -- A failing endpoint comes after the others.
    priority := CASE WHEN endpoint_id = ANY (failing) THEN -1 ELSE 0 END;
    in_turn := coalesce(endpoint_id = ANY (turns), false);
    RETURN NEXT;
  END LOOP;
  INSERT INTO public.due_attempts (tenant_id, delivery_id, endpoint_id, due_at, series, number)
    SELECT d.tenant_id, d.id, d.endpoint_id, d.next_attempt_at, 0, 1
    FROM public.deliveries d
    WHERE d.tenant_id = tenant AND d.event_id = event AND d.status = 'pending';
END
$$;

-- Inserts events of the app and their deliveries as publish_event does, in the order of the arrays. Raises
-- unique_violation if the tenant has an event with one of the ids.
CREATE OR REPLACE FUNCTION publish_app_events(
  tenant uuid, ids text[], event_types text[], bodies text[], published_at timestamptz
) RETURNS TABLE (
  delivery_id uuid, endpoint_id uuid, due_at timestamptz, wait_seconds double precision,
  priority integer, in_turn boolean
)
LANGUAGE plpgsql VOLATILE ROWS 100 AS $$
#variable_conflict use_column
DECLARE
  item integer;
BEGIN
  FOR item IN 1 .. cardinality(ids) LOOP
    RETURN QUERY SELECT * FROM public.publish_event(
      tenant, ids[item], event_types[item], bodies[item], published_at, NULL);
  END LOOP;
END
$$;
