-- The ledger: for every five minutes and kind of work, how many events or deliveries there were and the
-- XOR of their ids. Rows are only added, and each contains the hash of the one before. Later checks
-- compare the tables with it, so that a row that is lost or added by hand is noticed.

-- `kind` is what is counted: received (processed_events), recorded (received_events) and its parts by
-- status when the window was sealed; published (outbound_events), deliveries and its parts. With the
-- ending -removed: deleted since by the retention or an erasure; -corrected: a difference that an
-- operator has accepted.
CREATE TABLE "ledger" (
  "id" bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  "window_start" timestamptz(6) NOT NULL,
  "kind" text NOT NULL,
  "count" bigint NOT NULL,
  "ids" bit(128) NOT NULL,
  "previous" bytea NOT NULL,
  "hash" bytea NOT NULL,
  CONSTRAINT "ledger_pkey" PRIMARY KEY ("id"),
  CHECK ("count" >= 0 OR "kind" LIKE '%-corrected')
);
CREATE INDEX "ledger_window_start_idx" ON "ledger" ("window_start");

-- What was deleted on purpose and is not in the ledger yet.
CREATE TABLE "ledger_removals" (
  "id" bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  "window_start" timestamptz(6) NOT NULL,
  "count" bigint NOT NULL,
  "ids" bit(128) NOT NULL,
  CONSTRAINT "ledger_removals_pkey" PRIMARY KEY ("id")
);

-- Results of checks. `kinds`: findings by kind. `open_windows`: where they were, to be checked again.
CREATE TABLE "ledger_checks" (
  "id" bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  "checked_at" timestamptz(6) NOT NULL DEFAULT clock_timestamp(),
  "whole" boolean NOT NULL,
  "unaccounted" integer NOT NULL,
  "kinds" jsonb NOT NULL,
  "open_windows" timestamptz(6)[] NOT NULL,
  "head" text NOT NULL,
  CONSTRAINT "ledger_checks_pkey" PRIMARY KEY ("id")
);

-- Finds the rows of a window. Rows are never deleted from this table, so the ranges stay narrow.
CREATE INDEX "processed_events_created_at_idx" ON "processed_events" USING brin ("created_at");

-- For the owner alone, whose functions below read what all tenants have.
CREATE POLICY "ledger" ON "outbound_events" FOR SELECT TO CURRENT_USER
  USING ((SELECT current_scope_kind()) = 'ledger');
CREATE POLICY "ledger" ON "deliveries" FOR SELECT TO CURRENT_USER
  USING ((SELECT current_scope_kind()) = 'ledger');
CREATE POLICY "ledger" ON "webhook_endpoints" FOR SELECT TO CURRENT_USER
  USING ((SELECT current_scope_kind()) = 'ledger');

CREATE FUNCTION "ledger_window"(at timestamptz) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN date_bin('5 minutes', at, '2000-01-01 00:00:00+00');

-- An id as 128 bits, the same on every version of PostgreSQL. XOR of them does not depend on the order.
CREATE FUNCTION "ledger_bits"(id text) RETURNS bit
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ('x' || md5(id))::bit(128);

CREATE FUNCTION "ledger_hash"(previous bytea, at timestamptz, kind text, amount bigint, ids bit)
RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sha256(previous || convert_to(
  concat_ws('|', extract(epoch FROM at)::bigint, kind, amount, ids), 'UTF8'));

-- Adds a row to the chain. The caller has the lock of the ledger.
CREATE FUNCTION "append_ledger"(at timestamptz, kind text, amount bigint, ids bit) RETURNS void
LANGUAGE sql VOLATILE AS $$
  INSERT INTO public.ledger (window_start, kind, count, ids, previous, hash)
  SELECT at, kind, amount, ids, last.hash, public.ledger_hash(last.hash, at, kind, amount, ids)
  FROM (SELECT coalesce((SELECT l.hash FROM public.ledger l ORDER BY l.id DESC LIMIT 1),
                        '\x00'::bytea) AS hash) last
$$;

-- Notes what the retention and erasures delete, in their own transaction. Anyone else's deletion is
-- not noted, and so it is found.
CREATE FUNCTION "note_ledger_removal"() RETURNS trigger
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF public.current_scope_kind() IN ('retention', 'erasure') THEN
    INSERT INTO public.ledger_removals (window_start, count, ids)
    SELECT public.ledger_window(g.created_at), count(*), bit_xor(public.ledger_bits(g.id))
    FROM gone g GROUP BY 1;
  END IF;
  RETURN NULL;
END
$$;
CREATE TRIGGER "note_ledger_removal" AFTER DELETE ON "outbound_events"
  REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION note_ledger_removal();

