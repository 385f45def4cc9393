-- The statements that add due attempts, as functions. They read and write rows of one tenant alone; the
-- jobs of the endpoints are in a table of another kind, and the statement that calls the function adds
-- them (src/webhooks/delivery/due-attempts.ts). So a database that is distributed by tenant with Citus can
-- run them, in some cases with another body (src/schema/citus/functions.sql). All run with the privileges
-- and policies of the caller. Generic plans: with arrays as parameters the planner would otherwise plan
-- anew at each call, which costs more than running it.

-- Adds the due attempts of deliveries that are pending, or changes those that they have.
--
-- `in_turn` is read under a lock on the endpoint's row: a turn does not end meanwhile
-- (src/webhooks/delivery/end-turns.ts).
CREATE FUNCTION "schedule_attempts"(
  tenant uuid, deliveries uuid[], within_limit boolean, scheduled_at timestamptz
) RETURNS TABLE (
  delivery_id uuid, endpoint_id uuid, due_at timestamptz, wait_seconds double precision,
  priority integer, in_turn boolean
)
LANGUAGE plpgsql VOLATILE ROWS 10
SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
    WITH pending AS MATERIALIZED (
      SELECT d.id, d.endpoint_id, coalesce(d.next_attempt_at, d.created_at) AS due_at, d.series,
        d.attempts, e.in_turn
      FROM public.deliveries d
      JOIN public.webhook_endpoints e ON e.tenant_id = d.tenant_id AND e.id = d.endpoint_id
      WHERE d.tenant_id = tenant AND d.id = ANY (deliveries) AND d.status = 'pending'
      FOR KEY SHARE OF e
    ), scheduled AS (
      INSERT INTO public.due_attempts (tenant_id, delivery_id, endpoint_id, due_at, series, number, released)
      SELECT tenant, p.id, p.endpoint_id, p.due_at, p.series, p.attempts + 1, within_limit FROM pending p
      ON CONFLICT (tenant_id, delivery_id) DO UPDATE
        SET due_at = excluded.due_at, series = excluded.series, number = excluded.number,
          released = excluded.released
    )
    SELECT p.id, p.endpoint_id, p.due_at,
      greatest(extract(epoch FROM p.due_at - scheduled_at), 0)::double precision, 0, p.in_turn
    FROM pending p;
END
$$;

-- Inserts an event, and a delivery with its first attempt for every endpoint of the tenant that has
-- chosen its type, or for one endpoint alone. A disabled endpoint gets a delivery without an attempt:
-- its `due_at` is null.
CREATE FUNCTION "publish_event"(
  tenant uuid, event text, event_type text, event_body text, published_at timestamptz, chosen uuid
) RETURNS TABLE (
  delivery_id uuid, endpoint_id uuid, due_at timestamptz, wait_seconds double precision,
  priority integer, in_turn boolean
)
LANGUAGE plpgsql VOLATILE ROWS 3
SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
    WITH published AS (
      INSERT INTO public.outbound_events (tenant_id, id, type, body, created_at, cause, traceparent)
      VALUES (tenant, event, event_type, event_body, published_at,
        NULLIF(current_setting('app.cause', true), ''),
        NULLIF(current_setting('app.traceparent', true), ''))
    ), endpoint AS (
      -- Takes the lock of the foreign key early, so that an endpoint being deleted is left out.
      SELECT e.id, e.status, e.in_turn FROM public.webhook_endpoints e
      WHERE e.tenant_id = tenant
        AND CASE WHEN chosen IS NULL THEN e.all_event_types OR event_type = ANY (e.event_types)
            ELSE e.id = chosen END
      FOR KEY SHARE
    ), delivery AS (
      INSERT INTO public.deliveries AS d (tenant_id, event_id, endpoint_id, event_type, status,
        created_at, held_for, next_attempt_at, finished_at)
      SELECT tenant, event, endpoint.id, event_type,
        CASE endpoint.status WHEN 'disabled' THEN 'exhausted' ELSE 'pending' END, published_at,
        CASE endpoint.status WHEN 'disabled' THEN 'recovery' END,
        -- Also by the clock of the database, in case the process is ahead of the worker.
        CASE WHEN endpoint.status <> 'disabled' THEN least(published_at, now()) END,
        CASE WHEN endpoint.status = 'disabled' THEN published_at END
      FROM endpoint
      RETURNING d.id, d.endpoint_id, d.next_attempt_at
    ), scheduled AS (
      INSERT INTO public.due_attempts (tenant_id, delivery_id, endpoint_id, due_at, series, number)
      SELECT tenant, delivery.id, delivery.endpoint_id, delivery.next_attempt_at, 0, 1
      FROM delivery WHERE delivery.next_attempt_at IS NOT NULL
    )
    -- A failing endpoint has its turn after the others.
    SELECT delivery.id, delivery.endpoint_id, delivery.next_attempt_at, 0::double precision,
      CASE endpoint.status WHEN 'failing' THEN -1 ELSE 0 END, endpoint.in_turn
    FROM delivery JOIN endpoint ON endpoint.id = delivery.endpoint_id;
