-- The ledger: sealing windows of five minutes, and comparing the tables with them.

CREATE OR REPLACE FUNCTION ledger_window(at timestamptz) RETURNS timestamptz LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN date_bin('5 minutes', at, '2000-01-01 00:00:00+00');

-- An id as 128 bits. The XOR of several does not depend on their order.
CREATE OR REPLACE FUNCTION ledger_bits(id text) RETURNS bit LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ('x' || md5(id))::bit(128);

-- Much faster than ledger_bits. Where two checksums differ, ledger_bits decides.
CREATE OR REPLACE FUNCTION ledger_checksum(id text) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hashtextextended(id COLLATE "C", 0);

CREATE OR REPLACE FUNCTION ledger_hash(previous bytea, at timestamptz, kind text, amount bigint, ids bit)
RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sha256(previous || convert_to(
  concat_ws('|', extract(epoch FROM at)::bigint, kind, amount, ids), 'UTF8'));

-- Appends a row to the chain. Requires the lock of the ledger.
CREATE OR REPLACE FUNCTION append_ledger(at timestamptz, kind text, amount bigint, ids bit) RETURNS void
LANGUAGE sql VOLATILE AS $$
  INSERT INTO public.ledger (window_start, kind, count, ids, previous, hash)
  SELECT at, kind, amount, ids, last.hash, public.ledger_hash(last.hash, at, kind, amount, ids)
  FROM (SELECT coalesce((SELECT l.hash FROM public.ledger l ORDER BY l.id DESC LIMIT 1),
                        '\x00'::bytea) AS hash) last
$$;

-- Records what retention and erasure delete, in their transaction. A check finds every other deletion.
CREATE OR REPLACE FUNCTION note_ledger_removal() RETURNS trigger
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF public.current_scope_kind() IN ('retention', 'erasure') THEN
    INSERT INTO public.ledger_removals (window_start, count, ids)
    SELECT public.ledger_window(g.created_at), count(*), bit_xor(public.ledger_bits(g.id))
    FROM gone g GROUP BY 1;
  END IF;
  RETURN NULL;
END
$$;

-- Appends the counts of windows to the ledger. Checksums have kinds of their own (`received checksum`).
CREATE OR REPLACE FUNCTION seal_ledger(before timestamptz, batch integer)
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
      -- One snapshot for all counts. Rows removed before sealing are not counted.
      WITH early AS (
        DELETE FROM public.ledger_removals r WHERE r.window_start = at
      )
      -- Every window has the first row, so that a missing window is noticed.
      SELECT kind, coalesce(c.amount, 0) AS amount, coalesce(c.ids, nothing) AS ids, c.checksum
      FROM (VALUES (1, 'received')) always (place, kind)
      FULL JOIN public.count_ledger(at, at + step, true) c USING (place, kind)
      ORDER BY place, kind
    LOOP
      PERFORM public.append_ledger(at, entry.kind, entry.amount, entry.ids);
      IF entry.checksum IS NOT NULL THEN
        PERFORM public.append_ledger(at, entry.kind || ' checksum', entry.amount, entry.checksum);
      END IF;
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
    -- Windows before the start of the ledger have no counts to subtract from.
    WHERE r.window_start >= (SELECT min(l.window_start) FROM public.ledger l)
    GROUP BY 1 ORDER BY 1
  LOOP
    PERFORM public.append_ledger(entry.window_start, 'published-removed', entry.amount, entry.ids);
  END LOOP;
END
$$;

