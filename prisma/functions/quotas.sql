-- Quotas: what each tenant stores, in rows and bytes. The triggers that count are in triggers.sql.

-- The advisory lock of the counters of a tenant.
CREATE OR REPLACE FUNCTION usage_lock(tenant uuid) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hashtextextended('usage ' || tenant::text, 0);

-- Folds up to 1,000 rows of usage_changes into tenant_usage and member_usage. Requires usage_lock. The bucket of a
-- member is emptied first, which needs the budgets (app.quota), so only transactions of people fold rows that have a
-- member.
CREATE OR REPLACE FUNCTION add_waiting_usage(tenant uuid) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  total record;
  used public.tenant_usage;
  budget bigint[] := nullif(current_setting('app.quota', true), '')::bigint[];
BEGIN
  FOR total IN
    WITH added AS (
      DELETE FROM public.usage_changes c WHERE c.tenant_id = tenant AND c.id IN (
        SELECT o.id FROM public.usage_changes o
        WHERE o.tenant_id = tenant AND (o.user_id IS NULL OR budget IS NOT NULL) LIMIT 1000)
      RETURNING c.*
    )
    SELECT a.user_id, sum(a.resource_rows)::bigint AS resource_rows,
        sum(a.resource_bytes)::bigint AS resource_bytes,
        sum(a.event_rows)::bigint AS event_rows, sum(a.event_bytes)::bigint AS event_bytes
      FROM added a GROUP BY a.user_id
  LOOP
    UPDATE public.tenant_usage u SET
        resource_rows = u.resource_rows + total.resource_rows,
        resource_bytes = u.resource_bytes + total.resource_bytes,
        event_rows = u.event_rows + total.event_rows, event_bytes = u.event_bytes + total.event_bytes
      WHERE u.tenant_id = tenant RETURNING u.* INTO used;
    UPDATE public.member_usage m SET counted_at = now(),
        event_rows = total.event_rows + public.still_in_bucket(m.event_rows,
          coalesce(used.max_event_rows, budget[3]), m.counted_at, budget[5]),
        event_bytes = total.event_bytes + public.still_in_bucket(m.event_bytes,
          coalesce(used.max_event_bytes, budget[4]), m.counted_at, budget[5]),
        resource_rows = greatest(0, total.resource_rows + public.still_in_bucket(m.resource_rows,
          coalesce(used.max_resource_rows, budget[1]), m.counted_at, budget[5])),
        resource_bytes = greatest(0, total.resource_bytes + public.still_in_bucket(m.resource_bytes,
          coalesce(used.max_resource_bytes, budget[2]), m.counted_at, budget[5]))
      WHERE m.tenant_id = tenant AND m.user_id = total.user_id;
  END LOOP;
END
$$;

-- The part of a budget that one member may fill while others need the rest.
CREATE OR REPLACE FUNCTION member_share(budget double precision) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN budget / 4;

-- What is left now of a member's bucket, which had the content `filled` at `counted_at`: a full bucket (member_share)
-- empties in `seconds`.
CREATE OR REPLACE FUNCTION still_in_bucket(
  filled double precision, budget double precision, counted_at timestamptz, seconds double precision
) RETURNS double precision LANGUAGE sql STABLE PARALLEL SAFE
RETURN greatest(0, filled - public.member_share(budget) * extract(epoch FROM now() - counted_at)::float8 / seconds);

