-- The part of functions.sql that moves data: statements in the form that Citus runs on the node of the
-- tenant, the order of the event feed, and commits that concern a node and the coordinator.

-- Several statements of one tenant each, instead of one with parts: Citus sends the rows of a part that
-- writes through COPY, which row-level security refuses. Otherwise as in the migrations.
CREATE OR REPLACE FUNCTION "schedule_attempts"(
  tenant uuid, deliveries uuid[], within_limit boolean, scheduled_at timestamptz
) RETURNS TABLE (
  delivery_id uuid, endpoint_id uuid, due_at timestamptz, wait_seconds double precision,
  priority integer, in_turn boolean
)
LANGUAGE plpgsql VOLATILE ROWS 10 AS $$
#variable_conflict use_column
DECLARE
  turns uuid[];
BEGIN
  SELECT array_agg(t.id) FILTER (WHERE t.in_turn) INTO turns FROM (
    SELECT e.id, e.in_turn FROM public.webhook_endpoints e
    WHERE e.tenant_id = tenant AND e.id IN (
      SELECT d.endpoint_id FROM public.deliveries d
      WHERE d.tenant_id = tenant AND d.id = ANY (deliveries))
    ORDER BY e.id FOR KEY SHARE) t;
  priority := 0;
  FOR delivery_id, endpoint_id, due_at IN
    INSERT INTO public.due_attempts AS a
      (tenant_id, delivery_id, endpoint_id, due_at, series, number, released)
    SELECT d.tenant_id, d.id, d.endpoint_id, coalesce(d.next_attempt_at, d.created_at), d.series,
      d.attempts + 1, within_limit
    FROM public.deliveries d
    WHERE d.tenant_id = tenant AND d.id = ANY (deliveries) AND d.status = 'pending'
    ON CONFLICT (tenant_id, delivery_id) DO UPDATE
      SET due_at = excluded.due_at, series = excluded.series, number = excluded.number,
        released = excluded.released
    RETURNING a.delivery_id, a.endpoint_id, a.due_at
  LOOP
    wait_seconds := greatest(extract(epoch FROM due_at - scheduled_at), 0);
    in_turn := coalesce(endpoint_id = ANY (turns), false);
    RETURN NEXT;
  END LOOP;
END
$$;