END
$$;

-- Records what became of due attempts: attempts, states of deliveries, the next attempts, and the end of
-- these. A delivery that has changed in the meantime is left alone. Returns the deliveries that were
-- changed; `due_at` is null for one that has no next attempt.
--
-- `ids` are those of `changes`, so that the primary key finds them, whatever is known of the table.
CREATE FUNCTION "record_outcomes"(
  tenant uuid, ids uuid[], changes json, recorded_at timestamptz
) RETURNS TABLE (
  delivery_id uuid, endpoint_id uuid, due_at timestamptz, wait_seconds double precision,
  priority integer, in_turn boolean
)
LANGUAGE plpgsql VOLATILE ROWS 10
SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  retried uuid[];
  low uuid[];
BEGIN
  FOR delivery_id, endpoint_id, due_at, priority IN
    WITH change AS MATERIALIZED (
      SELECT * FROM json_to_recordset(changes) AS one (
        delivery_id uuid, series integer, number integer, before integer, after integer, status text,
        next_attempt_at timestamptz, finished_at timestamptz, priority integer,
        started_at timestamptz, duration_ms integer, status_code integer, error text, cause text,
        response_excerpt text, unusual_status integer, unusual_class integer)
    ), updated AS (
      UPDATE public.deliveries d SET status = change.status, attempts = change.after,
        held_for = CASE change.status WHEN 'exhausted' THEN 'recovery' END,
        next_attempt_at = change.next_attempt_at, finished_at = change.finished_at,
        http_status = CASE WHEN change.started_at IS NULL THEN d.http_status
          ELSE coalesce(change.status_code, 0) END,
        unusual_status = CASE WHEN change.started_at IS NULL THEN d.unusual_status
          ELSE change.unusual_status END,
        unusual_class = CASE WHEN change.started_at IS NULL THEN d.unusual_class
          ELSE change.unusual_class END,
        stored_attempts = d.stored_attempts + (change.started_at IS NOT NULL)::int,
        stored_bytes = d.stored_bytes
          + octet_length(concat(change.error, change.cause, change.response_excerpt))
      FROM change
      WHERE d.tenant_id = tenant AND d.id = ANY (ids) AND d.id = change.delivery_id
        AND d.status = 'pending' AND d.series = change.series AND d.attempts = change.before
        AND change.status IS NOT NULL
      RETURNING d.endpoint_id, change.*
    ), attempt AS (
      INSERT INTO public.delivery_attempts (tenant_id, delivery_id, series, number, started_at,
        duration_ms, status_code, error, cause, response_excerpt)
      SELECT tenant, u.delivery_id, u.series, u.after, u.started_at, u.duration_ms, u.status_code,
        u.error, u.cause, u.response_excerpt
      FROM updated u WHERE u.started_at IS NOT NULL
    ), ended AS (
      -- Not those that are changed below. They are locked after their deliveries, as everywhere.
      DELETE FROM public.due_attempts a USING change
      WHERE a.tenant_id = tenant AND a.delivery_id = ANY (ids) AND a.delivery_id = change.delivery_id
        AND a.series = change.series AND a.number = change.number
        AND (change.next_attempt_at IS NULL
          OR change.delivery_id NOT IN (SELECT u.delivery_id FROM updated u))
    )
    SELECT u.delivery_id, u.endpoint_id, u.next_attempt_at, u.priority FROM updated u
  LOOP
    IF due_at IS NULL THEN RETURN NEXT;
    ELSE
      retried := retried || delivery_id;
      IF priority < 0 THEN low := low || delivery_id; END IF;
    END IF;
  END LOOP;
  IF retried IS NULL THEN RETURN; END IF;
  RETURN QUERY
    SELECT s.delivery_id, s.endpoint_id, s.due_at, s.wait_seconds,
      CASE WHEN s.delivery_id = ANY (low) THEN -1 ELSE 0 END, s.in_turn
    FROM public.schedule_attempts(tenant, retried, false, recorded_at) s;
END
$$;

-- Starts a new series of deliveries (src/webhooks/delivery/replays.ts). Skips those to a disabled
-- endpoint, and those whose series has made no attempt yet. All of them stay locked.
CREATE FUNCTION "start_series"(tenant uuid, deliveries uuid[], started_at timestamptz)
RETURNS TABLE (
  delivery_id uuid, endpoint_id uuid, due_at timestamptz, wait_seconds double precision,
  priority integer, in_turn boolean
)
LANGUAGE plpgsql VOLATILE ROWS 10
SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  startable uuid[];
BEGIN
  SELECT array_agg(c.id) FILTER (WHERE c.startable) INTO startable FROM (
    SELECT d.id, e.status <> 'disabled' AND (d.status <> 'pending' OR d.attempts > 0) AS startable
    FROM public.deliveries d
    JOIN public.webhook_endpoints e ON e.tenant_id = d.tenant_id AND e.id = d.endpoint_id
    WHERE d.tenant_id = tenant AND d.id = ANY (deliveries)
    ORDER BY d.id FOR UPDATE OF d FOR KEY SHARE OF e) c;
  IF startable IS NULL THEN RETURN; END IF;
  UPDATE public.deliveries d
    SET status = 'pending', series = d.series + 1, attempts = 0, next_attempt_at = started_at,
      finished_at = NULL, held_for = NULL
    WHERE d.tenant_id = tenant AND d.id = ANY (startable);
  RETURN QUERY SELECT s.* FROM public.schedule_attempts(tenant, startable, false, started_at) s;