-- Counts what is in the windows of a time: the number per kind, and the XOR of the checksums for kinds that do not
-- change. With `exact` also the XOR of the ids; without it, of the statuses of events only those that wait.
-- `deliveries missing` counts missing deliveries to endpoints that had chosen the type of the event; endpoints that
-- changed since, or in the minute before, are omitted, because their choice then is unknown. Requires a scope.
-- OFFSET 0 lets the planner expect few windows, so that it does not sort the rows.
CREATE OR REPLACE FUNCTION count_ledger(since timestamptz, before timestamptz, exact boolean)
RETURNS TABLE (window_start timestamptz, place integer, kind text, amount bigint, ids bit, checksum bit)
LANGUAGE sql STABLE AS $$
  WITH known AS MATERIALIZED (
    SELECT e.at, count(*) AS amount, bit_xor(public.ledger_checksum(e.event_id)) AS checksum
    FROM (
      SELECT p.event_id, public.ledger_window(p.created_at) AS at FROM public.processed_events p
      WHERE p.created_at >= since AND p.created_at < before OFFSET 0) e
    GROUP BY e.at
  ), part AS MATERIALIZED (
    SELECT e.at, e.status, count(*) AS amount, bit_xor(public.ledger_checksum(e.event_id)) AS checksum,
      bit_xor(public.ledger_bits(e.event_id)) AS ids
    FROM (
      SELECT r.event_id, r.status, public.ledger_window(r.received_at) AS at
      FROM public.received_events r
      WHERE r.received_at >= since AND r.received_at < before AND exact OFFSET 0) e
    GROUP BY e.at, e.status
  ), recorded AS MATERIALIZED (
    SELECT p.at, sum(p.amount)::bigint AS amount, bit_xor(p.checksum) AS checksum, bit_xor(p.ids) AS ids
    FROM part p GROUP BY p.at
    UNION ALL
    -- Two index scans: these ids, and below the waiting ones.
    SELECT e.at, count(*), bit_xor(public.ledger_checksum(e.event_id)), NULL
    FROM (
      SELECT r.event_id, public.ledger_window(r.received_at) AS at FROM public.received_events r
      WHERE r.received_at >= since AND r.received_at < before AND NOT exact OFFSET 0) e
    GROUP BY e.at
  ), event AS MATERIALIZED (
    SELECT e.*, public.ledger_window(e.created_at) AS at
    FROM public.tenant_usage u CROSS JOIN LATERAL (
      SELECT o.tenant_id, o.id, o.type, o.created_at,
        o.type <> 'endpoint.test' AND NOT o.example AS is_for_all
      FROM public.outbound_events o
      WHERE o.tenant_id = u.tenant_id AND o.created_at >= since AND o.created_at < before) e
  ), endpoint AS (
    SELECT p.tenant_id, p.id, p.all_event_types, p.event_types,
      greatest(p.created_at, p.updated_at) + interval '1 minute' AS settled_at
    FROM public.webhook_endpoints p
  ), delivery AS MATERIALIZED (
    SELECT e.at, d.status, count(*) AS amount,
      bit_xor(CASE WHEN exact THEN public.ledger_bits(d.id::text) END) AS ids,
      count(*) FILTER (WHERE e.is_for_all AND p.settled_at < e.created_at
        AND (p.all_event_types OR e.type = ANY (p.event_types))) AS expected
    FROM event e
    JOIN public.deliveries d ON d.tenant_id = e.tenant_id AND d.event_id = e.id
    LEFT JOIN endpoint p ON p.tenant_id = d.tenant_id AND p.id = d.endpoint_id
    GROUP BY e.at, d.status
  ), missing AS (
    SELECT s.at, sum(s.amount)::bigint AS amount FROM (
      SELECT e.at, count(*) AS amount
      FROM event e JOIN endpoint p ON p.tenant_id = e.tenant_id
      WHERE e.is_for_all AND p.settled_at < e.created_at
        AND (p.all_event_types OR e.type = ANY (p.event_types))
      GROUP BY e.at
      UNION ALL SELECT d.at, -d.expected FROM delivery d) s
    GROUP BY s.at
  )
  SELECT k.at, 1, 'received', k.amount,
    -- Recorded ids are not hashed again.
    CASE WHEN NOT exact THEN NULL
         WHEN k.amount = r.amount AND k.checksum = r.checksum THEN r.ids
         ELSE (SELECT bit_xor(public.ledger_bits(p.event_id)) FROM public.processed_events p
               WHERE p.created_at >= k.at AND p.created_at < k.at + interval '5 minutes') END,
    k.checksum::bit(64)::bit(128)
    FROM known k LEFT JOIN recorded r ON r.at = k.at
  UNION ALL SELECT r.at, 2, 'recorded', r.amount, r.ids, r.checksum::bit(64)::bit(128) FROM recorded r
  UNION ALL SELECT p.at, 3, concat_ws(' as ', 'recorded', p.status), p.amount, p.ids, NULL FROM part p
  UNION ALL SELECT public.ledger_window(r.received_at), 3, concat_ws(' as ', 'recorded', r.status),
      count(*), NULL, NULL
    FROM public.received_events r
    WHERE r.received_at >= since AND r.received_at < before AND r.status IN ('recorded', 'failed')
      AND NOT exact
    GROUP BY 1, r.status
  UNION ALL SELECT e.at, 4, 'published', count(*),
      bit_xor(CASE WHEN exact THEN public.ledger_bits(e.id) END),
      bit_xor(public.ledger_checksum(e.id))::bit(64)::bit(128)
    FROM event e GROUP BY e.at
  UNION ALL SELECT d.at, 5, concat_ws(' as ', 'deliveries', d.status), sum(d.amount)::bigint,
      bit_xor(d.ids), NULL
    FROM delivery d GROUP BY d.at, ROLLUP (d.status)
  UNION ALL SELECT m.at, 6, 'deliveries missing', m.amount, repeat('0', 128)::bit(128), NULL
    FROM missing m WHERE m.amount > 0
