-- The scope of a transaction: which user and tenant the policies let through (policies.sql). The setting app.scope
-- holds it with a seal that only these functions can make, so SQL of an application role cannot forge one.

-- A keyed hash: two nested SHA-256. The key has a fixed length, so key and text cannot be confused.
CREATE OR REPLACE FUNCTION scope_seal(secret bytea, content text) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE -- STABLE as convert_to is, otherwise it would not be inlined
RETURN encode(sha256(secret || sha256(secret || convert_to(content, 'UTF8'))), 'hex');

-- Sets a setting `app.…` of the transaction: its cause, its budgets. Inlined, and allows no more than set_config.
CREATE OR REPLACE FUNCTION put_setting(setting text, content text) RETURNS text LANGUAGE sql VOLATILE
RETURN set_config(setting, content, true);

-- Sets app.scope for the transaction. Returns the setting, so that functions of every request can assign the call:
-- PERFORM takes five times as long.
CREATE OR REPLACE FUNCTION put_scope(setting text) RETURNS text LANGUAGE sql VOLATILE
RETURN set_config('app.scope', setting, true);

CREATE OR REPLACE FUNCTION clear_scope() RETURNS text LANGUAGE sql VOLATILE
RETURN public.put_scope('');

-- Sets the scope of this transaction. Only the owner may call it: the enter functions do after checking a credential,
-- and the owner does for the demo's data. Fields, separated by colons: key, kind, detail, user, tenant, backend,
-- transaction start, seal. Only the characters of `detail` are checked, because only it is text from outside.
CREATE OR REPLACE FUNCTION set_scope(kind text, detail text, user_id bigint, tenant_id uuid) RETURNS text
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  key_id integer;
  secret bytea;
  content text;
BEGIN
  IF detail !~ '^[a-z0-9_/-]*$' THEN
    RAISE EXCEPTION 'the detail of a scope has a character that is not allowed'
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  SELECT k.id, k.key INTO STRICT key_id, secret FROM public.scope_keys k ORDER BY k.id DESC LIMIT 1;
  content := format('%s:%s:%s:%s:%s:%s:%s', key_id, kind, detail, user_id, tenant_id,
    pg_backend_pid(), encode(timestamptz_send(transaction_timestamp()), 'hex'));
  RETURN set_config('app.scope', content || ':' || public.scope_seal(secret, content), true);
END
$$;

-- The fields of the scope, or NULL if none is set. Raises if the scope was not sealed by this backend in this
-- transaction.
CREATE OR REPLACE FUNCTION verified_scope() RETURNS text[] LANGUAGE plpgsql STABLE PARALLEL RESTRICTED AS $$
DECLARE
  setting text := current_setting('app.scope', true);
  content text;
  fields text[];
  secret bytea;
BEGIN
  IF setting IS NULL OR setting = '' THEN RETURN NULL; END IF;
  fields := string_to_array(setting, ':');
  content := left(setting, -65); -- a colon and the 64 digits of the seal
  SELECT k.key INTO secret FROM public.scope_keys k WHERE k.id::text = fields[1];
  -- Without its key the seal is NULL.
  IF setting IS DISTINCT FROM content || ':' || public.scope_seal(secret, content)
    OR fields[6] IS DISTINCT FROM pg_backend_pid()::text
    OR fields[7] IS DISTINCT FROM encode(timestamptz_send(transaction_timestamp()), 'hex')
  THEN
    RAISE EXCEPTION 'the scope was not set by a credential in this transaction'
      USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN fields;
END
$$;

-- The user of the scope, for policies; NULL without one. Called in a scalar subselect, so that a statement verifies the
-- seal once per policy and not once per row.
CREATE OR REPLACE FUNCTION current_user_id() RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN nullif((public.verified_scope())[4], '')::bigint;
END
$$;

-- The tenant of the scope; NULL without one, and in a portal session, which sees its tenant's webhooks alone.
CREATE OR REPLACE FUNCTION current_tenant_id() RETURNS uuid
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  scope text[] := public.verified_scope();
BEGIN
  IF scope[2] = 'portal' THEN RETURN NULL; END IF;
  RETURN nullif(scope[5], '')::uuid;
