-- Budgets of rows and bytes per tenant. Triggers count what a tenant stores: `resources` are what its
-- people create, `events` what is published, delivered and attempted for it. Old replays,
-- notifications and invitations are deleted with old events.
--
-- Functions are added and replaced, so stop every process of the older release first (docs/upgrades.md).
-- Every row is read once to be counted: some seconds for ten million rows.

-- Bytes are the UTF-8 octets of the stored texts. A limit is NULL where the setting applies
-- (QUOTA_RESOURCES, QUOTA_EVENTS). Rows change in place, so pages keep room.
CREATE TABLE "tenant_usage" (
  "tenant_id" uuid NOT NULL,
  "resource_rows" bigint NOT NULL DEFAULT 0,
  "resource_bytes" bigint NOT NULL DEFAULT 0,
  "event_rows" bigint NOT NULL DEFAULT 0,
  "event_bytes" bigint NOT NULL DEFAULT 0,
  "max_resource_rows" bigint CHECK ("max_resource_rows" >= 0),
  "max_resource_bytes" bigint CHECK ("max_resource_bytes" >= 0),
  "max_event_rows" bigint CHECK ("max_event_rows" >= 0),
  "max_event_bytes" bigint CHECK ("max_event_bytes" >= 0),
  CONSTRAINT "tenant_usage_pkey" PRIMARY KEY ("tenant_id")
) WITH (fillfactor = 50);

-- Changes that wait to be added to tenant_usage: a writer that finds another one at work leaves
-- its change here instead of waiting.
CREATE TABLE "usage_changes" (
  "tenant_id" uuid NOT NULL,
  "id" bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  "resource_rows" bigint NOT NULL,
  "resource_bytes" bigint NOT NULL,
  "event_rows" bigint NOT NULL,
  "event_bytes" bigint NOT NULL,
  CONSTRAINT "usage_changes_pkey" PRIMARY KEY ("tenant_id", "id")
);

-- Not FORCEd: the triggers write them as their owner, in every scope.
ALTER TABLE "tenant_usage" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "tenant_scope" ON "tenant_usage" FOR SELECT
  USING ("tenant_id" = (SELECT current_tenant_id()));
ALTER TABLE "usage_changes" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "tenant_scope" ON "usage_changes" FOR SELECT
  USING ("tenant_id" = (SELECT current_tenant_id()));

-- The attempts of a delivery, counted with it: they are deleted with it, one statement each.
-- Attempts that were made before this migration are not counted.
ALTER TABLE "deliveries"
  ADD COLUMN "stored_attempts" integer NOT NULL DEFAULT 0,
  ADD COLUMN "stored_bytes" bigint NOT NULL DEFAULT 0;

-- What is counted is also read by tenant alone. The policy is the owner's, so it costs no other
-- role anything, and only functions below set this scope.
CREATE POLICY "usage" ON "orders" FOR SELECT TO CURRENT_USER
  USING ("tenant_id" = (SELECT current_tenant_id()) AND (SELECT current_scope_kind()) = 'usage');
CREATE POLICY "usage" ON "documents" FOR SELECT TO CURRENT_USER
  USING ("tenant_id" = (SELECT current_tenant_id()) AND (SELECT current_scope_kind()) = 'usage');

-- One writer of the counters of a tenant at a time.
CREATE FUNCTION "usage_lock"(tenant uuid) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hashtextextended('usage ' || tenant::text, 0);

-- Adds what waits to the counters of a tenant, up to 1,000 changes. The caller has usage_lock.
CREATE FUNCTION "add_waiting_usage"(tenant uuid) RETURNS void
LANGUAGE sql VOLATILE AS $$
  WITH added AS (
    DELETE FROM public.usage_changes c WHERE c.tenant_id = tenant AND c.id IN (
      SELECT o.id FROM public.usage_changes o WHERE o.tenant_id = tenant LIMIT 1000)
    RETURNING c.*
  ), total AS (
    SELECT sum(a.resource_rows)::bigint AS resource_rows,
           sum(a.resource_bytes)::bigint AS resource_bytes,
           sum(a.event_rows)::bigint AS event_rows, sum(a.event_bytes)::bigint AS event_bytes
    FROM added a HAVING count(*) > 0
  )
  UPDATE public.tenant_usage u SET
      resource_rows = u.resource_rows + total.resource_rows,
      resource_bytes = u.resource_bytes + total.resource_bytes,
      event_rows = u.event_rows + total.event_rows, event_bytes = u.event_bytes + total.event_bytes
    FROM total WHERE u.tenant_id = tenant