CREATE OR REPLACE FUNCTION "publish_event"(
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
  -- Also by the clock of the database, in case the process is ahead of the worker.
  first_at timestamptz := least(published_at, now());
  endpoints uuid[];
  turns uuid[];
  failing uuid[];
BEGIN
  INSERT INTO public.outbound_events (tenant_id, id, type, body, created_at, cause, traceparent)
    VALUES (tenant, event, event_type, event_body, published_at, entered_cause,
      entered_trace);
  -- Takes the lock of the foreign key early, so that an endpoint being deleted is left out.
  SELECT array_agg(p.id), array_agg(p.id) FILTER (WHERE p.in_turn),
      array_agg(p.id) FILTER (WHERE p.status = 'failing')
    INTO endpoints, turns, failing
    FROM (
      SELECT e.id, e.in_turn, e.status FROM public.webhook_endpoints e
      WHERE e.tenant_id = tenant
        AND CASE WHEN chosen IS NULL THEN e.all_event_types OR event_type = ANY (e.event_types)
            ELSE e.id = chosen END
      FOR KEY SHARE) p;
  IF endpoints IS NULL THEN RETURN; END IF;
  wait_seconds := 0;
  FOR delivery_id, endpoint_id, due_at IN
    INSERT INTO public.deliveries AS d (tenant_id, id, event_id, endpoint_id, event_type, status,
      created_at, held_for, next_attempt_at, finished_at)
    SELECT e.tenant_id, gen_random_uuid(), event, e.id, event_type,
      CASE WHEN e.status = 'disabled' THEN 'exhausted' ELSE 'pending' END, published_at,
      CASE WHEN e.status = 'disabled' THEN 'recovery' END,
      CASE WHEN e.status <> 'disabled' THEN first_at END,
      CASE WHEN e.status = 'disabled' THEN published_at END
    FROM public.webhook_endpoints e WHERE e.tenant_id = tenant AND e.id = ANY (endpoints)
    RETURNING d.id, d.endpoint_id, d.next_attempt_at
  LOOP
    -- A failing endpoint has its turn after the others.
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

CREATE OR REPLACE FUNCTION "record_outcomes"(
  tenant uuid, ids uuid[], changes json, recorded_at timestamptz
) RETURNS TABLE (
  delivery_id uuid, endpoint_id uuid, due_at timestamptz, wait_seconds double precision,
  priority integer, in_turn boolean
)
LANGUAGE plpgsql VOLATILE ROWS 10 AS $$
#variable_conflict use_column
DECLARE
  changed uuid[];
  retried uuid[];
  low uuid[];
BEGIN
  FOR delivery_id, endpoint_id, due_at, priority IN
    UPDATE public.deliveries d SET status = change.status, attempts = change.after,
      held_for = CASE WHEN change.status = 'exhausted' THEN 'recovery' END,
      next_attempt_at = change.next_attempt_at, finished_at = change.finished_at,
      http_status = CASE WHEN change.started_at IS NULL THEN d.http_status
        ELSE coalesce(change.status_code, 0) END,
      unusual_status = CASE WHEN change.started_at IS NULL THEN d.unusual_status
        ELSE change.unusual_status END,
      unusual_class = CASE WHEN change.started_at IS NULL THEN d.unusual_class
        ELSE change.unusual_class END,
      stored_attempts = d.stored_attempts + (change.started_at IS NOT NULL)::int,
      stored_bytes = d.stored_bytes + coalesce(octet_length(change.error), 0)
        + coalesce(octet_length(change.cause), 0) + coalesce(octet_length(change.response_excerpt), 0)
    FROM json_to_recordset(changes) AS change (
      delivery_id uuid, series integer, before integer, after integer, status text,
      next_attempt_at timestamptz, finished_at timestamptz, priority integer,
      started_at timestamptz, status_code integer, error text, cause text, response_excerpt text,
      unusual_status integer, unusual_class integer)
    WHERE d.tenant_id = tenant AND d.id = ANY (ids) AND d.id = change.delivery_id
      AND d.status = 'pending' AND d.series = change.series AND d.attempts = change.before
      AND change.status IS NOT NULL
    RETURNING d.id, d.endpoint_id, d.next_attempt_at, change.priority
  LOOP
    changed := changed || delivery_id;
    IF due_at IS NULL THEN RETURN NEXT;
    ELSE
      retried := retried || delivery_id;
      IF priority < 0 THEN low := low || delivery_id; END IF;
    END IF;
  END LOOP;
  INSERT INTO public.delivery_attempts (tenant_id, delivery_id, series, number, started_at,
      duration_ms, status_code, error, cause, response_excerpt)
    SELECT d.tenant_id, d.id, change.series, change.after, change.started_at, change.duration_ms,
      change.status_code, change.error, change.cause, change.response_excerpt
    FROM public.deliveries d, json_to_recordset(changes) AS change (
      delivery_id uuid, series integer, after integer, started_at timestamptz, duration_ms integer,
      status_code integer, error text, cause text, response_excerpt text)
    WHERE d.tenant_id = tenant AND d.id = ANY (changed) AND d.id = change.delivery_id
      AND change.started_at IS NOT NULL;
  -- Not those that are changed below. They are locked after their deliveries, as everywhere.
  DELETE FROM public.due_attempts a
    USING json_to_recordset(changes) AS change (delivery_id uuid, series integer, number integer)
    WHERE a.tenant_id = tenant AND a.delivery_id = ANY (ids) AND a.delivery_id = change.delivery_id
      AND a.series = change.series AND a.number = change.number
      AND (retried IS NULL OR a.delivery_id <> ALL (retried));
  IF retried IS NULL THEN RETURN; END IF;
  RETURN QUERY
    SELECT s.delivery_id, s.endpoint_id, s.due_at, s.wait_seconds,
      CASE WHEN s.delivery_id = ANY (low) THEN -1 ELSE 0 END, s.in_turn
    FROM public.schedule_attempts(tenant, retried, false, recorded_at) s;
END
$$;

-- A document in two statements: what is selected into a table with an identity is copied by Citus.
CREATE OR REPLACE FUNCTION "create_document"(
  tenant uuid, person bigint, folder bigint, document_title text, document_body text, created timestamptz
) RETURNS SETOF documents
LANGUAGE plpgsql VOLATILE ROWS 1 AS $$
DECLARE
  team bigint;
BEGIN
  SELECT f.team_id INTO team FROM public.folders f
    WHERE f.tenant_id = tenant AND f.id = folder AND f.team_id IN (
      SELECT m.team_id FROM public.team_members m WHERE m.tenant_id = tenant AND m.user_id = person)
    FOR KEY SHARE OF f;
  IF NOT FOUND THEN RETURN; END IF;
  RETURN QUERY
    INSERT INTO public.documents (tenant_id, folder_id, team_id, title, body, created_at, updated_at)
    VALUES (tenant, folder, team, document_title, document_body, created, created)
    RETURNING *;
END
$$;

-- In the tenant of the scope first, on one node. Only an order of another tenant, or none, asks every node.
CREATE OR REPLACE FUNCTION "find_order"(tenant uuid, person bigint, wanted bigint) RETURNS SETOF orders
LANGUAGE plpgsql STABLE ROWS 1 AS $$
BEGIN
  RETURN QUERY SELECT o.* FROM public.orders o
    WHERE o.tenant_id = tenant AND o.user_id = person AND o.id = wanted;
  IF FOUND THEN RETURN; END IF;
  RETURN QUERY SELECT o.* FROM public.orders o WHERE o.user_id = person AND o.id = wanted;
END
$$;

-- One join for each kind of id, which every node answers for its tenants.
CREATE OR REPLACE FUNCTION "trace_outgoing"(causes text[], message text, delivery uuid, batch integer)
RETURNS TABLE (kind text, tenant_id uuid, event_id text)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
  scope_text text;
BEGIN
  scope_text := public.set_scope('trace', '', NULL, NULL);
  RETURN QUERY
    SELECT 'message', e.tenant_id, e.id FROM public.tenant_usage u
      JOIN public.outbound_events e ON e.tenant_id = u.tenant_id WHERE e.id = message LIMIT batch;
  RETURN QUERY
    SELECT 'delivery', d.tenant_id, d.event_id FROM public.tenant_usage u
      JOIN public.deliveries d ON d.tenant_id = u.tenant_id WHERE d.id = delivery LIMIT batch;
  RETURN QUERY
    SELECT 'cause', e.tenant_id, e.id FROM public.tenant_usage u
      JOIN public.outbound_events e ON e.tenant_id = u.tenant_id WHERE e.cause = ANY (causes) LIMIT batch;
  scope_text := public.clear_scope();
END
$$;

-- Plans for Citus depend on the values of parameters.
ALTER FUNCTION "end_turns"(uuid, uuid[], timestamptz) RESET plan_cache_mode;
ALTER FUNCTION "start_series"(uuid, uuid[], timestamptz) RESET plan_cache_mode;
ALTER FUNCTION "lock_waiting_deliveries"(uuid, uuid, integer) RESET plan_cache_mode;
ALTER FUNCTION "start_trial"(uuid, uuid, timestamptz) RESET plan_cache_mode;
ALTER FUNCTION "release_waiting"(uuid, uuid, integer, timestamptz) RESET plan_cache_mode;
ALTER FUNCTION "release_held"(uuid, uuid, double precision[], timestamptz) RESET plan_cache_mode;

-- Also on the nodes, where triggers read the budgets. As forward_scope (functions.sql).
CREATE OR REPLACE FUNCTION "put_setting"(setting text, content text) RETURNS text
LANGUAGE plpgsql VOLATILE
SET citus.propagate_set_commands = 'local' AS $$
BEGIN
  IF setting !~ '^app\.[a-z_]+$' THEN
    RAISE EXCEPTION 'not a setting of this program' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  EXECUTE format('SET LOCAL %s = %L', setting, content);
  RETURN content;
END
$$;

-- Events of a tenant become visible in the order of their positions, so the feed has no horizon.
CREATE OR REPLACE FUNCTION "feed_horizon"() RETURNS xid8
LANGUAGE sql STABLE PARALLEL SAFE
RETURN '18446744073709551615'::xid8;

-- Gives an event its position, on the shard of its tenant: one more than that of the last event. The lock
-- is held until the transaction ends on this node, also while it is prepared; the next event of the tenant
-- waits for it, and those of other tenants do not. All of these events are of one "transaction", which
-- comes after every real one. Without older events the time is a position that was not used before.
CREATE OR REPLACE FUNCTION "assign_feed_position"() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
  last bigint;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('feed ' || NEW.tenant_id::text, 0));
  EXECUTE format('SELECT o.sequence FROM %I.%I o WHERE o.tenant_id = $1 AND o.xact_id = $2
                  ORDER BY o.xact_id DESC, o.sequence DESC LIMIT 1', TG_TABLE_SCHEMA, TG_TABLE_NAME)
    INTO last USING NEW.tenant_id, '4611686018427387904'::xid8;
  NEW.xact_id := '4611686018427387904'::xid8;
  NEW.sequence := greatest(last + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint);
  RETURN NEW;
END
$$;

-- A transaction that writes rows on one node commits there first and then on the coordinator, so a crash
-- in between would leave one part. With this trigger it commits in two phases: Citus does so when a table
-- of its own on the coordinator is written, and this DELETE counts although the table has no rows.
CREATE OR REPLACE FUNCTION "commit_in_two_phases"() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  DELETE FROM distribution.two_phase_commits c WHERE c.id = 0;
  RETURN NULL;
END
$$;
REVOKE ALL ON FUNCTION "commit_in_two_phases"() FROM PUBLIC;

-- The rows on a node are committed after those on the coordinator, and the locks of a transaction last
-- until both are. So a new job is locked, and who works on it waits for the transaction that added it.
CREATE OR REPLACE FUNCTION "lock_new_jobs"() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('job ' || j.id::text, 0)) FROM added j;
  RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION "enter_job"(queue text, VARIADIC jobs uuid[])