-- Seals the windows that have ended at `before`, at most `batch` of them, and adds what was removed.
-- The first call begins with the last window. Returns the windows that were sealed, and no row if
-- another process is sealing. Sets no scope.
CREATE FUNCTION "seal_ledger"(before timestamptz, batch integer)
RETURNS TABLE (window_start timestamptz, head text)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
  step CONSTANT interval := '5 minutes';
  nothing CONSTANT bit(128) := repeat('0', 128)::bit(128);
  at timestamptz;
  entry record;
  scope_text text;
BEGIN
  IF NOT pg_try_advisory_xact_lock(hashtextextended('ledger', 0)) THEN RETURN; END IF;
  SELECT max(l.window_start) + step INTO at FROM public.ledger l WHERE l.kind = 'received';
  at := coalesce(at, public.ledger_window(before) - step);
  scope_text := public.set_scope('ledger', '', NULL, NULL);
  FOR turn IN 1..batch LOOP
    EXIT WHEN at + step > before;
    FOR entry IN
      -- One snapshot for all of it. What was removed before it was counted is not counted.
      WITH early AS (
        DELETE FROM public.ledger_removals r WHERE r.window_start = at
      ), known AS (
        SELECT public.ledger_bits(p.event_id) AS bits FROM public.processed_events p
        WHERE p.created_at >= at AND p.created_at < at + step
      ), recorded AS MATERIALIZED (
        SELECT public.ledger_bits(r.event_id) AS bits, r.status FROM public.received_events r
        WHERE r.received_at >= at AND r.received_at < at + step
      ), event AS MATERIALIZED (
        SELECT e.tenant_id, e.id FROM public.tenant_usage u CROSS JOIN LATERAL (
          SELECT o.tenant_id, o.id FROM public.outbound_events o
          WHERE o.tenant_id = u.tenant_id AND o.created_at >= at AND o.created_at < at + step) e
      ), delivery AS MATERIALIZED (
        SELECT public.ledger_bits(d.id::text) AS bits, d.status FROM event e
        JOIN public.deliveries d ON d.tenant_id = e.tenant_id AND d.event_id = e.id
      ), total AS (
        -- Every window has this row, so that none can be left out.
        SELECT 1 AS place, 'received' AS kind, count(*) AS amount,
          coalesce(bit_xor(bits), nothing) AS ids FROM known
        UNION ALL SELECT 2, concat_ws(' as ', 'recorded', status), count(*), bit_xor(bits)
          FROM recorded GROUP BY ROLLUP (status)
        UNION ALL SELECT 3, 'published', count(*), bit_xor(public.ledger_bits(id)) FROM event
        UNION ALL SELECT 4, concat_ws(' as ', 'deliveries', status), count(*), bit_xor(bits)
          FROM delivery GROUP BY ROLLUP (status)
      )
      SELECT kind, amount, ids FROM total
      WHERE amount > 0 OR kind = 'received' ORDER BY place, kind
    LOOP
      PERFORM public.append_ledger(at, entry.kind, entry.amount, entry.ids);
    END LOOP;
    window_start := at;
    SELECT encode(l.hash, 'hex') INTO head FROM public.ledger l ORDER BY l.id DESC LIMIT 1;
    RETURN NEXT;
    at := at + step;
  END LOOP;
  scope_text := public.clear_scope();
  FOR entry IN
    WITH removed AS (
      DELETE FROM public.ledger_removals r WHERE r.window_start < at
      RETURNING r.window_start, r.count, r.ids
    )
    SELECT r.window_start, sum(r.count)::bigint AS amount, bit_xor(r.ids) AS ids
    FROM removed r
    -- Windows from before the ledger have nothing to take away from.
    WHERE r.window_start >= (SELECT min(l.window_start) FROM public.ledger l)
    GROUP BY 1 ORDER BY 1
  LOOP
    PERFORM public.append_ledger(entry.window_start, 'published-removed', entry.amount, entry.ids);
  END LOOP;
END
$$;

-- Windows whose rows are not those that were sealed. `amount` and `ids` are the difference.
CREATE FUNCTION "ledger_differences"(since timestamptz, before timestamptz)
RETURNS TABLE (window_start timestamptz, kind text, sealed bigint, found bigint, ids bit)
LANGUAGE sql STABLE AS $$
  WITH event AS (
    SELECT e.id, e.created_at FROM public.tenant_usage u CROSS JOIN LATERAL (
      SELECT o.id, o.created_at FROM public.outbound_events o
      WHERE o.tenant_id = u.tenant_id AND o.created_at >= since AND o.created_at < before) e
  ), present AS (
    SELECT public.ledger_window(p.created_at) AS at, 'received' AS kind, p.event_id AS id
      FROM public.processed_events p WHERE p.created_at >= since AND p.created_at < before
    UNION ALL
    SELECT public.ledger_window(r.received_at), 'recorded', r.event_id
      FROM public.received_events r WHERE r.received_at >= since AND r.received_at < before
    UNION ALL
    SELECT public.ledger_window(e.created_at), 'published', e.id FROM event e
  ), entry AS (
    SELECT l.window_start AS at, split_part(l.kind, '-', 1) AS kind,
           CASE WHEN l.kind LIKE '%-removed' THEN -l.count ELSE l.count END AS sealed,
           0 AS found, l.ids
      FROM public.ledger l
      WHERE l.window_start >= since AND l.window_start < before
        AND split_part(l.kind, '-', 1) IN ('received', 'recorded', 'published')
    UNION ALL
    SELECT r.window_start, 'published', -r.count, 0, r.ids FROM public.ledger_removals r
      WHERE r.window_start >= since AND r.window_start < before
    UNION ALL
    SELECT p.at, p.kind, 0, 1, public.ledger_bits(p.id) FROM present p
  )
  SELECT e.at, e.kind, sum(e.sealed)::bigint, sum(e.found)::bigint, bit_xor(e.ids)
  FROM entry e
  WHERE EXISTS (SELECT FROM public.ledger l WHERE l.window_start = e.at AND l.kind = 'received')
  GROUP BY e.at, e.kind
  HAVING sum(e.sealed) <> sum(e.found) OR bit_xor(e.ids) <> repeat('0', 128)::bit(128)