$$;

-- Adds a change to what the tenant stores. It never waits: the first writer changes the counters,
-- writers beside it leave their changes in usage_changes, which one of 32 later writers adds up. So a
-- rollback takes its change along, and no two transactions can block each other here.
--
-- The transaction of a person has budgets (app.quota: rows and bytes of resources, rows and bytes of
-- events). What grows beyond one is refused: QU001 resources, QU002 events. Concurrent transactions
-- do not see each other's changes, so together they may exceed it by what they are writing. A
-- transaction that deletes rows of resources is not limited, because its event must be stored too.
CREATE FUNCTION "add_usage"(
  tenant uuid, resource_rows bigint, resource_bytes bigint, event_rows bigint, event_bytes bigint
) RETURNS text
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_variable
DECLARE
  used public.tenant_usage;
  quota text := current_setting('app.quota', true);
  budget bigint[];
BEGIN
  IF pg_try_advisory_xact_lock(public.usage_lock(tenant)) THEN
    IF random() < 0.03125 THEN PERFORM public.add_waiting_usage(tenant); END IF;
    UPDATE public.tenant_usage u SET
        resource_rows = u.resource_rows + resource_rows,
        resource_bytes = u.resource_bytes + resource_bytes,
        event_rows = u.event_rows + event_rows, event_bytes = u.event_bytes + event_bytes
      WHERE u.tenant_id = tenant RETURNING u.* INTO used;
  ELSE
    INSERT INTO public.usage_changes (tenant_id, resource_rows, resource_bytes, event_rows, event_bytes)
      VALUES (tenant, resource_rows, resource_bytes, event_rows, event_bytes);
  END IF;
  IF quota IS NULL OR quota = '' THEN RETURN NULL; END IF;
  IF resource_rows < 0 THEN RETURN set_config('app.quota', '', true); END IF;
  budget := quota::bigint[];
  -- Near a limit, what waits counts too.
  IF used.tenant_id IS NULL
    OR used.resource_rows > coalesce(used.max_resource_rows, budget[1]) / 16 * 15
    OR used.resource_bytes > coalesce(used.max_resource_bytes, budget[2]) / 16 * 15
    OR used.event_rows > coalesce(used.max_event_rows, budget[3]) / 16 * 15
    OR used.event_bytes > coalesce(used.max_event_bytes, budget[4]) / 16 * 15
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
  IF resource_rows > 0 AND used.resource_rows > coalesce(used.max_resource_rows, budget[1])
    OR resource_bytes > 0 AND used.resource_bytes > coalesce(used.max_resource_bytes, budget[2])
  THEN
    RAISE EXCEPTION 'the tenant has used up its quota of resources' USING ERRCODE = 'QU001';
  END IF;
  IF event_rows > 0 AND used.event_rows > coalesce(used.max_event_rows, budget[3])
    OR event_bytes > 0 AND used.event_bytes > coalesce(used.max_event_bytes, budget[4])
  THEN
    RAISE EXCEPTION 'the tenant has used up its quota of events' USING ERRCODE = 'QU002';
  END IF;
  RETURN NULL;
END
$$;

-- Counts a table with a column tenant_id under a budget: `resource` or `event`. `bytes` and `rows` are
-- expressions over a row `r`. The table gets a function and three triggers, once per statement: a bulk
-- change is counted once for each tenant. The arguments of the triggers keep the expressions.
CREATE FUNCTION "count_table"(
  counted text, budget text, bytes text, rows text DEFAULT '1'
) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  name text := 'count_' || counted;
  stored text := format('(%s)::bigint AS rows, (%s)::bigint AS bytes', rows, bytes);
  change text := CASE budget
    WHEN 'resource' THEN 'change.rows, change.bytes, 0, 0'
    WHEN 'event' THEN '0, 0, change.rows, change.bytes' END;
  trigger record;