RETURNS TABLE (tenant_id uuid)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  others boolean;
  scope_text text;
BEGIN
  SELECT min(j.data ->> 'tenantId')::uuid, count(DISTINCT j.data ->> 'tenantId') > 1
    INTO tenant_id, others
    FROM pgboss.job j WHERE j.name = queue AND j.id = ANY (jobs) AND j.state = 'active';
  IF others THEN
    RAISE EXCEPTION 'the jobs are of several tenants' USING ERRCODE = 'insufficient_privilege';
  END IF;
  IF tenant_id IS NULL THEN
    scope_text := public.clear_scope();
    RETURN;
  END IF;
  PERFORM pg_advisory_xact_lock_shared(hashtextextended('job ' || j::text, 0)) FROM unnest(jobs) AS j;
  scope_text := public.set_scope('job', '', NULL, tenant_id);
  RETURN NEXT;
END
$$;

-- Two functions that each ask the node would see two snapshots, and a change between them would look like
-- a wrong counter. So the node is asked once. Invitations are on the coordinator; who writes one waits.
CREATE OR REPLACE FUNCTION "measured_usage"(tenant uuid)
RETURNS TABLE (
  resource_rows bigint, resource_bytes bigint, event_rows bigint, event_bytes bigint,
  stored_resource_rows bigint, stored_resource_bytes bigint, stored_event_rows bigint,
  stored_event_bytes bigint
)
LANGUAGE plpgsql VOLATILE ROWS 1 AS $$
DECLARE
  on_node text;
  on_coordinator text;
  invited_rows bigint;
  invited_bytes bigint;