-- Adds a change to the counters of a tenant. It never waits: the first writer updates tenant_usage, and concurrent
-- writers insert into usage_changes; about every 32nd writer adds these rows to the counters. So a rollback takes its
-- change along, and two transactions cannot block each other here.
--
-- The transaction of a person has budgets in app.quota: rows and bytes of resources, rows and bytes of events, and the
-- retention of events in seconds. Growth beyond the budget of resources raises QU001, of events QU002. What a person
-- publishes in a tenant with other members also fills a bucket, which empties in the retention period: beyond a quarter
-- of the budget it raises QU003. What a person stores as resources while more than half of the budget is used fills
-- such a bucket too: beyond a quarter of the budget it raises QU004, so a quarter is left for the others. Concurrent
-- transactions do not see each other's changes, so together they may exceed a budget by what they write. A transaction
-- that deletes rows of resources may exceed the budget by a sixteenth for its event, because people delete when a
-- budget is used up (publish_event). The stored result of a request may do so too (app.keeps), and the limit of a
-- member does not apply to it, so that a request which needs no space, such as a rotation, is still possible.
CREATE OR REPLACE FUNCTION add_usage(
  tenant uuid, resource_rows bigint, resource_bytes bigint, event_rows bigint, event_bytes bigint
) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_variable
DECLARE
  used public.tenant_usage;
  budget bigint[] := nullif(current_setting('app.quota', true), '')::bigint[];
  person bigint;
  own public.member_usage;
  most_rows double precision;
  most_bytes double precision;
  reserve bigint := 0;
  is_free boolean;