$$;

-- Windows whose rows are not those that were sealed. `amount` and `ids` are the difference.
CREATE OR REPLACE FUNCTION ledger_differences(
  since timestamptz, before timestamptz,
  kinds text[] DEFAULT ARRAY['received', 'recorded', 'published']
) RETURNS TABLE (window_start timestamptz, kind text, sealed bigint, found bigint, ids bit)
LANGUAGE sql STABLE AS $$
  WITH event AS (
    SELECT e.id, e.created_at FROM public.tenant_usage u CROSS JOIN LATERAL (
      SELECT o.id, o.created_at FROM public.outbound_events o
      WHERE o.tenant_id = u.tenant_id AND o.created_at >= since AND o.created_at < before) e
  ), present AS (
    SELECT public.ledger_window(p.created_at) AS at, 'received' AS kind, p.event_id AS id
      FROM public.processed_events p
      WHERE p.created_at >= since AND p.created_at < before AND 'received' = ANY (kinds)
    UNION ALL
    SELECT public.ledger_window(r.received_at), 'recorded', r.event_id
      FROM public.received_events r
      WHERE r.received_at >= since AND r.received_at < before AND 'recorded' = ANY (kinds)
    UNION ALL
    SELECT public.ledger_window(e.created_at), 'published', e.id
      FROM event e WHERE 'published' = ANY (kinds)
  ), entry AS (
    SELECT l.window_start AS at, split_part(l.kind, '-', 1) AS kind,
           CASE WHEN l.kind LIKE '%-removed' THEN -l.count ELSE l.count END AS sealed,
           0 AS found, l.ids
      FROM public.ledger l
      WHERE l.window_start >= since AND l.window_start < before
        AND split_part(l.kind, '-', 1) = ANY (kinds)
    UNION ALL
    SELECT r.window_start, 'published', -r.count, 0, r.ids FROM public.ledger_removals r
      WHERE r.window_start >= since AND r.window_start < before AND 'published' = ANY (kinds)
    UNION ALL
    SELECT p.at, p.kind, 0, 1, public.ledger_bits(p.id) FROM present p
  )
  SELECT e.at, e.kind, sum(e.sealed)::bigint, sum(e.found)::bigint, bit_xor(e.ids)
  FROM entry e
  WHERE EXISTS (SELECT FROM public.ledger l WHERE l.window_start = e.at AND l.kind = 'received')
  GROUP BY e.at, e.kind
  HAVING sum(e.sealed) <> sum(e.found) OR bit_xor(e.ids) <> repeat('0', 128)::bit(128)