$$;

-- What is not accounted for among the events and deliveries of a time, at most `batch` of each kind.
-- The times are those of windows. Sets no scope.
CREATE FUNCTION "check_ledger"(since timestamptz, before timestamptz, batch integer)
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
  -- An event that is neither processed nor given up has a job.
  RETURN QUERY
    SELECT 'event-without-job', public.ledger_window(r.received_at), NULL::uuid, r.event_id,
      NULL::uuid, NULL::uuid, NULL::integer, NULL::integer, r.status
    FROM public.received_events r
    WHERE r.received_at >= since AND r.received_at < before AND r.status IN ('recorded', 'failed')
      AND NOT EXISTS (
        SELECT FROM pgboss.job_common j
        WHERE j.name IN ('billing-event', 'billing-event-dead') AND j.state < 'completed'
          AND j.data->>'eventId' = r.event_id)
    LIMIT batch;
  scope_text := public.set_scope('ledger', '', NULL, NULL);
  -- A delivery that waits has the job of its next attempt, whose id follows from it (delivery/job.ts).
  -- A test event is attempted at once, without a job. A delivery that is held for the rate limit of
  -- its endpoint gets its job from the drain of the endpoint.
  RETURN QUERY
    SELECT 'delivery-without-job', public.ledger_window(e.created_at), d.tenant_id, d.event_id, d.id,
      d.endpoint_id, d.series, d.attempts + 1, NULL::text
    FROM public.tenant_usage u CROSS JOIN LATERAL (
      SELECT o.id, o.created_at FROM public.outbound_events o
      WHERE o.tenant_id = u.tenant_id AND o.created_at >= since AND o.created_at < before
        AND o.type <> 'endpoint.test' AND NOT o.example) e
    JOIN public.deliveries d ON d.tenant_id = u.tenant_id AND d.event_id = e.id
    WHERE d.status = 'pending' AND d.held_for IS NULL AND NOT EXISTS (
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

-- The rows of the ledger whose hash is not that of their content and of the row before.
CREATE FUNCTION "broken_ledger_rows"(batch integer) RETURNS TABLE (id bigint, window_start timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
  SELECT c.id, c.window_start FROM (
    SELECT l.*, coalesce(lag(l.hash) OVER (ORDER BY l.id), '\x00'::bytea) AS before
    FROM public.ledger l) c
  WHERE c.previous <> c.before
    OR c.hash <> public.ledger_hash(c.before, c.window_start, c.kind, c.count, c.ids)
  ORDER BY c.id LIMIT batch
$$;

-- Adds the differences of a window to the ledger, as corrections. Returns their number.
CREATE FUNCTION "correct_ledger"(at timestamptz) RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  scope_text text;
  difference record;
  corrected bigint := 0;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('ledger', 0));
  scope_text := public.set_scope('ledger', '', NULL, NULL);
  FOR difference IN
    SELECT * FROM public.ledger_differences(at, at + interval '5 minutes') d ORDER BY d.kind
  LOOP
    PERFORM public.append_ledger(at, difference.kind || '-corrected',
      difference.found - difference.sealed, difference.ids);
    corrected := corrected + 1;
  END LOOP;
  scope_text := public.clear_scope();
  RETURN corrected;
END
$$;

-- PostgreSQL lets everyone call a new function. `gatehouse migrate` names those that may.
REVOKE ALL ON FUNCTION "ledger_window"(timestamptz), "ledger_bits"(text),
  "ledger_hash"(bytea, timestamptz, text, bigint, bit), "append_ledger"(timestamptz, text, bigint, bit),
  "note_ledger_removal"(), "seal_ledger"(timestamptz, integer),
  "ledger_differences"(timestamptz, timestamptz), "check_ledger"(timestamptz, timestamptz, integer),
  "broken_ledger_rows"(integer), "correct_ledger"(timestamptz) FROM PUBLIC;
