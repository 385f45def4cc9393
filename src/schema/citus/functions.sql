-- What a database distributed with Citus has instead of what the migrations make. `gatehouse migrate
-- --citus` runs it as the owner, and the verification compares with it. A name in braces is that of the
-- table's only shard, which every node has and can read without asking the coordinator.

-- The scope also reaches the nodes. Citus forwards SET LOCAL, but not set_config, and only within a
-- transaction block or a function that is called by a query: put_scope therefore calls this by a query.
CREATE OR REPLACE FUNCTION "forward_scope"(setting text) RETURNS void
LANGUAGE plpgsql VOLATILE
SET citus.propagate_set_commands = 'local' AS $$
BEGIN
  EXECUTE 'SET LOCAL app.scope = ' || quote_literal(coalesce(setting, ''));
END
$$;

CREATE OR REPLACE FUNCTION "put_scope"(setting text) RETURNS text
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  PERFORM public.forward_scope(setting);
  RETURN setting;
END
$$;

-- The number and start of the distributed transaction, which are the same on the coordinator and the
-- nodes; NULL outside of one. On a node the number is what the connection assigned to itself, as Citus
-- does, so the seal of an earlier transaction could be used there again. A limit on the age of the
-- transaction ends that (docs/security.md).
CREATE OR REPLACE FUNCTION "distributed_transaction"() RETURNS text
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (
  SELECT concat_ws('/', t.initiator_node_identifier, t.transaction_number,
                   encode(timestamptz_send(t.transaction_stamp), 'hex'))
  FROM get_current_transaction_id() AS t
  WHERE t.transaction_number > 0
    AND t.transaction_stamp > transaction_timestamp() - interval '10 minutes');

-- As the migrations make it. Made again, it is on the nodes before any table.
CREATE OR REPLACE FUNCTION "scope_seal"(secret bytea, content text) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN encode(sha256(secret || sha256(secret || convert_to(content, 'UTF8'))), 'hex');

-- Seals the distributed transaction instead of backend and start, which differ on the nodes. Citus begins
-- one when it is needed, for a read without BEGIN not at all, so it is begun here: by an intermediate
-- result, which nothing reads.
CREATE OR REPLACE FUNCTION "set_scope"(kind text, detail text, user_id bigint, tenant_id uuid) RETURNS text
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  key_id bigint;
  secret bytea;
  content text;
  transaction text;
BEGIN
  IF detail !~ '^[a-z0-9_/-]*$' THEN
    RAISE EXCEPTION 'the detail of a scope has a character that is not allowed'
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  SELECT k.id, k.key INTO STRICT key_id, secret
    FROM public.{scope_keys} k ORDER BY k.id DESC LIMIT 1;
  transaction := public.distributed_transaction();
  IF transaction IS NULL THEN
    PERFORM create_intermediate_result('scope', 'SELECT 1');
    transaction := public.distributed_transaction();
  END IF;
  IF transaction IS NULL THEN
    RAISE EXCEPTION 'no distributed transaction has begun' USING ERRCODE = 'invalid_transaction_state';
  END IF;
  content := format('%s:%s:%s:%s:%s:%s:', key_id, kind, detail, user_id, tenant_id, transaction);
  RETURN public.put_scope(content || ':' || public.scope_seal(secret, content));
END
$$;

CREATE OR REPLACE FUNCTION "verified_scope"() RETURNS text[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED AS $$
DECLARE
  setting text := current_setting('app.scope', true);
  content text;
  fields text[];
  secret bytea;
BEGIN
  IF setting IS NULL OR setting = '' THEN RETURN NULL; END IF;
  fields := string_to_array(setting, ':');
  content := left(setting, -65); -- a colon and the 64 digits of the seal
  SELECT k.key INTO secret FROM public.{scope_keys} k WHERE k.id::text = fields[1];
  IF secret IS NULL
    OR setting IS DISTINCT FROM content || ':' || public.scope_seal(secret, content)
    OR fields[6] IS DISTINCT FROM public.distributed_transaction()
  THEN
    RAISE EXCEPTION 'the scope was not set by a credential in this transaction'
      USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN fields;
END
$$;

-- LOCK TABLE is not for reference tables; writing one of them is serialized by Citus.
CREATE OR REPLACE FUNCTION "rotate_scope_key"() RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  oldest bigint;
BEGIN
  PERFORM public.add_scope_key();
  SELECT min(k.id) INTO oldest
    FROM (SELECT n.id FROM public.scope_keys n ORDER BY n.id DESC LIMIT 2) k;
  DELETE FROM public.scope_keys k WHERE k.id < oldest;
END
$$;

-- The ids of the keys are 64-bit here: Citus does not copy a table with smaller identities.
CREATE OR REPLACE FUNCTION "list_scope_keys"() RETURNS TABLE (id integer, created_at timestamptz)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN QUERY SELECT k.id::integer, k.created_at FROM public.scope_keys k ORDER BY k.id DESC;
END
$$;

-- Policies without subqueries, which Citus refuses on its tables. All others are derived (policies.ts).

-- Whether the person of the scope is a member of the tenant.
CREATE OR REPLACE FUNCTION "is_own_tenant"(tenant uuid) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN EXISTS (SELECT FROM public.{memberships} m
                 WHERE m.tenant_id = tenant AND m.user_id = public.current_user_id());
END
$$;
CREATE POLICY "member_scope" ON "tenants" FOR SELECT
  USING (current_user_id() IS NOT NULL AND is_own_tenant("id"));

-- Whether the person is a member of the tenant of the scope.
CREATE OR REPLACE FUNCTION "is_member"(person bigint) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN EXISTS (SELECT FROM public.{memberships} m
                 WHERE m.tenant_id = public.current_tenant_id() AND m.user_id = person);
END
$$;
CREATE POLICY "self_or_tenant" ON "users" FOR SELECT
  USING ("id" = current_user_id() OR "own_tenant_id" = current_tenant_id() OR is_member("id"));

-- The teams of the person of the scope in its tenant, read from the shard that has the tenant's rows; a
-- node without it has no row of the tenant either. It runs as the role that asks, so that row-level
-- security of team_members holds here too.
CREATE OR REPLACE FUNCTION "current_team_ids"() RETURNS bigint[]
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
CREATE POLICY "chain_scope" ON "documents"
  USING ("tenant_id" = current_tenant_id() AND "team_id" = ANY (current_team_ids()))
  WITH CHECK ("tenant_id" = current_tenant_id() AND "team_id" = ANY (current_team_ids()));

-- What the verification compares on every node (verify.ts): of each table the row-level security,
-- triggers and privileges of its copies or shards there, as a digest with one of the names; and of the
-- roles that have privileges, whether they could bypass it.
CREATE OR REPLACE FUNCTION "node_facts"() RETURNS json
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

-- The same from every node, or what it answers instead.
CREATE OR REPLACE FUNCTION "cluster_facts"() RETURNS TABLE (node text, success boolean, result text)
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

-- For functions of the owner alone, as what they replace.
REVOKE ALL ON FUNCTION "forward_scope"(text), "distributed_transaction"() FROM PUBLIC;
REVOKE ALL ON FUNCTION "is_own_tenant"(uuid), "is_member"(bigint), "node_facts"(), "cluster_facts"()
  FROM PUBLIC;