$$;

-- What is unaccounted for among the events and deliveries of a time, at most `batch` per kind. `since` and `before` are
-- starts of windows. With `recount` it counts the rows again and compares them with the ledger; without, it trusts
-- the sealed sums. It searches rows only where the sums say that something is missing, waits or has changed. Sets
-- no scope.
CREATE OR REPLACE FUNCTION check_windows(since timestamptz, before timestamptz, batch integer, recount boolean)
RETURNS TABLE (
  kind text, window_start timestamptz, tenant_id uuid, event_id text, delivery_id uuid,
  endpoint_id uuid, series integer, number integer, detail text
) LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
  nothing CONSTANT bit(128) := repeat('0', 128)::bit(128);
  total record;
  doubtful text[] := '{}';
  unpaired bigint := 0;
  unpaired_ids bit(128) := nothing;
  waiting_events bigint := 0;
  waiting_deliveries bigint := 0;
  missing_deliveries bigint := 0;
BEGIN
  PERFORM public.set_scope('ledger', '', NULL, NULL);
  FOR total IN
    SELECT coalesce(c.kind, s.kind) AS kind, coalesce(c.amount, 0) AS amount, c.checksum AS ids,
      (c.kind IS NULL OR c.checksum IS NOT NULL)
        AND (coalesce(c.amount, 0), coalesce(c.amount, 0), c.checksum)
          IS DISTINCT FROM (coalesce(s.amount, 0), coalesce(s.checked, 0), s.checksum) AS is_doubtful
    FROM public.count_ledger(since, before, false) c
    FULL JOIN (
      SELECT e.window_start, e.kind, max(e.count) FILTER (WHERE e.part = 'checksum') AS checked,
        bit_xor(e.ids) FILTER (WHERE e.part = 'checksum') AS checksum,
        sum(CASE e.part WHEN 'checksum' THEN 0 WHEN 'removed' THEN -e.count ELSE e.count END) AS amount
      FROM (
        SELECT l.window_start, l.count, l.ids, part[1] AS kind, part[2] AS part
        FROM public.ledger l CROSS JOIN regexp_split_to_array(l.kind, '[ -]') part
        WHERE l.window_start >= since AND l.window_start < before) e
      WHERE e.kind IN ('received', 'recorded', 'published') AND e.part IS DISTINCT FROM 'as'
      GROUP BY e.window_start, e.kind) s
    ON s.window_start = c.window_start AND s.kind = c.kind
    WHERE recount
    UNION ALL
    SELECT l.kind, l.count, l.ids, false FROM public.ledger l
    WHERE l.window_start >= since AND l.window_start < before AND NOT recount
  LOOP
    CASE total.kind
      WHEN 'received' THEN
        unpaired := unpaired + total.amount;
        unpaired_ids := unpaired_ids # coalesce(total.ids, nothing);
      WHEN 'recorded' THEN
        unpaired := unpaired - total.amount;
        unpaired_ids := unpaired_ids # coalesce(total.ids, nothing);
      WHEN 'recorded as recorded', 'recorded as failed' THEN
        waiting_events := waiting_events + total.amount;
      WHEN 'deliveries as pending' THEN waiting_deliveries := waiting_deliveries + total.amount;
      WHEN 'deliveries missing' THEN missing_deliveries := missing_deliveries + total.amount;
      ELSE NULL;
    END CASE;
    IF total.is_doubtful AND total.kind <> ALL (doubtful) THEN
      doubtful := doubtful || total.kind;
    END IF;
  END LOOP;
  IF doubtful <> '{}' THEN
    -- Counts the rows of these kinds again.
    RETURN QUERY
      SELECT 'window-changed', d.window_start, NULL::uuid, NULL::text, NULL::uuid, NULL::uuid,
        NULL::integer, NULL::integer, format('%s: %s sealed, %s found', d.kind, d.sealed, d.found)
      FROM public.ledger_differences(since, before, doubtful) d ORDER BY d.window_start LIMIT batch;
  END IF;
  IF unpaired <> 0 OR unpaired_ids <> nothing THEN
    -- A known id gets 200 as a duplicate, so it must also be recorded, and vice versa.
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
  END IF;
  IF waiting_events > 0 THEN
    -- A waiting event has a job. No index has the event of a job, and a join without statistics would compare every
    -- event with every job: EXCEPT reads both once.
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
  END IF;
  IF waiting_deliveries > 0 THEN
    -- A waiting delivery has a due attempt and its endpoint a job, or there is a job that adds the attempt,
    -- whose id follows from it (src/webhooks/schedule/due-attempts.ts). A test event is attempted at once. A
    -- delivery held for the rate limit of its endpoint gets its attempt when it is released. Those to a deleted
    -- endpoint wait for their deletion.
    RETURN QUERY
      SELECT 'delivery-without-job', public.ledger_window(e.created_at), d.tenant_id, d.event_id, d.id,
        d.endpoint_id, d.series, d.attempts + 1, NULL::text
      FROM public.tenant_usage u CROSS JOIN LATERAL (
        SELECT o.id, o.created_at FROM public.outbound_events o
        WHERE o.tenant_id = u.tenant_id AND o.created_at >= since AND o.created_at < before
          AND o.type <> 'endpoint.test' AND NOT o.example) e
      JOIN public.deliveries d ON d.tenant_id = u.tenant_id AND d.event_id = e.id
      WHERE d.status = 'pending' AND d.held_for IS NULL
        AND EXISTS (SELECT FROM public.webhook_endpoints p WHERE p.tenant_id = d.tenant_id AND p.id = d.endpoint_id)
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
  END IF;
  IF missing_deliveries > 0 THEN
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
  END IF;
  PERFORM public.clear_scope();
