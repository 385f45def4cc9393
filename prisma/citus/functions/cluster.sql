-- Functions that only a cluster has: the scope on the nodes, the order of the event feed, commits that
-- concern a node and the coordinator, and the facts that the verification compares.

-- Sets app.scope on the nodes too. Citus forwards SET LOCAL, but not set_config, and only within a transaction block or
-- a function that is called by a query: put_scope therefore calls this by a query.
CREATE OR REPLACE FUNCTION forward_scope(setting text) RETURNS void
LANGUAGE plpgsql VOLATILE
SET citus.propagate_set_commands = 'local' AS $$
BEGIN
  EXECUTE 'SET LOCAL app.scope = ' || quote_literal(coalesce(setting, ''));
END
$$;

-- The number and start of the distributed transaction, which are the same on the coordinator and the
-- nodes; NULL outside of one. On a node the number is what the connection assigned to itself, as Citus
-- does, so the seal of an earlier transaction could be used there again. A limit on the age of the
-- transaction ends that (docs/growth.md).
CREATE OR REPLACE FUNCTION distributed_transaction() RETURNS text
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (
  SELECT concat_ws('/', t.initiator_node_identifier, t.transaction_number,
                   encode(timestamptz_send(t.transaction_stamp), 'hex'))
  FROM get_current_transaction_id() AS t
  WHERE t.transaction_number > 0
    AND t.transaction_stamp > transaction_timestamp() - interval '10 minutes');

-- Whether the person of the scope is a member of the tenant, and it is open.
CREATE OR REPLACE FUNCTION is_own_tenant(tenant uuid) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN EXISTS (SELECT FROM public.{memberships} m JOIN public.{tenants} t ON t.id = m.tenant_id
                 WHERE m.tenant_id = tenant AND m.user_id = public.current_user_id() AND t.closed_at IS NULL);
END
$$;

-- Whether the person is a member of the tenant of the scope.
CREATE OR REPLACE FUNCTION is_member(person bigint) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN EXISTS (SELECT FROM public.{memberships} m
                 WHERE m.tenant_id = public.current_tenant_id() AND m.user_id = person);
END
$$;

-- Permits the deletion of an endpoint in this transaction. It contains the sealed scope, so another scope, another
-- transaction or another endpoint needs another seal.
CREATE OR REPLACE FUNCTION deletion_seal(endpoint uuid) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED AS $$
DECLARE
  scope text[] := public.verified_scope();
BEGIN
  RETURN (SELECT public.scope_seal(k.key, 'delete ' || endpoint || ' ' || current_setting('app.scope'))
          FROM public.{scope_keys} k WHERE k.id::text = scope[1]);
END
$$;

-- Whether delete_endpoint has permitted this transaction to delete the endpoint.
CREATE OR REPLACE FUNCTION may_delete_endpoint(endpoint uuid) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN current_setting('app.deletion', true) = public.deletion_seal(endpoint);
END
$$;