BEGIN
  EXECUTE format($function$
    CREATE FUNCTION public.%1$I() RETURNS trigger
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $body$
    BEGIN
      IF TG_OP = 'INSERT' THEN
        PERFORM public.add_usage(change.tenant_id, %3$s) FROM (
          SELECT n.tenant_id, sum(n.rows)::bigint AS rows, sum(n.bytes)::bigint AS bytes
          FROM (SELECT r.tenant_id, %2$s FROM new_rows r) n GROUP BY n.tenant_id) change;
      ELSIF TG_OP = 'DELETE' THEN
        PERFORM public.add_usage(change.tenant_id, %3$s) FROM (
          SELECT o.tenant_id, -sum(o.rows)::bigint AS rows, -sum(o.bytes)::bigint AS bytes
          FROM (SELECT r.tenant_id, %2$s FROM old_rows r) o GROUP BY o.tenant_id) change;
      ELSE
        PERFORM public.add_usage(change.tenant_id, %3$s) FROM (
          SELECT b.tenant_id, sum(b.rows)::bigint AS rows, sum(b.bytes)::bigint AS bytes
          FROM (
            SELECT r.tenant_id, %2$s FROM new_rows r
            UNION ALL
            SELECT o.tenant_id, -o.rows, -o.bytes FROM (SELECT r.tenant_id, %2$s FROM old_rows r) o
          ) b GROUP BY b.tenant_id HAVING sum(b.rows) <> 0 OR sum(b.bytes) <> 0) change;
      END IF;
      RETURN NULL;
    END
    $body$
    $function$, name, stored, change);
  EXECUTE format('REVOKE ALL ON FUNCTION public.%I() FROM PUBLIC', name);
  FOR trigger IN SELECT * FROM (VALUES
    ('insert', 'NEW TABLE AS new_rows'),
    ('update', 'OLD TABLE AS old_rows NEW TABLE AS new_rows'),
    ('delete', 'OLD TABLE AS old_rows')
  ) t ("event", "tables") LOOP
    EXECUTE format(
      'CREATE TRIGGER %I AFTER %s ON public.%I REFERENCING %s FOR EACH STATEMENT
       EXECUTE FUNCTION public.%I(%L, %L, %L)',
      'count_' || trigger.event, trigger.event, counted, trigger.tables, name, budget, rows, bytes);
  END LOOP;
END
$$;

SELECT "count_table"('orders', 'resource',
  'octet_length(r.line_items::text) + octet_length(r.shipping_address::text) + octet_length(r.card_last4)');
SELECT "count_table"('posts', 'resource',
  'octet_length(r.title) + octet_length(r.body) + coalesce(octet_length(r.department), 0)');
SELECT "count_table"('documents', 'resource', 'octet_length(r.title) + octet_length(r.body)');
SELECT "count_table"('folders', 'resource', 'octet_length(r.name)');
SELECT "count_table"('teams', 'resource', 'octet_length(r.name)');
SELECT "count_table"('team_members', 'resource', '0');
SELECT "count_table"('invitations', 'resource',
  'octet_length(r.email) + coalesce(octet_length(r.department), 0)');
SELECT "count_table"('outbound_events', 'event', 'octet_length(r.body)');
SELECT "count_table"('deliveries', 'event', 'r.stored_bytes', '1 + r.stored_attempts');
SELECT "count_table"('notifications', 'event', 'octet_length(r.message)');
SELECT "count_table"('endpoint_replays', 'event', '0');

-- What a tenant stores by its rows, on the snapshot of the calling statement, in the scope `usage`.
CREATE FUNCTION "stored_usage"(tenant uuid)
RETURNS TABLE (resource_rows bigint, resource_bytes bigint, event_rows bigint, event_bytes bigint)
LANGUAGE plpgsql STABLE ROWS 1 AS $$
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
  RETURN QUERY EXECUTE
    'SELECT coalesce(sum(s.rows) FILTER (WHERE s.budget = ''resource''), 0)::bigint,
            coalesce(sum(s.bytes) FILTER (WHERE s.budget = ''resource''), 0)::bigint,
            coalesce(sum(s.rows) FILTER (WHERE s.budget = ''event''), 0)::bigint,
            coalesce(sum(s.bytes) FILTER (WHERE s.budget = ''event''), 0)::bigint
     FROM (' || all_tables || ') s' USING tenant;
END
$$;

-- A row for each tenant, gone with the tenant. Once per statement, so after the cascades.
CREATE FUNCTION "count_tenants"() RETURNS trigger
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
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
CREATE TRIGGER "count_insert" AFTER INSERT ON "tenants"
  REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION "count_tenants"();
CREATE TRIGGER "count_delete" AFTER DELETE ON "tenants"
  REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION "count_tenants"();

