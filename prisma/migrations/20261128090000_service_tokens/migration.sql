-- Service tokens: credentials of a tenant, for programs. A service is no member and no person: it has
-- no user, no role and no account. It may do what its permissions name, in its tenant, and nothing
-- else. A token ends with its tenant, and not with the admin who created it.

CREATE TABLE "service_tokens" (
  "tenant_id" uuid NOT NULL,
  "id" uuid NOT NULL DEFAULT gen_random_uuid(),
  -- SHA-256 of the SHA-256 of the token, as that of an API token.
  "hash" bytea NOT NULL CHECK (octet_length("hash") = 32),
  "name" text NOT NULL CHECK (length("name") BETWEEN 1 AND 100),
  -- `resource:action`, as the policy names them.
  "permissions" text[] NOT NULL,
  -- NULL after the person was erased.
  "created_by" bigint,
  "created_at" timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "expires_at" timestamptz(3) NOT NULL,
  "secret_rotated_at" timestamptz(6),
  "last_used_at" timestamptz(6),
  CONSTRAINT "service_tokens_pkey" PRIMARY KEY ("tenant_id", "id"),
  CONSTRAINT "service_tokens_tenant_id_fkey" FOREIGN KEY ("tenant_id")
    REFERENCES "tenants" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
  CONSTRAINT "service_tokens_created_by_fkey" FOREIGN KEY ("created_by")
    REFERENCES "users" ("id") ON DELETE SET NULL ON UPDATE CASCADE,
  CONSTRAINT "service_tokens_permissions_check" CHECK (array_position("permissions", NULL) IS NULL)
);
CREATE UNIQUE INDEX "service_tokens_hash_key" ON "service_tokens" ("hash");
CREATE INDEX "service_tokens_tenant_id_created_at_id_idx" ON "service_tokens" ("tenant_id", "created_at", "id");
CREATE INDEX "service_tokens_created_by_idx" ON "service_tokens" ("created_by");
CREATE INDEX "service_tokens_expires_at_idx" ON "service_tokens" ("expires_at");

-- The service of the scope; NULL for a person, a job, or without a scope.
CREATE FUNCTION "current_service_id"() RETURNS uuid
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  scope text[] := public.verified_scope();
BEGIN
  IF scope IS NULL OR scope[2] <> 'service' THEN RETURN NULL; END IF;
  RETURN scope[3]::uuid;
END
$$;

-- Its name at this moment, which the audit log keeps.
CREATE FUNCTION "current_service_name"() RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  scope text[] := public.verified_scope();
BEGIN
  IF scope IS NULL OR scope[2] <> 'service' THEN RETURN NULL; END IF;
  RETURN (SELECT s.name FROM public.service_tokens s
          WHERE s.tenant_id = scope[5]::uuid AND s.id = scope[3]::uuid);
END
$$;

-- Not FORCEd: enter_service looks into it as its owner before a scope exists, as enter_token does.
-- People with a session create and change tokens; no token does, of a person or of a service.
ALTER TABLE "service_tokens" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "tenant_scope" ON "service_tokens"
  USING ("tenant_id" = (SELECT current_tenant_id()) AND (SELECT current_scope_kind()) = 'session')
  WITH CHECK ("tenant_id" = (SELECT current_tenant_id()) AND (SELECT current_scope_kind()) = 'session');
-- The names of its tenant's services, for those who see what a service has done.
CREATE POLICY "tenant_names" ON "service_tokens" FOR SELECT
  USING ("tenant_id" = (SELECT current_tenant_id()));

-- A service never changes who belongs to the tenant, whatever its permissions are.
CREATE POLICY "people_change" ON "memberships" AS RESTRICTIVE FOR UPDATE
  USING ((SELECT current_scope_kind()) IS DISTINCT FROM 'service');
CREATE POLICY "people_removal" ON "memberships" AS RESTRICTIVE FOR DELETE
  USING ((SELECT current_scope_kind()) IS DISTINCT FROM 'service');
CREATE POLICY "people_invite" ON "invitations" AS RESTRICTIVE FOR INSERT
  WITH CHECK ((SELECT current_scope_kind()) IS DISTINCT FROM 'service');
CREATE POLICY "people_change" ON "invitations" AS RESTRICTIVE FOR UPDATE
  USING ((SELECT current_scope_kind()) IS DISTINCT FROM 'service');
CREATE POLICY "people_withdraw" ON "invitations" AS RESTRICTIVE FOR DELETE
  USING ((SELECT current_scope_kind()) IS DISTINCT FROM 'service');