END
$$;

-- The deliveries that wait for the recovery of an endpoint, oldest first, locked. What failed before it
-- was enabled by hand is left to a replay. The bound on `created_at` is for the index: a delivery that
-- was older than a day when it failed is left to a replay too (src/webhooks/delivery/trial.ts).
CREATE FUNCTION "lock_waiting_deliveries"(tenant uuid, endpoint uuid, wanted integer) RETURNS uuid[]
LANGUAGE plpgsql VOLATILE
SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  waiting uuid[];
BEGIN
  SELECT array_agg(w.id) INTO waiting FROM (
    SELECT d.id FROM public.deliveries d
    JOIN public.webhook_endpoints e ON e.tenant_id = d.tenant_id AND e.id = d.endpoint_id
    WHERE d.tenant_id = tenant AND d.endpoint_id = endpoint
      AND d.held_for = 'recovery' AND d.status = 'exhausted' AND d.finished_at > e.enabled_at
      AND d.created_at >= e.enabled_at - interval '1 day'
    ORDER BY d.created_at LIMIT wanted FOR UPDATE OF d) w;
  RETURN waiting;
END
$$;

-- One more attempt of the oldest delivery that waits for the recovery of an endpoint.
CREATE FUNCTION "start_trial"(tenant uuid, endpoint uuid, started_at timestamptz)
RETURNS TABLE (
  delivery_id uuid, endpoint_id uuid, due_at timestamptz, wait_seconds double precision,
  priority integer, in_turn boolean
)
LANGUAGE plpgsql VOLATILE ROWS 1
SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  oldest uuid[] := public.lock_waiting_deliveries(tenant, endpoint, 1);
BEGIN
  IF oldest IS NULL THEN RETURN; END IF;
  UPDATE public.deliveries d
    SET status = 'pending', held_for = NULL, finished_at = NULL, next_attempt_at = started_at
    WHERE d.tenant_id = tenant AND d.id = ANY (oldest);
  RETURN QUERY SELECT s.* FROM public.schedule_attempts(tenant, oldest, true, started_at) s;
END
$$;

-- Gives deliveries that waited for the recovery of an endpoint a new series.
CREATE FUNCTION "release_waiting"(tenant uuid, endpoint uuid, wanted integer, released_at timestamptz)
RETURNS TABLE (
  delivery_id uuid, endpoint_id uuid, due_at timestamptz, wait_seconds double precision,
  priority integer, in_turn boolean
)
LANGUAGE plpgsql VOLATILE ROWS 100
SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  waiting uuid[] := public.lock_waiting_deliveries(tenant, endpoint, wanted);
BEGIN
  IF waiting IS NULL THEN RETURN; END IF;
  UPDATE public.deliveries d
    SET status = 'pending', series = d.series + 1, attempts = 0, held_for = NULL, finished_at = NULL,
      next_attempt_at = released_at
    WHERE d.tenant_id = tenant AND d.id = ANY (waiting);
  RETURN QUERY SELECT s.* FROM public.schedule_attempts(tenant, waiting, false, released_at) s;
END
$$;

-- Releases deliveries that are held for the rate limit of their endpoint, oldest first: each after its
-- wait, as many as there are waits.
CREATE FUNCTION "release_held"(
  tenant uuid, endpoint uuid, waits double precision[], released_at timestamptz
) RETURNS TABLE (
  delivery_id uuid, endpoint_id uuid, due_at timestamptz, wait_seconds double precision,
  priority integer, in_turn boolean
)
LANGUAGE plpgsql VOLATILE ROWS 100
SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  held uuid[];
  slots timestamptz[] := ARRAY(
    SELECT released_at + make_interval(secs => w.seconds)
    FROM unnest(waits) WITH ORDINALITY w (seconds, n) ORDER BY w.n);
BEGIN
  SELECT array_agg(h.id ORDER BY h.created_at) INTO held FROM (
    SELECT d.id, d.created_at FROM public.deliveries d
    WHERE d.tenant_id = tenant AND d.endpoint_id = endpoint
      AND d.held_for = 'rate' AND d.status = 'pending'
    ORDER BY d.created_at LIMIT cardinality(waits) FOR UPDATE) h;
  IF held IS NULL THEN RETURN; END IF;
  UPDATE public.deliveries d SET held_for = NULL, next_attempt_at = slot.at
    FROM unnest(held, slots[1:cardinality(held)]) AS slot (id, at)
    WHERE d.tenant_id = tenant AND d.id = ANY (held) AND d.id = slot.id;
  RETURN QUERY SELECT s.* FROM public.schedule_attempts(tenant, held, true, released_at) s;
END
$$;