END
$$;

-- Rows of the ledger whose hash does not match their content and the row before.
CREATE OR REPLACE FUNCTION broken_ledger_rows(batch integer) RETURNS TABLE (id bigint, window_start timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT c.id, c.window_start FROM (
    SELECT l.*, coalesce(lag(l.hash) OVER (ORDER BY l.id), '\x00'::bytea) AS before
    FROM public.ledger l) c
  WHERE c.previous <> c.before
    OR c.hash <> public.ledger_hash(c.before, c.window_start, c.kind, c.count, c.ids)
  ORDER BY c.id LIMIT batch
$$;

-- Appends the differences of a window as corrections. Returns their number.
CREATE OR REPLACE FUNCTION correct_ledger(at timestamptz) RETURNS bigint
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

-- Findings of the newest check about the tenant of the scope, by day. No row without a tenant or a check.
CREATE OR REPLACE FUNCTION own_unaccounted() RETURNS TABLE (checked_at timestamptz, partial boolean, days jsonb)
LANGUAGE sql STABLE SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
  SELECT c.checked_at, c.partial,
    CASE WHEN c.unaccounted = 0 THEN '{}'
         WHEN c.tenants IS NOT NULL
           THEN coalesce(c.tenants -> public.current_tenant_id()::text, '{}') END
  FROM (SELECT * FROM public.ledger_checks l ORDER BY l.id DESC LIMIT 1) c
  WHERE public.current_tenant_id() IS NOT NULL
$$;

-- For operators: tenants with findings of the newest check, most findings first.
CREATE OR REPLACE FUNCTION unaccounted_tenants(batch integer)
RETURNS TABLE (tenant_id uuid, days jsonb)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
BEGIN
  PERFORM public.operator_user_id();
  RETURN QUERY
    SELECT t.key::uuid, t.value
    FROM (SELECT l.tenants FROM public.ledger_checks l ORDER BY l.id DESC LIMIT 1) c
    CROSS JOIN LATERAL jsonb_each(c.tenants) t
    CROSS JOIN LATERAL (SELECT sum(d.value::integer) AS findings FROM jsonb_each_text(t.value) d) s
    ORDER BY s.findings DESC, t.key LIMIT batch;
END
$$;