CREATE POLICY "people_change" ON "users" AS RESTRICTIVE FOR UPDATE
  USING ((SELECT current_scope_kind()) IS DISTINCT FROM 'service');

-- Enters as the service of a live token, in its tenant. `credential` is the SHA-256 of the token. The
-- scope has no user. With for_write the token stays as it is until this transaction ends: it ends by
-- DELETE, its secret changes with a key column, and its permissions are changed under FOR UPDATE; all
-- three wait. last_used_at may change meanwhile.
CREATE FUNCTION "enter_service"(credential bytea, for_write boolean)
RETURNS TABLE (
  service_id uuid, name text, permissions text[], created_at timestamptz, tenant_id uuid,
  stale boolean
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  digest bytea := sha256(credential);
  scope_text text;
BEGIN
  IF for_write THEN
    PERFORM FROM public.service_tokens s WHERE s.hash = digest FOR KEY SHARE;
  END IF;
  SELECT s.id, s.name, s.permissions, s.created_at, s.tenant_id,
         coalesce(s.last_used_at < now() - interval '60 seconds', true)
    INTO service_id, name, permissions, created_at, tenant_id, stale
    FROM public.service_tokens s
    WHERE s.hash = digest AND s.expires_at > now();
  IF service_id IS NULL THEN
    scope_text := public.clear_scope();
    RETURN;
  END IF;
  scope_text := public.set_scope('service', service_id::text, NULL, tenant_id);
  RETURN NEXT;
END
$$;

-- Notes that a service token is in use, at most once a minute, and never waits for a lock.
CREATE FUNCTION "touch_service"(credential bytea) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE public.service_tokens s SET last_used_at = now() WHERE (s.tenant_id, s.id) = (
    SELECT o.tenant_id, o.id FROM public.service_tokens o
    WHERE o.hash = sha256(credential)
      AND (o.last_used_at IS NULL OR o.last_used_at < now() - interval '60 seconds')
    FOR NO KEY UPDATE SKIP LOCKED);
END
$$;

-- Requests of a service with an Idempotency-Key; for people it is idempotency_keys.
CREATE TABLE "service_idempotency_keys" (
  "tenant_id" uuid NOT NULL,
  "service_id" uuid NOT NULL,
  "key_hash" bytea NOT NULL CHECK (octet_length("key_hash") = 32),
  "request_hash" bytea NOT NULL CHECK (octet_length("request_hash") = 32),
  "result" bytea,
  "created_at" timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "service_idempotency_keys_pkey" PRIMARY KEY ("tenant_id", "service_id", "key_hash"),
  CONSTRAINT "service_idempotency_keys_tenant_id_service_id_fkey"
    FOREIGN KEY ("tenant_id", "service_id")
    REFERENCES "service_tokens" ("tenant_id", "id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "service_idempotency_keys_created_at_idx" ON "service_idempotency_keys" ("created_at");
-- Not FORCEd: prune_idempotency_keys reads it as its owner.
ALTER TABLE "service_idempotency_keys" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "service_scope" ON "service_idempotency_keys"
  USING ("tenant_id" = (SELECT current_tenant_id()) AND "service_id" = (SELECT current_service_id()))
  WITH CHECK ("tenant_id" = (SELECT current_tenant_id()) AND "service_id" = (SELECT current_service_id()));

-- What a service does is recorded under its id and the name that it had. There is no foreign key: an
-- entry outlives the token. The database fills the columns in, so that no entry leaves them out.
ALTER TABLE "audit_log" ADD COLUMN "service_id" uuid, ADD COLUMN "service_name" text;
ALTER TABLE "audit_log" ALTER COLUMN "service_id" SET DEFAULT current_service_id(),
  ALTER COLUMN "service_name" SET DEFAULT current_service_name();

-- A post that a service has created has no author who is a member.
ALTER TABLE "posts" ADD COLUMN "author_service_id" uuid;
ALTER TABLE "posts" ALTER COLUMN "author_service_id" SET DEFAULT current_service_id();

-- As before, and the keys of services.
CREATE OR REPLACE FUNCTION "prune_idempotency_keys"(batch integer) RETURNS integer
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  deleted integer;
  more integer;
BEGIN
  DELETE FROM public.idempotency_keys k WHERE (k.user_id, k.key_hash) IN (
    SELECT o.user_id, o.key_hash FROM public.idempotency_keys o
    WHERE o.created_at < now() - interval '1 day' LIMIT batch);
  GET DIAGNOSTICS deleted = ROW_COUNT;
  DELETE FROM public.service_idempotency_keys k
    WHERE (k.tenant_id, k.service_id, k.key_hash) IN (
      SELECT o.tenant_id, o.service_id, o.key_hash FROM public.service_idempotency_keys o
      WHERE o.created_at < now() - interval '1 day' LIMIT batch);
  GET DIAGNOSTICS more = ROW_COUNT;
  RETURN deleted + more;
END
$$;

-- As before, and service tokens.
CREATE OR REPLACE FUNCTION "prune_dead"(idle_seconds integer, token_days integer, batch integer)
RETURNS TABLE (sessions integer, attempts integer, tokens integer)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  seen_before timestamptz := now() - make_interval(secs => idle_seconds);
  more integer;
BEGIN
  IF NOT pg_try_advisory_xact_lock(7165230419) THEN RETURN; END IF;
  DELETE FROM public.sign_in_attempts a WHERE a.state_hash IN (
    SELECT o.state_hash FROM public.sign_in_attempts o WHERE o.expires_at <= now()
    ORDER BY o.expires_at LIMIT batch);
  GET DIAGNOSTICS attempts = ROW_COUNT;
  DELETE FROM public.sessions s WHERE s.id IN (
    SELECT o.id FROM public.sessions o
    WHERE o.expires_at <= now() OR o.last_seen_at <= seen_before LIMIT batch)
    AND (s.expires_at <= now() OR s.last_seen_at <= seen_before);
  GET DIAGNOSTICS sessions = ROW_COUNT;
  DELETE FROM public.api_tokens t WHERE t.id IN (
    SELECT o.id FROM public.api_tokens o
    WHERE o.expires_at <= now() - make_interval(days => token_days) LIMIT batch);
  GET DIAGNOSTICS tokens = ROW_COUNT;
  DELETE FROM public.service_tokens t WHERE (t.tenant_id, t.id) IN (
    SELECT o.tenant_id, o.id FROM public.service_tokens o
    WHERE o.expires_at <= now() - make_interval(days => token_days) LIMIT batch)
    AND t.expires_at <= now() - make_interval(days => token_days);
  GET DIAGNOSTICS more = ROW_COUNT;
  tokens := tokens + more;
  RETURN NEXT;
END
$$;

-- As before, and its service tokens end at once.
CREATE OR REPLACE FUNCTION "close_tenant"(tenant uuid) RETURNS uuid[]
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  entered text := coalesce(current_setting('app.scope', true), '');
  revocations uuid[] := '{}';
  member bigint;
  scope_text text;
BEGIN
  scope_text := public.set_scope('erasure', '', NULL, tenant);
  UPDATE public.users u SET own_tenant_id = NULL WHERE u.own_tenant_id = tenant;
  UPDATE public.webhook_endpoints e SET status = 'disabled',
      disabled_at = coalesce(e.disabled_at, now()), recover_when_disabled = false
    WHERE e.tenant_id = tenant;
  DELETE FROM public.invitations i WHERE i.tenant_id = tenant;
  DELETE FROM public.service_tokens s WHERE s.tenant_id = tenant;
  FOR member IN
    SELECT m.user_id FROM public.memberships m WHERE m.tenant_id = tenant ORDER BY m.user_id
  LOOP
    revocations := revocations ||
      (SELECT r.revocations FROM public.remove_membership(tenant, member) r);
  END LOOP;
  UPDATE public.token_revocations r SET tenant_id = NULL WHERE r.tenant_id = tenant;
  INSERT INTO public.erasures (tenant_id) VALUES (tenant);
  scope_text := set_config('app.scope', entered, true);
  RETURN revocations;
END
$$;

INSERT INTO "export_sections" VALUES
  ('tenant', 'serviceTokens', 'service_tokens', 'r.id', 'uuid', 'r.tenant_id = $2', '{hash}', false),
  ('tenant', 'serviceIdempotencyKeys', 'service_idempotency_keys', 'r.service_id || '' '' || encode(r.key_hash, ''hex'')', 'text', 'r.tenant_id = $2', '{key_hash,request_hash,result}', false),
  ('person', 'serviceTokensCreated', 'service_tokens', 'r.id', 'uuid', 
   'r.created_by = $1 AND EXISTS (SELECT FROM public.memberships m WHERE m.tenant_id = r.tenant_id AND m.user_id = $1)',
   '{hash,permissions,secret_rotated_at,last_used_at}', false);

REVOKE ALL ON FUNCTION "current_service_id"(), "current_service_name"(),
  "enter_service"(bytea, boolean), "touch_service"(bytea) FROM PUBLIC;