BEGIN
  SELECT string_agg(c.query, ' UNION ALL ') FILTER (WHERE c.distributed),
      string_agg(c.query, ' UNION ALL ') FILTER (WHERE NOT c.distributed)
    INTO on_node, on_coordinator
    FROM (
      SELECT format('SELECT %L AS budget, (%s)::bigint AS rows, (%s)::bigint AS bytes
          FROM public.%I r WHERE r.tenant_id = $1', a.args[1], a.args[2], a.args[3], a.name) AS query,
        a.distributed
      FROM (
        SELECT t.relname AS name, string_to_array(encode(g.tgargs, 'escape'), '\000') AS args,
          EXISTS (SELECT 1 FROM pg_catalog.pg_dist_partition p WHERE p.logicalrelid = t.oid) AS distributed
        FROM pg_trigger g JOIN pg_class t ON t.oid = g.tgrelid
        WHERE g.tgname = 'count_insert' AND g.tgnargs = 3 AND t.relnamespace = 'public'::regnamespace) a
    ) c;
  LOCK TABLE public.invitations IN SHARE MODE;
  EXECUTE 'SELECT coalesce(sum(s.rows), 0)::bigint, coalesce(sum(s.bytes), 0)::bigint
      FROM (' || on_coordinator || ') s' INTO invited_rows, invited_bytes USING tenant;
  RETURN QUERY EXECUTE
    'SELECT c.*, s.resource_rows + $2, s.resource_bytes + $3, s.event_rows, s.event_bytes
     FROM (
       SELECT u.resource_rows + coalesce(sum(w.resource_rows), 0)::bigint,
         u.resource_bytes + coalesce(sum(w.resource_bytes), 0)::bigint,
         u.event_rows + coalesce(sum(w.event_rows), 0)::bigint,
         u.event_bytes + coalesce(sum(w.event_bytes), 0)::bigint
       FROM public.tenant_usage u
       LEFT JOIN public.usage_changes w ON w.tenant_id = u.tenant_id AND w.tenant_id = $1
       WHERE u.tenant_id = $1 GROUP BY u.tenant_id, u.resource_rows, u.resource_bytes, u.event_rows,
         u.event_bytes) c,
       (SELECT coalesce(sum(r.rows) FILTER (WHERE r.budget = ''resource''), 0)::bigint AS resource_rows,
         coalesce(sum(r.bytes) FILTER (WHERE r.budget = ''resource''), 0)::bigint AS resource_bytes,
         coalesce(sum(r.rows) FILTER (WHERE r.budget = ''event''), 0)::bigint AS event_rows,
         coalesce(sum(r.bytes) FILTER (WHERE r.budget = ''event''), 0)::bigint AS event_bytes
       FROM (' || on_node || ') r) s' USING tenant, invited_rows, invited_bytes;
END
$$;
REVOKE ALL ON FUNCTION "measured_usage"(uuid) FROM PUBLIC;

-- What the trigger `note_erasure` of users does, before the person is deleted.
CREATE OR REPLACE FUNCTION "note_erased_user"(person bigint) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  entered text := coalesce(current_setting('app.scope', true), '');
  own_tenant uuid;
  scope_text text;
BEGIN
  SELECT u.own_tenant_id INTO own_tenant FROM public.users u WHERE u.id = person;
  IF NOT FOUND THEN RETURN; END IF; -- with their last membership
  scope_text := public.set_scope('erasure', '', person, own_tenant);
  INSERT INTO public.erasures (user_id, tenant_id) VALUES (person, NULL);
  INSERT INTO public.erasures (user_id, tenant_id)
    SELECT DISTINCT person, o.tenant_id FROM public.orders o WHERE o.user_id = person;
  UPDATE public.tenants t SET name = 'Tenant ' || left(t.id::text, 8) WHERE t.id = own_tenant;
  scope_text := public.put_scope(entered);
END
$$;
REVOKE ALL ON FUNCTION "note_erased_user"(bigint) FROM PUBLIC;
