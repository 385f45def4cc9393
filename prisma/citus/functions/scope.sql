-- The scope of a transaction: which user and tenant the policies let through (policies.sql). The setting app.scope
-- holds it with a seal that only these functions can make, so SQL of an application role cannot forge one.

-- Sets a setting `app.…` of the transaction, also on the nodes, where triggers read the budgets. Works as forward_scope
-- does (cluster.sql).
CREATE OR REPLACE FUNCTION put_setting(setting text, content text) RETURNS text
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

-- Sets app.scope for the transaction, also on the nodes. Returns the setting, so that callers can assign the call:
-- PERFORM takes five times as long.
CREATE OR REPLACE FUNCTION put_scope(setting text) RETURNS text
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  PERFORM public.forward_scope(setting);
  RETURN setting;
END
$$;

-- Sets the scope of this transaction. The seal contains the distributed transaction instead of backend and start, which
-- differ on the nodes. For a read without BEGIN Citus would begin none, so an intermediate result that nothing reads
-- begins it.
CREATE OR REPLACE FUNCTION set_scope(kind text, detail text, user_id bigint, tenant_id uuid) RETURNS text
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

-- The fields of the scope, or NULL if none is set. Raises if the scope was not sealed in this distributed transaction.
CREATE OR REPLACE FUNCTION verified_scope() RETURNS text[]
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
  -- Without its key the seal is NULL.
  IF setting IS DISTINCT FROM content || ':' || public.scope_seal(secret, content)
    OR fields[6] IS DISTINCT FROM public.distributed_transaction()
  THEN
    RAISE EXCEPTION 'the scope was not set by a credential in this transaction'
      USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN fields;
END
$$;

-- As in prisma/functions, on the nodes too.
CREATE OR REPLACE FUNCTION is_manager() RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  scope text[] := public.verified_scope();
BEGIN
  RETURN EXISTS (
    SELECT FROM public.{memberships} m
    WHERE m.tenant_id = nullif(scope[5], '')::uuid AND m.user_id = nullif(scope[4], '')::bigint
      AND m.role = public.managing_role());
END
$$;

-- As in prisma/functions, but without LOCK TABLE, which reference tables do not support: Citus serializes writes to
-- them.
CREATE OR REPLACE FUNCTION rotate_scope_key() RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  oldest bigint;
BEGIN
  INSERT INTO public.scope_keys (key) VALUES (sha256(
    uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) ||
    uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())));
  SELECT min(k.id) INTO oldest
    FROM (SELECT n.id FROM public.scope_keys n ORDER BY n.id DESC LIMIT 2) k;
  DELETE FROM public.scope_keys k WHERE k.id < oldest;
END
$$;