BEGIN
  IF tenant IS NULL OR resource_rows = 0 AND resource_bytes = 0 AND event_rows = 0 AND event_bytes = 0 THEN
    RETURN NULL;
  END IF;
  is_free := pg_try_advisory_xact_lock(public.usage_lock(tenant));
  IF is_free THEN
    IF random() < 0.03125 THEN PERFORM public.add_waiting_usage(tenant); END IF;
    UPDATE public.tenant_usage u SET
        resource_rows = u.resource_rows + resource_rows,
        resource_bytes = u.resource_bytes + resource_bytes,
        event_rows = u.event_rows + event_rows, event_bytes = u.event_bytes + event_bytes
      WHERE u.tenant_id = tenant RETURNING u.* INTO used;
  ELSIF budget IS NOT NULL THEN
    SELECT u.tenant_id, c.resource_rows + resource_rows, c.resource_bytes + resource_bytes,
        c.event_rows + event_rows, c.event_bytes + event_bytes,
        u.max_resource_rows, u.max_resource_bytes, u.max_event_rows, u.max_event_bytes
      INTO used FROM public.tenant_usage u CROSS JOIN public.counted_usage(tenant) c
      WHERE u.tenant_id = tenant;
  END IF;
  -- A member is limited to a share only in a tenant with other members, and for resources only when half of the budget
  -- is used.
  IF budget IS NOT NULL AND (event_rows > 0
    OR used.resource_rows > coalesce(used.max_resource_rows, budget[1]) / 2
    OR used.resource_bytes > coalesce(used.max_resource_bytes, budget[2]) / 2)
  THEN
    IF EXISTS (SELECT FROM public.memberships m WHERE m.tenant_id = tenant OFFSET 1) THEN
      person := public.current_user_id();
    END IF;
  END IF;
  IF is_free THEN
    IF person IS NOT NULL THEN
      INSERT INTO public.member_usage AS m
          (tenant_id, user_id, event_rows, event_bytes, resource_rows, resource_bytes)
        VALUES (tenant, person, event_rows, event_bytes, greatest(0, resource_rows), greatest(0, resource_bytes))
        ON CONFLICT ON CONSTRAINT member_usage_pkey DO UPDATE SET counted_at = now(),
          event_rows = event_rows + public.still_in_bucket(m.event_rows,
            coalesce(used.max_event_rows, budget[3]), m.counted_at, budget[5]),
          event_bytes = event_bytes + public.still_in_bucket(m.event_bytes,
            coalesce(used.max_event_bytes, budget[4]), m.counted_at, budget[5]),
          resource_rows = greatest(0, resource_rows + public.still_in_bucket(m.resource_rows,
            coalesce(used.max_resource_rows, budget[1]), m.counted_at, budget[5])),
          resource_bytes = greatest(0, resource_bytes + public.still_in_bucket(m.resource_bytes,
            coalesce(used.max_resource_bytes, budget[2]), m.counted_at, budget[5]))
        RETURNING m.* INTO own;
      -- Near the limit, usage_changes count too.
      IF own.event_rows > public.member_share(coalesce(used.max_event_rows, budget[3])) / 2
        OR own.event_bytes > public.member_share(coalesce(used.max_event_bytes, budget[4])) / 2
        OR own.resource_rows > public.member_share(coalesce(used.max_resource_rows, budget[1])) / 2
        OR own.resource_bytes > public.member_share(coalesce(used.max_resource_bytes, budget[2])) / 2
      THEN
        SELECT own.event_rows + coalesce(sum(c.event_rows), 0), own.event_bytes + coalesce(sum(c.event_bytes), 0),
            own.resource_rows + coalesce(sum(c.resource_rows), 0), own.resource_bytes + coalesce(sum(c.resource_bytes), 0)
          INTO own.event_rows, own.event_bytes, own.resource_rows, own.resource_bytes
          FROM public.usage_changes c WHERE c.tenant_id = tenant AND c.user_id = person;
      END IF;
    END IF;
  ELSE
    INSERT INTO public.usage_changes (tenant_id, resource_rows, resource_bytes, event_rows, event_bytes, user_id)
      VALUES (tenant, resource_rows, resource_bytes, event_rows, event_bytes, person);
    IF person IS NOT NULL THEN
      SELECT m.tenant_id, m.user_id,
          coalesce(sum(c.event_rows), 0) + public.still_in_bucket(m.event_rows,
            coalesce(u.max_event_rows, budget[3]), m.counted_at, budget[5]),
          coalesce(sum(c.event_bytes), 0) + public.still_in_bucket(m.event_bytes,
            coalesce(u.max_event_bytes, budget[4]), m.counted_at, budget[5]), m.counted_at,
          coalesce(sum(c.resource_rows), 0) + public.still_in_bucket(m.resource_rows,
            coalesce(u.max_resource_rows, budget[1]), m.counted_at, budget[5]),
          coalesce(sum(c.resource_bytes), 0) + public.still_in_bucket(m.resource_bytes,
            coalesce(u.max_resource_bytes, budget[2]), m.counted_at, budget[5])
        INTO own FROM public.member_usage m
        JOIN public.tenant_usage u ON u.tenant_id = m.tenant_id
        LEFT JOIN public.usage_changes c ON c.tenant_id = tenant AND c.user_id = m.user_id
        WHERE m.tenant_id = tenant AND m.user_id = person GROUP BY m.tenant_id, m.user_id, u.tenant_id;
    END IF;
  END IF;
  IF budget IS NULL THEN RETURN NULL; END IF;
  IF resource_rows < 0 THEN RETURN set_config('app.deletes', 'on', true); END IF;
  -- Near a limit, usage_changes count too.
  IF is_free AND (used.resource_rows > coalesce(used.max_resource_rows, budget[1]) / 16 * 15
    OR used.resource_bytes > coalesce(used.max_resource_bytes, budget[2]) / 16 * 15
    OR used.event_rows > coalesce(used.max_event_rows, budget[3]) / 16 * 15
    OR used.event_bytes > coalesce(used.max_event_bytes, budget[4]) / 16 * 15)
  THEN
    SELECT u.tenant_id, c.*, u.max_resource_rows, u.max_resource_bytes, u.max_event_rows,
        u.max_event_bytes
      INTO used FROM public.tenant_usage u CROSS JOIN public.counted_usage(tenant) c
      WHERE u.tenant_id = tenant;
  END IF;
  IF resource_rows = 0 AND current_setting('app.keeps', true) = 'on' THEN
    reserve := greatest(coalesce(used.max_resource_bytes, budget[2]) / 16, 1048576);
  END IF;
  IF resource_rows > 0 AND used.resource_rows > coalesce(used.max_resource_rows, budget[1])
    -- Subtracted, because without a limit the budget is the largest bigint.
    OR resource_bytes > 0 AND used.resource_bytes - reserve > coalesce(used.max_resource_bytes, budget[2])
  THEN
    RAISE EXCEPTION 'the tenant has used up its quota of resources' USING ERRCODE = 'QU001';
  END IF;
  IF current_setting('app.keeps', true) IS DISTINCT FROM 'on' AND (
    resource_rows > 0 AND own.resource_rows > public.member_share(coalesce(used.max_resource_rows, budget[1]))
    OR resource_bytes > 0 AND own.resource_bytes > public.member_share(coalesce(used.max_resource_bytes, budget[2])))
  THEN
    RAISE EXCEPTION 'the member has used up their share of the resources' USING ERRCODE = 'QU004';
  END IF;
  most_rows := coalesce(used.max_event_rows, budget[3]);
  most_bytes := coalesce(used.max_event_bytes, budget[4]);
  IF current_setting('app.deletes', true) = 'on' THEN
    most_rows := most_rows + greatest(most_rows / 16, 1000);
    most_bytes := most_bytes + greatest(most_bytes / 16, 1048576);
  END IF;
  IF event_rows > 0 AND used.event_rows > most_rows OR event_bytes > 0 AND used.event_bytes > most_bytes THEN
    RAISE EXCEPTION 'the tenant has used up its quota of events' USING ERRCODE = 'QU002';
  END IF;
  IF own.event_rows > public.member_share(most_rows) OR own.event_bytes > public.member_share(most_bytes) THEN
    RAISE EXCEPTION 'the member has used up their share of the events' USING ERRCODE = 'QU003';
  END IF;
  RETURN NULL;