-- What the counters say a tenant stores: its row and what waits to be added.
CREATE FUNCTION "counted_usage"(tenant uuid)
RETURNS TABLE (resource_rows bigint, resource_bytes bigint, event_rows bigint, event_bytes bigint)
LANGUAGE sql STABLE AS $$
  SELECT u.resource_rows + coalesce(sum(c.resource_rows), 0)::bigint,
         u.resource_bytes + coalesce(sum(c.resource_bytes), 0)::bigint,
         u.event_rows + coalesce(sum(c.event_rows), 0)::bigint,
         u.event_bytes + coalesce(sum(c.event_bytes), 0)::bigint
  FROM public.tenant_usage u LEFT JOIN public.usage_changes c ON c.tenant_id = u.tenant_id
  WHERE u.tenant_id = tenant GROUP BY u.tenant_id
$$;

-- Counts the rows of the next tenant after `tenant_after`, beside what the counters say on the same
-- snapshot. With `repair` wrong counters are set right; writers do not wait for that. No row when
-- there is no further tenant. Sets no scope.
CREATE FUNCTION "check_usage"(tenant_after uuid, repair boolean)
RETURNS TABLE (
  tenant_id uuid, is_right boolean,
  resource_rows bigint, resource_bytes bigint, event_rows bigint, event_bytes bigint,
  stored_resource_rows bigint, stored_resource_bytes bigint, stored_event_rows bigint,
  stored_event_bytes bigint
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
  tenant uuid;
  scope_text text;
BEGIN
  SELECT u.tenant_id INTO tenant FROM public.tenant_usage u
    WHERE u.tenant_id > tenant_after ORDER BY u.tenant_id LIMIT 1;
  IF tenant IS NULL THEN RETURN; END IF;
  IF repair THEN
    PERFORM pg_advisory_xact_lock(public.usage_lock(tenant));
    PERFORM public.add_waiting_usage(tenant);
  END IF;
  scope_text := public.set_scope('usage', '', NULL, tenant);
  RETURN QUERY
    SELECT tenant, counted IS NOT DISTINCT FROM stored, counted.*, stored.*
    FROM public.counted_usage(tenant) counted, public.stored_usage(tenant) stored;
  IF repair THEN
    -- What waits is on the same snapshot as the rows it belongs to, so it is left to be added later.
    UPDATE public.tenant_usage u SET
        resource_rows = u.resource_rows + stored.resource_rows - counted.resource_rows,
        resource_bytes = u.resource_bytes + stored.resource_bytes - counted.resource_bytes,
        event_rows = u.event_rows + stored.event_rows - counted.event_rows,
        event_bytes = u.event_bytes + stored.event_bytes - counted.event_bytes
      FROM public.counted_usage(tenant) counted, public.stored_usage(tenant) stored
      WHERE u.tenant_id = tenant AND counted IS DISTINCT FROM stored;
  END IF;
  scope_text := public.clear_scope();
END
$$;

-- For operators: tenants by how much they store, largest first, with limits of their own.
CREATE FUNCTION "list_usage"(batch integer)
RETURNS TABLE (
  tenant_id uuid, resource_rows bigint, resource_bytes bigint, event_rows bigint,
  event_bytes bigint, max_resource_rows bigint, max_resource_bytes bigint, max_event_rows bigint,
  max_event_bytes bigint
)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
  SELECT u.* FROM public.tenant_usage u
  ORDER BY u.resource_bytes + u.event_bytes DESC, u.tenant_id LIMIT batch
$$;

-- For operators: the number of tenants, and of those that have used `share` of a budget.
CREATE FUNCTION "count_near_quota"(budget bigint[], share double precision)
RETURNS TABLE (tenants bigint, resources bigint, events bigint)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
  SELECT count(*),
    count(*) FILTER (WHERE u.resource_rows >= share * coalesce(u.max_resource_rows, budget[1])
                        OR u.resource_bytes >= share * coalesce(u.max_resource_bytes, budget[2])),
    count(*) FILTER (WHERE u.event_rows >= share * coalesce(u.max_event_rows, budget[3])
                        OR u.event_bytes >= share * coalesce(u.max_event_bytes, budget[4]))
  FROM public.tenant_usage u
$$;

-- For operators: limits of one tenant's own; NULL for the setting. False when there is no such tenant.
CREATE FUNCTION "set_quota"(tenant uuid, resource_limits bigint[], event_limits bigint[])
RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(public.usage_lock(tenant));
  UPDATE public.tenant_usage u SET
      max_resource_rows = resource_limits[1], max_resource_bytes = resource_limits[2],
      max_event_rows = event_limits[1], max_event_bytes = event_limits[2]
    WHERE u.tenant_id = tenant;
  RETURN FOUND;
END
$$;

-- Deletes one batch of old events, with their deliveries and attempts, and of finished replays,
-- notifications and expired invitations of the next tenant after `tenant_after`. Without an endpoint
-- a tenant has events for the feed alone; those created before `feed_before` are deleted too.
-- No row when there is no further tenant. Sets no scope.
DROP FUNCTION "purge_outbound_events"(uuid, timestamptz, integer);
CREATE FUNCTION "purge_history"(
  tenant_after uuid, older_than timestamptz, feed_before timestamptz, batch integer
)
RETURNS TABLE (tenant_id uuid, events integer, others integer, more boolean)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
  tenant uuid;
  events_before timestamptz := older_than;
  old text[];
  scope_text text;
  deleted integer;
BEGIN
  SELECT u.tenant_id INTO tenant FROM public.tenant_usage u
    WHERE u.tenant_id > tenant_after ORDER BY u.tenant_id LIMIT 1;
  IF tenant IS NULL THEN RETURN; END IF;
  tenant_id := tenant;
  scope_text := public.set_scope('retention', '', NULL, tenant);
  IF NOT EXISTS (SELECT FROM public.webhook_endpoints e WHERE e.tenant_id = tenant) THEN
    events_before := greatest(older_than, feed_before);
  END IF;
  old := ARRAY(
    SELECT e.id FROM public.outbound_events e
    WHERE e.tenant_id = tenant AND e.created_at < events_before ORDER BY e.created_at LIMIT batch);
  events := cardinality(old);
  -- Their deliveries first, so that they are counted once and not event by event.
  DELETE FROM public.deliveries d WHERE d.tenant_id = tenant AND d.event_id = ANY (old);
  DELETE FROM public.outbound_events e WHERE e.tenant_id = tenant AND e.id = ANY (old);
  DELETE FROM public.endpoint_replays r WHERE r.tenant_id = tenant AND r.id IN (
    SELECT o.id FROM public.endpoint_replays o
    WHERE o.tenant_id = tenant AND o.finished_at < older_than LIMIT batch);
  GET DIAGNOSTICS deleted = ROW_COUNT;
  others := deleted;
  more := events = batch OR deleted = batch;
  DELETE FROM public.notifications n WHERE n.tenant_id = tenant AND n.id IN (
    SELECT o.id FROM public.notifications o
    WHERE o.tenant_id = tenant AND o.created_at < older_than LIMIT batch);
  GET DIAGNOSTICS deleted = ROW_COUNT;
  others := others + deleted;
  more := more OR deleted = batch;
  DELETE FROM public.invitations i WHERE i.tenant_id = tenant AND i.id IN (
    SELECT o.id FROM public.invitations o
    WHERE o.tenant_id = tenant AND o.expires_at < older_than LIMIT batch);
  GET DIAGNOSTICS deleted = ROW_COUNT;
  others := others + deleted;
  more := more OR deleted = batch;
  scope_text := public.clear_scope();
  RETURN NEXT;
END
$$;

-- Counts what is there, also of tenants without members, which the owner sees in no scope.
ALTER TABLE "tenants" NO FORCE ROW LEVEL SECURITY;
INSERT INTO "tenant_usage" ("tenant_id") SELECT "id" FROM "tenants";
ALTER TABLE "tenants" FORCE ROW LEVEL SECURITY;
DO $$
DECLARE
  tenant uuid := '00000000-0000-0000-0000-000000000000';
BEGIN
  LOOP
    SELECT c.tenant_id INTO tenant FROM public.check_usage(tenant, true) c;
    EXIT WHEN tenant IS NULL;
  END LOOP;
END
$$;

-- PostgreSQL lets everyone call a new function. Here only those may whom `gatehouse migrate` names.
DO $$
DECLARE
  own regprocedure;
BEGIN
  FOR own IN SELECT p.oid FROM pg_proc p
    WHERE p.pronamespace = 'public'::regnamespace AND p.proowner = current_user::regrole
  LOOP
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', own);
  END LOOP;
END
$$;
