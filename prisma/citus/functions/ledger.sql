-- The ledger: sealing windows of five minutes, and comparing the tables with them.

-- Counts what is in the windows of a time: the number per kind, and the XOR of the checksums for kinds that do not
-- change. With `exact` also the XOR of the ids; without it, of the statuses of events only those that wait.
-- `deliveries missing` counts missing deliveries to endpoints that had chosen the type of the event; endpoints that
-- changed since, or in the minute before, are omitted, because their choice then is unknown. Requires a scope.
-- OFFSET 0 lets the planner expect few windows, so that it does not sort the rows.
CREATE OR REPLACE FUNCTION count_ledger(since timestamptz, before timestamptz, exact boolean)
RETURNS TABLE (
  window_start timestamptz, place integer, kind text, amount bigint, ids bit, checksum bit
)
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
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
    FROM missing m WHERE m.amount > 0;
END
$$;

-- Windows whose rows are not those that were sealed. `amount` and `ids` are the difference.
CREATE OR REPLACE FUNCTION ledger_differences(
  since timestamptz, before timestamptz,
  kinds text[] DEFAULT ARRAY['received', 'recorded', 'published']
)
RETURNS TABLE (window_start timestamptz, kind text, sealed bigint, found bigint, ids bit)
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
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
  HAVING sum(e.sealed) <> sum(e.found) OR bit_xor(e.ids) <> repeat('0', 128)::bit(128);
END
$$;

-- What is unaccounted for among the events and deliveries of a time, at most `batch` per kind. `since` and `before` are
-- starts of windows. With `recount` it counts the rows again and compares them with the ledger; without, it trusts
-- the sealed sums. It searches rows only where the sums say that something is missing, waits or has changed. Sets
-- no scope.
CREATE OR REPLACE FUNCTION check_windows(since timestamptz, before timestamptz, batch integer, recount boolean)
RETURNS TABLE (
  kind text, window_start timestamptz, tenant_id uuid, event_id text, delivery_id uuid,
  endpoint_id uuid, series integer, number integer, detail text
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
  turns text[] := ARRAY(
    SELECT DISTINCT j.group_id FROM pgboss.job_common j
    WHERE j.name = 'endpoint-turn' AND j.state < 'completed');
  lost uuid[] := ARRAY(
    SELECT j.id FROM pgboss.job_common j WHERE j.name = 'deliver' AND j.state < 'completed');
  nothing CONSTANT bit(128) := repeat('0', 128)::bit(128);
  total record;
  doubtful text[] := '{}';
  unpaired bigint := 0;
  unpaired_ids bit(128) := nothing;
  waiting_events bigint := 0;
  waiting_deliveries bigint := 0;
  missing_deliveries bigint := 0;
  scope_text text;
BEGIN
  scope_text := public.set_scope('ledger', '', NULL, NULL);
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
    -- A window without checksums is counted.
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
        AND NOT EXISTS (SELECT 1 FROM public.received_events r WHERE r.event_id = p.event_id)
      LIMIT batch;
    RETURN QUERY
      SELECT 'event-not-known', public.ledger_window(r.received_at), NULL::uuid, r.event_id,
        NULL::uuid, NULL::uuid, NULL::integer, NULL::integer, NULL::text
      FROM public.received_events r
      WHERE r.received_at >= since AND r.received_at < before
        AND NOT EXISTS (SELECT 1 FROM public.processed_events p WHERE p.event_id = r.event_id)
      LIMIT batch;
  END IF;
  IF waiting_events > 0 THEN
    -- A waiting event has a job. No index has the event of a job, and
    -- a join without statistics compares every event with every job: EXCEPT reads both once.
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
            SELECT 1 FROM public.due_attempts a
            WHERE a.tenant_id = d.tenant_id AND a.delivery_id = d.id
              AND a.series = d.series AND a.number = d.attempts + 1)
          AND d.endpoint_id::text = ANY (turns))
        AND md5(concat_ws(':', d.id, d.series, d.attempts + 1))::uuid <> ALL (lost)
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
        SELECT 1 FROM public.deliveries d
        WHERE d.tenant_id = u.tenant_id AND d.event_id = e.id AND d.endpoint_id = p.id)
      LIMIT batch;
  END IF;
  scope_text := public.clear_scope();
END
$$;