END
$$;

-- Adds and removes the counters of tenants. Runs once per statement, after the cascades.
CREATE OR REPLACE FUNCTION count_tenants() RETURNS trigger
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO public.tenant_usage (tenant_id) SELECT n.id FROM new_rows n ON CONFLICT DO NOTHING;
  ELSE
    DELETE FROM public.tenant_usage u USING old_rows o WHERE u.tenant_id = o.id;
    DELETE FROM public.usage_changes c USING old_rows o WHERE c.tenant_id = o.id;
  END IF;
  RETURN NULL;
END
$$;

-- What a tenant stores according to its counters, including usage_changes.
CREATE OR REPLACE FUNCTION counted_usage(tenant uuid)
RETURNS TABLE (resource_rows bigint, resource_bytes bigint, event_rows bigint, event_bytes bigint)
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT u.resource_rows + coalesce(sum(c.resource_rows), 0)::bigint,
         u.resource_bytes + coalesce(sum(c.resource_bytes), 0)::bigint,
         u.event_rows + coalesce(sum(c.event_rows), 0)::bigint,
         u.event_bytes + coalesce(sum(c.event_bytes), 0)::bigint
  FROM public.tenant_usage u LEFT JOIN public.usage_changes c ON c.tenant_id = u.tenant_id
  WHERE u.tenant_id = tenant GROUP BY u.tenant_id;
END
$$;

-- What a tenant stores according to its counters and to its rows, on one snapshot: rows and bytes of resources, then of
-- events. Requires the scope `usage`.
CREATE OR REPLACE FUNCTION measured_usage(tenant uuid, OUT counted bigint[], OUT stored bigint[])
LANGUAGE plpgsql STABLE AS $$
DECLARE
  all_tables text;
