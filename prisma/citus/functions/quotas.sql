-- Quotas: what each tenant stores, in rows and bytes. The triggers that count are in triggers.sql.

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
) RETURNS text
LANGUAGE plpgsql VOLATILE AS $$
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
    SELECT u.tenant_id, u.resource_rows + coalesce(sum(c.resource_rows), 0)::bigint + resource_rows,
           u.resource_bytes + coalesce(sum(c.resource_bytes), 0)::bigint + resource_bytes,
           u.event_rows + coalesce(sum(c.event_rows), 0)::bigint + event_rows,
           u.event_bytes + coalesce(sum(c.event_bytes), 0)::bigint + event_bytes,
           u.max_resource_rows, u.max_resource_bytes, u.max_event_rows, u.max_event_bytes
      INTO used FROM public.tenant_usage u
      LEFT JOIN public.usage_changes c ON c.tenant_id = u.tenant_id
      WHERE u.tenant_id = tenant GROUP BY u.tenant_id;
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
      -- Citus accepts no function in DO UPDATE. The lock keeps others from changing the row meanwhile.
      SELECT m.* INTO own FROM public.member_usage m WHERE m.tenant_id = tenant AND m.user_id = person;
      own.event_rows := event_rows + public.still_in_bucket(own.event_rows,
        coalesce(used.max_event_rows, budget[3]), own.counted_at, budget[5]);
      own.event_bytes := event_bytes + public.still_in_bucket(own.event_bytes,
        coalesce(used.max_event_bytes, budget[4]), own.counted_at, budget[5]);
      own.resource_rows := greatest(0, resource_rows + coalesce(public.still_in_bucket(own.resource_rows,
        coalesce(used.max_resource_rows, budget[1]), own.counted_at, budget[5]), 0));
      own.resource_bytes := greatest(0, resource_bytes + coalesce(public.still_in_bucket(own.resource_bytes,
        coalesce(used.max_resource_bytes, budget[2]), own.counted_at, budget[5]), 0));
      own.counted_at := now();
      INSERT INTO public.member_usage
          (tenant_id, user_id, event_rows, event_bytes, counted_at, resource_rows, resource_bytes)
        VALUES (tenant, person, own.event_rows, own.event_bytes, own.counted_at, own.resource_rows, own.resource_bytes)
        ON CONFLICT (tenant_id, user_id) DO UPDATE SET counted_at = excluded.counted_at,
          event_rows = excluded.event_rows, event_bytes = excluded.event_bytes,
          resource_rows = excluded.resource_rows, resource_bytes = excluded.resource_bytes;
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
    SELECT u.tenant_id, u.resource_rows + coalesce(sum(c.resource_rows), 0)::bigint,
           u.resource_bytes + coalesce(sum(c.resource_bytes), 0)::bigint,
           u.event_rows + coalesce(sum(c.event_rows), 0)::bigint,
           u.event_bytes + coalesce(sum(c.event_bytes), 0)::bigint,
           u.max_resource_rows, u.max_resource_bytes, u.max_event_rows, u.max_event_bytes
      INTO used FROM public.tenant_usage u
      LEFT JOIN public.usage_changes c ON c.tenant_id = u.tenant_id
      WHERE u.tenant_id = tenant GROUP BY u.tenant_id;
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

-- As in prisma/functions, but asks the node once: two queries would see two snapshots, and a change between them would
-- look like a wrong counter. Invitations are on the coordinator; their table is locked against writes meanwhile.
CREATE OR REPLACE FUNCTION measured_usage(tenant uuid, OUT counted bigint[], OUT stored bigint[])
LANGUAGE plpgsql VOLATILE AS $$
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
  EXECUTE
    'SELECT c.counted, ARRAY[s.resource_rows + $2, s.resource_bytes + $3, s.event_rows, s.event_bytes]
     FROM (
       SELECT ARRAY[u.resource_rows + coalesce(sum(w.resource_rows), 0)::bigint,
         u.resource_bytes + coalesce(sum(w.resource_bytes), 0)::bigint,
         u.event_rows + coalesce(sum(w.event_rows), 0)::bigint,
         u.event_bytes + coalesce(sum(w.event_bytes), 0)::bigint] AS counted
       FROM public.tenant_usage u
       LEFT JOIN public.usage_changes w ON w.tenant_id = u.tenant_id AND w.tenant_id = $1
       WHERE u.tenant_id = $1 GROUP BY u.tenant_id, u.resource_rows, u.resource_bytes, u.event_rows,
         u.event_bytes) c,
       (SELECT coalesce(sum(r.rows) FILTER (WHERE r.budget = ''resource''), 0)::bigint AS resource_rows,
         coalesce(sum(r.bytes) FILTER (WHERE r.budget = ''resource''), 0)::bigint AS resource_bytes,
         coalesce(sum(r.rows) FILTER (WHERE r.budget = ''event''), 0)::bigint AS event_rows,
         coalesce(sum(r.bytes) FILTER (WHERE r.budget = ''event''), 0)::bigint AS event_bytes
       FROM (' || on_node || ') r) s' INTO counted, stored USING tenant, invited_rows, invited_bytes;
END
$$;
