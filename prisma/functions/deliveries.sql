-- Deliveries: due attempts, outcomes, and the turns of endpoints. The functions run as their caller and save round trips.

-- Adds or updates the due attempt of each pending delivery. `in_turn` is read under a lock on the endpoint, so its
-- turn cannot end before this transaction (end_turns).
CREATE OR REPLACE FUNCTION schedule_attempts(
  tenant uuid, deliveries uuid[], within_limit boolean, scheduled_at timestamptz
) RETURNS TABLE (delivery_id uuid, endpoint_id uuid, due_at timestamptz, wait_seconds float8, priority int, in_turn boolean)
LANGUAGE plpgsql VOLATILE ROWS 10 SET plan_cache_mode = force_generic_plan AS $$
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

-- Records the outcomes of due attempts: inserts attempts, updates deliveries, schedules the next attempts and deletes
-- the due attempts that are over. Skips a delivery that has changed since it was read. Returns the changed deliveries; `due_at`
-- is NULL without a next attempt. `ids` repeats the ids of `changes`, so that every plan uses the primary key.
CREATE OR REPLACE FUNCTION record_outcomes(
  tenant uuid, ids uuid[], changes json, recorded_at timestamptz
) RETURNS TABLE (delivery_id uuid, endpoint_id uuid, due_at timestamptz, wait_seconds float8, priority int, in_turn boolean)
LANGUAGE plpgsql VOLATILE ROWS 10 SET plan_cache_mode = force_generic_plan AS $$
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
      -- Keeps the due attempts that are updated below. Locks them after their deliveries, as all functions do. IS TRUE
      -- keeps the planner from a nested loop, which is slow for large batches.
      DELETE FROM public.due_attempts a
      WHERE a.tenant_id = tenant AND a.delivery_id = ANY (ids) AND ((a.delivery_id, a.series, a.number) IN (
        SELECT c.delivery_id, c.series, c.number FROM change c
        WHERE c.next_attempt_at IS NULL OR c.delivery_id NOT IN (SELECT u.delivery_id FROM updated u))) IS TRUE
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

-- Releases the oldest deliveries held for an endpoint's rate limit: one per element of `waits`, after these seconds.
CREATE OR REPLACE FUNCTION release_held(
  tenant uuid, endpoint uuid, waits double precision[], released_at timestamptz
) RETURNS TABLE (delivery_id uuid, endpoint_id uuid, due_at timestamptz, wait_seconds float8, priority int, in_turn boolean)
LANGUAGE plpgsql VOLATILE ROWS 100 SET plan_cache_mode = force_generic_plan AS $$
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

-- Ends turns with nothing due and returns their endpoints, and for each the time of its next attempt, which needs a
-- job. Skips endpoints locked by another transaction, because it may be adding an attempt. `firsts_until`: until when
-- first attempts are due (isDue in claim.ts).
CREATE OR REPLACE FUNCTION end_turns(
  tenant uuid, endpoints uuid[], ended_at timestamptz, firsts_until timestamptz)
RETURNS TABLE (endpoint_id uuid, second bigint, wait_seconds double precision, priority integer)
LANGUAGE plpgsql VOLATILE ROWS 5 SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  locked uuid[];
  ended uuid[];
BEGIN
  SELECT array_agg(own.id) INTO locked FROM (
    SELECT e.id FROM public.webhook_endpoints e
    WHERE e.tenant_id = tenant AND e.id = ANY (endpoints) FOR UPDATE SKIP LOCKED) own;
  -- A new statement has a new snapshot, taken under the lock. A deleted endpoint has no row to lock.
  SELECT array_agg(endpoint.id) INTO ended FROM unnest(endpoints) AS endpoint (id)
    WHERE NOT EXISTS (
        SELECT FROM public.due_attempts d
        WHERE d.tenant_id = tenant AND d.endpoint_id = endpoint.id AND d.due_at <= firsts_until
          AND (d.number = 1 AND NOT d.released OR d.due_at <= ended_at))
      AND (endpoint.id = ANY (locked) OR NOT EXISTS (
        SELECT FROM public.webhook_endpoints e WHERE e.tenant_id = tenant AND e.id = endpoint.id));
  UPDATE public.webhook_endpoints e SET in_turn = false
    WHERE e.tenant_id = tenant AND e.id = ANY (ended) AND e.in_turn;
  RETURN QUERY
    SELECT endpoint.id, floor(extract(epoch FROM a.due_at))::bigint,
      greatest(extract(epoch FROM a.due_at - ended_at), 0)::double precision, 0
    FROM unnest(ended) AS endpoint (id)
    LEFT JOIN LATERAL (
      SELECT d.due_at FROM public.due_attempts d
      WHERE d.tenant_id = tenant AND d.endpoint_id = endpoint.id
      ORDER BY d.due_at LIMIT 1) AS a ON true;
END
$$;

-- Whether a job waits that begins a turn of the endpoint now; not one in progress, nor one for a later second, which has
-- another key. For a caller that has locked the endpoint: as a new statement it sees each fetch until then, and no
-- turn that begins later ends before the caller's transaction (end_turns). The condition is that of pg-boss's unique index.
CREATE OR REPLACE FUNCTION turn_waits(endpoint uuid) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RETURN EXISTS (
    SELECT FROM pgboss.job_common j
    WHERE j.name = 'endpoint-turn' AND coalesce(j.singleton_key, '') = endpoint::text
      AND j.state = 'created' AND j.policy = 'short');
END
$$;

-- The number of due and of later attempts of all tenants, among at most `batch`, and the age of the oldest in
-- seconds, without those at deleted endpoints. Sets no scope.
CREATE OR REPLACE FUNCTION measure_due_attempts(batch integer)
RETURNS TABLE (due integer, scheduled integer, age double precision)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM public.set_scope('ledger', '', NULL, NULL);
  SELECT count(*) FILTER (WHERE a.due_at <= now()), count(*) FILTER (WHERE a.due_at > now()),
    extract(epoch FROM now() - min(a.due_at))
    INTO due, scheduled, age
    FROM (SELECT d.* FROM public.due_attempts d LIMIT batch) a
    WHERE EXISTS (SELECT FROM public.webhook_endpoints e WHERE e.tenant_id = a.tenant_id AND e.id = a.endpoint_id);
  PERFORM public.clear_scope();
  RETURN NEXT;
END
$$;

-- The number of endpoints of all tenants by what the state of their health depends on, among at most `batch`. Sets
-- no scope.
CREATE OR REPLACE FUNCTION measure_endpoints(batch integer)
RETURNS TABLE (status text, is_paused boolean, is_recovering boolean, is_retrying boolean, endpoints integer)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  scope_text text;
BEGIN
  scope_text := public.set_scope('ledger', '', NULL, NULL);
  RETURN QUERY
    SELECT e.status, e.paused IS NOT NULL, e.recovering_since IS NOT NULL, e.retrying_since IS NOT NULL,
      count(*)::integer
    FROM (SELECT s.* FROM public.endpoint_states s LIMIT batch) e
    GROUP BY 1, 2, 3, 4;
  scope_text := public.clear_scope();
END
$$;