END
$$;

-- The tenant of the scope in the policies of webhook tables, which portal sessions reach too.
CREATE OR REPLACE FUNCTION current_webhook_tenant_id() RETURNS uuid
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN nullif((public.verified_scope())[5], '')::uuid;
END
$$;

-- Whether the person of the scope manages its tenant.
CREATE OR REPLACE FUNCTION is_manager() RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  scope text[] := public.verified_scope();
BEGIN
  RETURN EXISTS (
    SELECT FROM public.memberships m
    WHERE m.tenant_id = nullif(scope[5], '')::uuid AND m.user_id = nullif(scope[4], '')::bigint
      AND m.role = public.managing_role());
END
$$;

-- How the scope was entered: session, token, service, app, portal, job, billing, the purpose of a sign-in, or that of a
-- function of the owner (ledger, erasure and others).
CREATE OR REPLACE FUNCTION current_scope_kind() RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN (public.verified_scope())[2];
END
$$;

-- The service or app token of the scope, in a portal session the app token that made its link; NULL for a person, a
-- job, or without a scope.
CREATE OR REPLACE FUNCTION current_service_id() RETURNS uuid
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  scope text[] := public.verified_scope();
BEGIN
  IF scope[2] NOT IN ('service', 'app', 'portal') THEN RETURN NULL; END IF;
  RETURN split_part(scope[3], '/', 1)::uuid;
END
$$;

-- The holder of the idempotency keys that the transaction sees, if it is not a person: the service or app token, or the
-- portal session.
CREATE OR REPLACE FUNCTION current_key_holder() RETURNS uuid
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  holder text := public.current_idempotency_holder();
BEGIN
  IF starts_with(holder, 'service ') THEN RETURN split_part(holder, ' ', 2)::uuid; END IF;
  RETURN NULL;
END
$$;

-- The holder of idempotency keys as their rows name it: `person ID`, or `service ID TENANT`
-- with the id of current_key_holder().
CREATE OR REPLACE FUNCTION current_idempotency_holder() RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  scope text[] := public.verified_scope();
  place integer := CASE WHEN scope[2] = 'portal' THEN 2 ELSE 1 END;
BEGIN
  IF scope[2] IN ('service', 'app', 'portal') THEN
    RETURN 'service ' || split_part(scope[3], '/', place) || ' ' || nullif(scope[5], '');
  END IF;
  RETURN 'person ' || nullif(scope[4], '');
END
$$;

-- The current name of the token of current_service_id, for the audit log.
CREATE OR REPLACE FUNCTION current_service_name() RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  scope text[] := public.verified_scope();
BEGIN
  IF scope[2] NOT IN ('service', 'app', 'portal') THEN RETURN NULL; END IF;
  IF scope[2] <> 'service' THEN RETURN (SELECT a.name FROM public.app_tokens a WHERE a.id = split_part(scope[3], '/', 1)::uuid); END IF;
  RETURN (SELECT s.name FROM public.service_tokens s WHERE s.tenant_id = scope[5]::uuid AND s.id = scope[3]::uuid);
END
$$;

-- For `gatehouse keys`: adds a key that seals from now on and keeps the one before, which verifies open transactions.
-- Four random UUIDs are 488 random bits; pgcrypto may not be installed.
CREATE OR REPLACE FUNCTION rotate_scope_key() RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  LOCK TABLE public.scope_keys IN SHARE ROW EXCLUSIVE MODE;
  INSERT INTO public.scope_keys (key) VALUES (sha256(
    uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) ||
    uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())));
  DELETE FROM public.scope_keys k WHERE k.id NOT IN (
    SELECT n.id FROM public.scope_keys n ORDER BY n.id DESC LIMIT 2)
$$;

-- For `gatehouse keys`.
CREATE OR REPLACE FUNCTION list_scope_keys() RETURNS TABLE (id integer, created_at timestamptz)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN QUERY SELECT k.id::integer, k.created_at FROM public.scope_keys k ORDER BY k.id DESC;
END
$$;