-- The teams of the person of the scope in its tenant, read from the shard that has the tenant's rows; a
-- node without it has no row of the tenant either. It runs as the role that asks, so that row-level
-- security of team_members holds here too.
CREATE OR REPLACE FUNCTION current_team_ids() RETURNS bigint[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  tenant uuid := public.current_tenant_id();
  shard text;
  teams bigint[];
BEGIN
  IF tenant IS NULL THEN RETURN '{}'; END IF;
  shard := format('public.%I',
    'team_members_' || get_shard_id_for_distribution_column('public.team_members', tenant));
  IF to_regclass(shard) IS NULL THEN RETURN '{}'; END IF;
  EXECUTE 'SELECT array_agg(m.team_id) FROM ' || shard || ' m WHERE m.tenant_id = $1 AND m.user_id = $2'
    INTO teams USING tenant, public.current_user_id();
  RETURN coalesce(teams, '{}');
END
$$;

-- What the verification compares on every node (verify.ts): of each table the row-level security, triggers and
-- privileges of its copies or shards there, as a digest and the name of one of them; and of the roles that have
-- privileges, whether they bypass row-level security.
CREATE OR REPLACE FUNCTION node_facts() RETURNS json
LANGUAGE sql STABLE
RETURN (
  WITH relation AS (
    SELECT t.relname AS name, t.oid AS relation, NULL::oid AS shard, '' AS suffix
    FROM pg_catalog.pg_dist_partition p JOIN pg_catalog.pg_class t ON t.oid = p.logicalrelid
    WHERE t.relnamespace = 'public'::regnamespace
    UNION ALL
    SELECT t.relname, t.oid, coalesce(to_regclass(format('public.%I', t.relname || '_' || s.shardid)), 0),
      '_' || s.shardid
    FROM pg_catalog.pg_dist_shard s
    JOIN pg_catalog.pg_dist_placement l ON l.shardid = s.shardid
      AND l.groupid = (SELECT g.groupid FROM pg_catalog.pg_dist_local_group g)
    JOIN pg_catalog.pg_class t ON t.oid = s.logicalrelid
    WHERE t.relnamespace = 'public'::regnamespace
  ), described AS (
    SELECT r.name, r.shard IS NOT NULL AS "isShard", coalesce(r.shard, r.relation)::regclass::text AS one,
      json_build_object(
        'enabled', c.relrowsecurity, 'forced', c.relforcerowsecurity,
        'policies', (
          SELECT json_agg(json_build_array(p.polname, p.polcmd, p.polpermissive, p.polroles::regrole[],
                            pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid))
                          ORDER BY p.polname)
          FROM pg_catalog.pg_policy p WHERE p.polrelid = c.oid),
        'triggers', (
          SELECT json_agg(json_build_array(left(g.tgname, length(g.tgname) - length(r.suffix)), g.tgenabled,
                            g.tgtype, g.tgfoid::regproc, g.tgargs)
                          ORDER BY g.tgname)
          FROM pg_catalog.pg_trigger g WHERE g.tgrelid = c.oid AND NOT g.tgisinternal),
        'disabled keys', (
          SELECT count(*) FROM pg_catalog.pg_trigger g
          WHERE g.tgrelid = c.oid AND g.tgisinternal AND g.tgenabled <> 'O'),
        'privileges', (
          SELECT json_agg(json_build_array(coalesce(g.rolname, 'PUBLIC'), a.privilege_type)
                          ORDER BY g.rolname, a.privilege_type)
          FROM pg_catalog.aclexplode(c.relacl) a LEFT JOIN pg_catalog.pg_roles g ON g.oid = a.grantee
          WHERE a.grantee = 0 OR g.rolname LIKE '%\_on\_nodes')) AS facts
    FROM relation r LEFT JOIN pg_catalog.pg_class c ON c.oid = coalesce(r.shard, r.relation)
  ), grouped AS (
    SELECT d.name, d."isShard", md5(d.facts::text) AS digest, min(d.one) AS one
    FROM described d GROUP BY 1, 2, 3
  )
  SELECT json_build_object(
    'isCoordinator', (SELECT g.groupid = 0 FROM pg_catalog.pg_dist_local_group g),
    'citus', (SELECT e.extversion FROM pg_catalog.pg_extension e WHERE e.extname = 'citus'),
    'postgres', current_setting('server_version_num')::integer / 10000,
    'showsStatements', current_setting('track_activities')::boolean,
    'preparedTransactions', current_setting('max_prepared_transactions')::integer,
    'connections', current_setting('max_connections')::integer,
    'tables', (SELECT json_agg(g ORDER BY g.name, g."isShard") FROM grouped g),
    'roles', (
      SELECT coalesce(json_agg(json_build_object('name', r.rolname, 'bypasses', r.rolsuper OR r.rolbypassrls,
          'isMember', pg_has_role(r.oid, n.oid, 'MEMBER')) ORDER BY r.rolname), '[]')
      FROM pg_catalog.pg_roles n JOIN pg_catalog.pg_roles r ON n.rolname = r.rolname || '_on_nodes')));

-- node_facts of every node, or the error of a node that fails.
CREATE OR REPLACE FUNCTION cluster_facts() RETURNS TABLE (node text, success boolean, result text)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 3
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN QUERY
    SELECT n.nodename || ':' || n.nodeport, r.success, r.result
    FROM run_command_on_all_nodes('SELECT public.node_facts()') r
    JOIN pg_catalog.pg_dist_node n ON n.nodeid = r.nodeid
    ORDER BY n.groupid;
END
$$;

-- Gives an event its position, on the shard of its tenant: one more than that of the last event. The lock
-- is held until the transaction ends on this node, also while it is prepared; the next event of the tenant
-- waits for it, and those of other tenants do not. All of these events are of one "transaction", which
-- comes after every real one. Without older events the time is a position that was not used before.
CREATE OR REPLACE FUNCTION assign_feed_position() RETURNS trigger
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
CREATE OR REPLACE FUNCTION commit_in_two_phases() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  DELETE FROM distribution.two_phase_commits c WHERE c.id = 0;
  RETURN NULL;
END
$$;

-- The rows on a node are committed after those on the coordinator, and the locks of a transaction last until both are.
-- So a new job is locked, and a worker that enters it waits for the transaction that added it.
CREATE OR REPLACE FUNCTION lock_new_jobs() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('job ' || j.id::text, 0)) FROM added j;
  RETURN NULL;
END
$$;

-- Does for a cluster what the trigger note_erasure of users does, before the person is deleted.
CREATE OR REPLACE FUNCTION note_erased_user(person bigint) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  own_tenant uuid;
BEGIN
  SELECT u.own_tenant_id INTO own_tenant FROM public.users u WHERE u.id = person;
  IF NOT FOUND THEN RETURN; END IF; -- deleted with their last membership
  INSERT INTO public.erasures (kind, user_id) VALUES ('person', person);
  UPDATE public.tenants t SET name = 'Tenant ' || left(t.id::text, 8) WHERE t.id = own_tenant;
END
$$;