BEGIN
  SELECT string_agg(format('SELECT %L AS budget, (%s)::bigint AS rows, (%s)::bigint AS bytes
      FROM public.%I r WHERE r.tenant_id = $1', c.args[1], c.args[2], c.args[3], c.name), ' UNION ALL ')
    INTO all_tables
    FROM (
      SELECT t.relname AS name, string_to_array(encode(g.tgargs, 'escape'), '\000') AS args
      FROM pg_trigger g JOIN pg_class t ON t.oid = g.tgrelid
      WHERE g.tgname = 'count_insert' AND g.tgnargs = 3 AND t.relnamespace = 'public'::regnamespace
    ) c;
  EXECUTE
    'SELECT ARRAY[c.resource_rows, c.resource_bytes, c.event_rows, c.event_bytes], s.stored
     FROM public.counted_usage($1) c, (
       SELECT ARRAY[coalesce(sum(r.rows) FILTER (WHERE r.budget = ''resource''), 0)::bigint,
         coalesce(sum(r.bytes) FILTER (WHERE r.budget = ''resource''), 0)::bigint,
         coalesce(sum(r.rows) FILTER (WHERE r.budget = ''event''), 0)::bigint,
         coalesce(sum(r.bytes) FILTER (WHERE r.budget = ''event''), 0)::bigint] AS stored
       FROM (' || all_tables || ') r) s' INTO counted, stored USING tenant;
END
$$;

-- Compares counters and rows of the next tenant, and with `repair` corrects the counters.
CREATE OR REPLACE FUNCTION check_usage(tenant_after uuid, repair boolean)
RETURNS TABLE (tenant_id uuid, counted bigint[], stored bigint[])
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  SELECT u.tenant_id INTO tenant_id FROM public.tenant_usage u
    WHERE u.tenant_id > tenant_after ORDER BY u.tenant_id LIMIT 1;
  IF tenant_id IS NULL THEN RETURN; END IF;
  IF repair THEN
    PERFORM pg_advisory_xact_lock(public.usage_lock(tenant_id));
    PERFORM public.add_waiting_usage(tenant_id);
  END IF;
  PERFORM public.set_scope('usage', '', NULL, tenant_id);
  SELECT m.counted, m.stored INTO counted, stored FROM public.measured_usage(tenant_id) m;
  IF repair AND counted <> stored THEN
    -- The snapshot contains usage_changes and the rows that they count, so they can be folded in later.
    UPDATE public.tenant_usage u SET
        resource_rows = u.resource_rows + stored[1] - counted[1],
        resource_bytes = u.resource_bytes + stored[2] - counted[2],
        event_rows = u.event_rows + stored[3] - counted[3],
        event_bytes = u.event_bytes + stored[4] - counted[4]
      WHERE u.tenant_id = check_usage.tenant_id;
  END IF;
  PERFORM public.clear_scope();
  RETURN NEXT;
END
$$;

-- For operators: tenants by what they store, largest first, with their own limits.
CREATE OR REPLACE FUNCTION list_usage(batch integer) RETURNS SETOF tenant_usage
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN QUERY
  SELECT u.* FROM public.tenant_usage u
  ORDER BY u.resource_bytes + u.event_bytes DESC, u.tenant_id LIMIT batch;
END
$$;

-- For operators: the number of tenants, and of those that have used `share` of a budget.
CREATE OR REPLACE FUNCTION count_near_quota(budget bigint[], share double precision)
RETURNS TABLE (tenants bigint, resources bigint, events bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT count(*),
    count(*) FILTER (WHERE u.resource_rows >= share * coalesce(u.max_resource_rows, budget[1])
                        OR u.resource_bytes >= share * coalesce(u.max_resource_bytes, budget[2])),
    count(*) FILTER (WHERE u.event_rows >= share * coalesce(u.max_event_rows, budget[3])
                        OR u.event_bytes >= share * coalesce(u.max_event_bytes, budget[4]))
  FROM public.tenant_usage u;
END
$$;

-- For operators: sets the limits of a tenant; NULL for the setting. Returns false if there is no such tenant.
CREATE OR REPLACE FUNCTION set_quota(tenant uuid, resource_limits bigint[], event_limits bigint[]) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(public.usage_lock(tenant));
  UPDATE public.tenant_usage u SET
      max_resource_rows = resource_limits[1], max_resource_bytes = resource_limits[2],
      max_event_rows = event_limits[1], max_event_bytes = event_limits[2]
    WHERE u.tenant_id = tenant;
  RETURN FOUND;
END
$$;

-- No statement charges the result of a request to a tenant other than the current one (triggers.sql).
CREATE OR REPLACE FUNCTION refuse_foreign_tenant() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF NEW.tenant_id IS DISTINCT FROM public.current_tenant_id() THEN
    RAISE EXCEPTION 'the key would move to another tenant' USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NEW;
END
$$;
