-- The credential opens the transaction: only a live session, API token, sign-in or job sets the
-- scope that row-level security reads.
--
-- This is a breaking upgrade: stop every process of the older release first. An older program sets
-- app.user_id and app.tenant_id, which nothing reads any more, and looks hashes up that are now
-- hashed twice.
--
-- Every SECURITY DEFINER function here belongs to the owner of the schema, names each object with
-- its schema, has a fixed search_path, and may be called only by the roles that `gatehouse migrate`
-- names (src/db/grants.ts).

-- The stored hash opens nothing: programs send the SHA-256 of a credential, and it is hashed again
-- here. So neither a copy of these tables nor a log of statements contains a usable credential.
UPDATE "sessions" SET "id_hash" = sha256("id_hash");
UPDATE "api_tokens" SET "hash" = sha256("hash");
UPDATE "sign_in_attempts" SET "state_hash" = sha256("state_hash");

-- Keys of the seal. The newest one seals, all of them verify. A seal is good for one transaction, so
-- an older key is needed only by transactions that were open during a rotation.
CREATE TABLE "scope_keys" (
  "id" integer GENERATED ALWAYS AS IDENTITY,
  "key" bytea NOT NULL CHECK (octet_length("key") = 32),
  "created_at" timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "scope_keys_pkey" PRIMARY KEY ("id")
);
-- No policy: a SELECT granted by mistake shows no key.
ALTER TABLE "scope_keys" ENABLE ROW LEVEL SECURITY;

-- 32 bytes from four random UUIDs, which is 488 random bits; pgcrypto may not be installed.
CREATE FUNCTION "add_scope_key"() RETURNS void
LANGUAGE sql VOLATILE
BEGIN ATOMIC
  INSERT INTO public.scope_keys (key) VALUES (sha256(
    uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) ||
    uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())));
END;

SELECT "add_scope_key"();

-- A keyed hash: two nested SHA-256. The key has a fixed length, so key and text cannot be confused.
CREATE FUNCTION "scope_seal"(secret bytea, content text) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE -- as convert_to is: otherwise it would not be inlined
RETURN encode(sha256(secret || sha256(secret || convert_to(content, 'UTF8'))), 'hex');

-- Sets the scope of this transaction. Only the owner of the schema may call it: enter_… does after
-- it has checked a credential, and so does the owner itself for the demo's data.
-- Fields, separated by colons: key, kind, detail, user, tenant, backend, transaction start, seal.
-- Only `detail` is text from outside, so it is the one whose characters are checked.
-- It returns the setting, so that its callers can assign it: PERFORM costs five times as much.
CREATE FUNCTION "set_scope"(kind text, detail text, user_id bigint, tenant_id uuid) RETURNS text
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
  SELECT k.id, k.key INTO STRICT key_id, secret
    FROM public.scope_keys k ORDER BY k.id DESC LIMIT 1;
  content := format('%s:%s:%s:%s:%s:%s:%s', key_id, kind, detail, user_id, tenant_id,
    pg_backend_pid(), encode(timestamptz_send(transaction_timestamp()), 'hex'));
  RETURN set_config('app.scope', content || ':' || public.scope_seal(secret, content), true);
END
$$;

CREATE FUNCTION "clear_scope"() RETURNS text
LANGUAGE sql VOLATILE
RETURN set_config('app.scope', '', true);

-- The fields of the scope, or NULL where none is set. Anything that was not sealed in this
-- transaction by this backend raises. Backend and start are fields of their own, so that a worker
-- node of a distributed database could verify the seal and leave those two to the coordinator.
CREATE FUNCTION "verified_scope"() RETURNS text[]
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
  SELECT k.key INTO secret FROM public.scope_keys k WHERE k.id::text = fields[1];
  IF secret IS NULL
    OR setting IS DISTINCT FROM content || ':' || public.scope_seal(secret, content)
    OR fields[6] IS DISTINCT FROM pg_backend_pid()::text
    OR fields[7] IS DISTINCT FROM encode(timestamptz_send(transaction_timestamp()), 'hex')
  THEN
    RAISE EXCEPTION 'the scope was not set by a credential in this transaction'
      USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN fields;
END
$$;

-- What policies ask. Called in a scalar subselect, so that a statement verifies the seal once per
-- policy and not once per row.
CREATE OR REPLACE FUNCTION "current_user_id"() RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN nullif((public.verified_scope())[4], '')::bigint;
END
$$;

CREATE OR REPLACE FUNCTION "current_tenant_id"() RETURNS uuid
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN nullif((public.verified_scope())[5], '')::uuid;
END
$$;

-- How the scope was entered: session, token, job, billing, or a purpose of a sign-in.
CREATE FUNCTION "current_scope_kind"() RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN (public.verified_scope())[2];
END
$$;

-- Sessions and API tokens.

-- Enters as the person of a live session. `credential` is the SHA-256 of the id in the cookie.
-- No row and no scope for a session that is missing, expired or idle; a row without a user and no
-- scope for the session of a pending sign-in. `subjects` are the user's identities at the provider
-- of this session. `stale`: last_seen_at is due for touch_session.
-- With for_write the rows that give the right stay as they are until this transaction ends. The
-- membership is locked first, as everywhere. FOR SHARE holds back a change of role or department.
-- For the session FOR KEY SHARE is enough: it ends by DELETE or by a new id, and both wait;
-- last_seen_at may change meanwhile.
CREATE FUNCTION "enter_session"(credential bytea, idle_seconds integer, for_write boolean)
RETURNS TABLE (
  session_id uuid, user_id bigint, email text, plan text, created_at timestamptz,
  tenant_id uuid, role text, department text, authenticated_seconds_ago double precision,
  stale boolean, provider text, subjects text[]
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  hash bytea := sha256(credential);
  seen_after timestamptz := now() - make_interval(secs => idle_seconds);
  scope_text text;
BEGIN
  IF for_write THEN
    PERFORM FROM public.memberships m JOIN public.sessions s
      ON m.tenant_id = s.tenant_id AND m.user_id = s.user_id
      WHERE s.id_hash = hash AND s.expires_at > now() AND s.last_seen_at > seen_after
      FOR SHARE OF m;
    PERFORM FROM public.sessions s WHERE s.id_hash = hash FOR KEY SHARE;
  END IF;
  SELECT s.id, s.user_id, u.email, u.plan, u.created_at, s.tenant_id, m.role, m.department,
         floor(extract(epoch FROM now() - s.authenticated_at))::float8,
         s.last_seen_at < now() - interval '60 seconds', s.provider,
         ARRAY(SELECT i.provider_user_id FROM public.oauth_identities i
               WHERE i.user_id = s.user_id AND i.provider = s.provider)
    INTO session_id, user_id, email, plan, created_at, tenant_id, role, department,
         authenticated_seconds_ago, stale, provider, subjects
    FROM public.sessions s
    LEFT JOIN public.users u ON u.id = s.user_id
    LEFT JOIN public.memberships m ON m.tenant_id = s.tenant_id AND m.user_id = s.user_id
    WHERE s.id_hash = hash AND s.expires_at > now() AND s.last_seen_at > seen_after;
  IF session_id IS NULL OR user_id IS NULL THEN
    scope_text := public.clear_scope();
    IF session_id IS NULL THEN RETURN; END IF;
  ELSE
    scope_text := public.set_scope('session', '', user_id, tenant_id);
  END IF;
  RETURN NEXT;
END
$$;

-- Enters as the person of a live API token, in the tenant of the token. `credential` is the SHA-256
-- of the token. Who has left the tenant has no token in it. `permissions` NULL: not limited.
-- Locks as enter_session does.
CREATE FUNCTION "enter_token"(credential bytea, for_write boolean)
RETURNS TABLE (
  token_id uuid, permissions text[], user_id bigint, email text, plan text,
  created_at timestamptz, tenant_id uuid, role text, department text, stale boolean
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  digest bytea := sha256(credential);
  scope_text text;
BEGIN
  IF for_write THEN
    PERFORM FROM public.memberships m JOIN public.api_tokens t
      ON m.tenant_id = t.tenant_id AND m.user_id = t.user_id
      WHERE t.hash = digest AND t.expires_at > now()
      FOR SHARE OF m;
    PERFORM FROM public.api_tokens t WHERE t.hash = digest FOR KEY SHARE;
  END IF;
  SELECT t.id, CASE WHEN NOT t.all_permissions THEN t.permissions END, t.user_id, u.email, u.plan, u.created_at, t.tenant_id, m.role,
         m.department, coalesce(t.last_used_at < now() - interval '60 seconds', true)
    INTO token_id, permissions, user_id, email, plan, created_at, tenant_id, role, department, stale
    FROM public.api_tokens t
    JOIN public.users u ON u.id = t.user_id
    JOIN public.memberships m ON m.tenant_id = t.tenant_id AND m.user_id = t.user_id
    WHERE t.hash = digest AND t.expires_at > now();
  IF token_id IS NULL THEN
    scope_text := public.clear_scope();
    RETURN;
  END IF;
  scope_text := public.set_scope('token', '', user_id, tenant_id);
  RETURN NEXT;
END
$$;

-- Notes that a session or token is in use, at most once a minute. A row that somebody holds is left
-- for the next time, so this never waits.
CREATE FUNCTION "touch_session"(credential bytea) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE public.sessions s SET last_seen_at = now() WHERE s.id = (
    SELECT o.id FROM public.sessions o
    WHERE o.id_hash = sha256(credential) AND o.last_seen_at < now() - interval '60 seconds'
    FOR NO KEY UPDATE SKIP LOCKED);
END
$$;

CREATE FUNCTION "touch_token"(credential bytea) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE public.api_tokens t SET last_used_at = now() WHERE t.id = (
    SELECT o.id FROM public.api_tokens o
    WHERE o.hash = sha256(credential)
      AND (o.last_used_at IS NULL OR o.last_used_at < now() - interval '60 seconds')
    FOR NO KEY UPDATE SKIP LOCKED);
END
$$;

-- Ends the session of a cookie, also an anonymous one. False when it was not there.
CREATE FUNCTION "end_session"(credential bytea) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  DELETE FROM public.sessions s WHERE s.id_hash = sha256(credential);
  RETURN FOUND;
END
$$;

-- Makes a tenant of the session's user the active one, under a new id, and enters it.
-- Outcome: switched, no-member, session-ended.
CREATE FUNCTION "switch_tenant"(credential bytea, new_credential bytea, target uuid)
RETURNS TABLE (outcome text, session_id uuid, user_id bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  scope_text text;
BEGIN
  SELECT s.id, s.user_id INTO session_id, user_id FROM public.sessions s
    WHERE s.id_hash = sha256(credential) AND s.expires_at > now() AND s.user_id IS NOT NULL;
  IF session_id IS NULL THEN
    outcome := 'session-ended';
    RETURN NEXT;
    RETURN;
  END IF;
  UPDATE public.memberships m SET last_active_at = now()
    WHERE m.tenant_id = target AND m.user_id = switch_tenant.user_id;
  IF NOT FOUND THEN
    outcome := 'no-member';
    RETURN NEXT;
    RETURN;
  END IF;
  UPDATE public.sessions s SET tenant_id = target, id_hash = sha256(new_credential)
    WHERE s.id_hash = sha256(credential) AND s.expires_at > now();
  IF FOUND THEN
    outcome := 'switched';
    scope_text := public.set_scope('session', '', user_id, target);
  ELSE
    outcome := 'session-ended';
  END IF;
  RETURN NEXT;
END
$$;

-- Signing in. A pending sign-in is found by the state that only its browser has, and belongs to the
-- browser's session. Taking it exchanges the state for a ticket that the program keeps in memory
-- while it asks the provider; the ticket then opens the one transaction that completes the sign-in.

-- Stores a pending sign-in, link or re-authentication in the session of the cookie. A sign-in in a
-- browser without a session begins an anonymous one. False when a link or re-authentication has no
-- live session of its person.
CREATE FUNCTION "start_attempt"(
  credential bytea, state bytea, attempt_purpose text, attempt_provider text, attempt_nonce text,
  attempt_verifier text, browser text, network text, lifetime_seconds integer
) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  until timestamptz := now() + make_interval(secs => lifetime_seconds);
BEGIN
  IF attempt_purpose = 'sign-in' THEN
    INSERT INTO public.sessions AS s (id_hash, user_agent, ip, expires_at)
      VALUES (sha256(credential), browser, network, until)
      ON CONFLICT (id_hash) DO UPDATE SET expires_at =
        greatest(s.expires_at, CASE WHEN s.user_id IS NULL THEN excluded.expires_at END);
  END IF;
  INSERT INTO public.sign_in_attempts
      (state_hash, session_id, user_id, purpose, provider, nonce, code_verifier, expires_at)
    SELECT sha256(state), s.id, CASE WHEN attempt_purpose <> 'sign-in' THEN s.user_id END,
           attempt_purpose, attempt_provider, attempt_nonce, attempt_verifier, until
    FROM public.sessions s
    WHERE s.id_hash = sha256(credential) AND s.expires_at > now()
      AND (attempt_purpose = 'sign-in' OR s.user_id IS NOT NULL);
  RETURN FOUND;
END
$$;

-- The hash a taken attempt is kept under. The byte in front keeps it apart from that of any state.
CREATE FUNCTION "ticket_hash"(ticket bytea) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sha256('\x01'::bytea || ticket);

-- Exchanges the state for the ticket; of parallel callbacks one gets it. No row when the state is
-- unknown, expired, used, or of another browser. A taken attempt lives a minute at least: the
-- provider has yet to be asked.
CREATE FUNCTION "take_attempt"(credential bytea, state bytea, ticket bytea)
RETURNS TABLE (
  provider text, nonce text, code_verifier text, purpose text, user_id bigint,
  age_seconds double precision
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN QUERY
    UPDATE public.sign_in_attempts a
    SET state_hash = public.ticket_hash(ticket),
        expires_at = greatest(a.expires_at, now() + interval '60 seconds')
    FROM public.sessions s
    WHERE a.state_hash = sha256(state) AND s.id = a.session_id AND s.id_hash = sha256(credential)
      AND a.expires_at > now()
    RETURNING a.provider, a.nonce, a.code_verifier, a.purpose, a.user_id,
              extract(epoch FROM now() - a.created_at)::float8;
END
$$;

-- Enters the completion of a sign-in and uses the ticket up. The scope has the purpose as its kind
-- and names provider and browser session; it has a user only for a link or re-authentication whose
-- session still belongs to the person who started it. That person and then the session are locked.
CREATE FUNCTION "enter_attempt"(ticket bytea)
RETURNS TABLE (
  purpose text, provider text, user_id bigint, session_user_id bigint, session_tenant_id uuid
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  browser uuid;
  entered bigint;
  scope_text text;
BEGIN
  DELETE FROM public.sign_in_attempts a
    WHERE a.state_hash = public.ticket_hash(ticket) AND a.expires_at > now()
    RETURNING a.purpose, a.provider, a.user_id, a.session_id
    INTO purpose, provider, user_id, browser;
  IF browser IS NULL THEN
    scope_text := public.clear_scope();
    RETURN;
  END IF;
  IF purpose <> 'sign-in' THEN
    PERFORM FROM public.users u WHERE u.id = enter_attempt.user_id FOR UPDATE;
    SELECT s.user_id, s.tenant_id INTO session_user_id, session_tenant_id
      FROM public.sessions s WHERE s.id = browser AND s.expires_at > now() FOR UPDATE;
    IF session_user_id = user_id THEN entered := user_id; END IF;
  END IF;
  scope_text := public.set_scope(purpose, provider || '/' || browser, entered, NULL);
  RETURN NEXT;
END
$$;

-- Provider and browser session of the sign-in that is being completed in this transaction.
CREATE FUNCTION "current_attempt"(
  VARIADIC purposes text[], OUT purpose text, OUT provider text, OUT session_id uuid,
  OUT user_id bigint
)
LANGUAGE plpgsql STABLE AS $$
DECLARE
  scope text[] := public.verified_scope();
BEGIN
  IF scope IS NULL OR scope[2] <> ALL (purposes) THEN
    RAISE EXCEPTION 'no sign-in is being completed in this transaction'
      USING ERRCODE = 'insufficient_privilege';
  END IF;
  purpose := scope[2];
  provider := split_part(scope[3], '/', 1);
  session_id := split_part(scope[3], '/', 2)::uuid;
  user_id := nullif(scope[4], '')::bigint;
END
$$;

-- What bears on a proven identity: who holds it, else up to two users with the address.
CREATE FUNCTION "look_up_identity"(subject text, address text)
RETURNS TABLE (identity_user_id bigint, user_id bigint, email_verified boolean)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  attempt record := public.current_attempt('sign-in', 'link', 'reauthenticate');
BEGIN
  SELECT i.user_id INTO identity_user_id FROM public.oauth_identities i
    WHERE i.provider = attempt.provider AND i.provider_user_id = subject;
  IF FOUND THEN
    RETURN NEXT;
    RETURN;
  END IF;
  RETURN QUERY SELECT NULL::bigint, u.id, u.email_verified FROM public.users u
    WHERE lower(u.email COLLATE "C") = lower(address COLLATE "C") LIMIT 2;
END
$$;

-- Signs in as the holder of an identity. NULL when nobody holds it any more.
CREATE FUNCTION "enter_identity"(subject text) RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  attempt record := public.current_attempt('sign-in');
  holder bigint;
  scope_text text;
BEGIN
  SELECT i.user_id INTO holder FROM public.oauth_identities i
    WHERE i.provider = attempt.provider AND i.provider_user_id = subject;
  IF FOUND THEN
    scope_text := public.set_scope('sign-in', attempt.provider || '/' || attempt.session_id, holder, NULL);
  END IF;
  RETURN holder;
END
$$;

-- Gives a new identity to the one user who holds its address as verified, and signs in as them.
-- NULL when that is not exactly one user, or the address is not verified.
CREATE FUNCTION "link_by_address"(subject text, identity_issuer text, address text) RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  attempt record := public.current_attempt('sign-in');
  holder bigint;
  scope_text text;
BEGIN
  SELECT min(u.id) INTO holder FROM public.users u
    WHERE lower(u.email COLLATE "C") = lower(address COLLATE "C")
    HAVING count(*) = 1 AND bool_and(u.email_verified);
  IF holder IS NULL THEN RETURN NULL; END IF;
  INSERT INTO public.oauth_identities (provider, provider_user_id, user_id, issuer)
    VALUES (attempt.provider, subject, holder, identity_issuer);
  scope_text := public.set_scope('sign-in', attempt.provider || '/' || attempt.session_id, holder, NULL);
  RETURN holder;
END
$$;

-- A new user with their first identity, admin of a new tenant of their own; signs in as them.
CREATE FUNCTION "create_user"(
  subject text, identity_issuer text, address text, address_verified boolean, tenant_name text
) RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  attempt record := public.current_attempt('sign-in');
  tenant uuid := gen_random_uuid();
  created bigint;
  scope_text text;
BEGIN
  scope_text := public.set_scope('sign-in', attempt.provider || '/' || attempt.session_id, NULL, tenant);
  INSERT INTO public.tenants (id, name) VALUES (tenant, tenant_name);
  INSERT INTO public.users (email, email_verified, own_tenant_id)
    VALUES (address, address_verified, tenant) RETURNING id INTO created;
  INSERT INTO public.memberships (tenant_id, user_id, role) VALUES (tenant, created, 'admin');
  INSERT INTO public.oauth_identities (provider, provider_user_id, user_id, issuer)
    VALUES (attempt.provider, subject, created, identity_issuer);
  scope_text := public.set_scope('sign-in', attempt.provider || '/' || attempt.session_id, created, NULL);
  RETURN created;
END
$$;

-- Gives a new identity to the person of a link under way.
CREATE FUNCTION "link_identity"(subject text, identity_issuer text) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  attempt record := public.current_attempt('link');
BEGIN
  INSERT INTO public.oauth_identities (provider, provider_user_id, user_id, issuer)
    VALUES (attempt.provider, subject, attempt.user_id, identity_issuer);
END
$$;

-- Makes the user a member wherever the address is invited; a member keeps the role they have. The
-- user has just proven the address by signing in, or holds it as verified.
CREATE FUNCTION "accept_invitations"(address text, member bigint)
RETURNS TABLE (tenant_id uuid, id uuid)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  scope text[] := public.verified_scope();
BEGIN
  IF scope IS NULL
    OR NOT coalesce(scope[2] IN ('sign-in', 'link', 'reauthenticate') AND scope[4] = member::text, false)
    AND NOT EXISTS (SELECT FROM public.users u WHERE u.id = member AND u.email_verified
                    AND lower(u.email COLLATE "C") = lower(address COLLATE "C"))
  THEN
    RAISE EXCEPTION 'the address is not proven' USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN QUERY
    WITH open AS (
      SELECT i.tenant_id, i.id FROM public.invitations i
      WHERE i.email = lower(address COLLATE "C") AND i.accepted_at IS NULL AND i.expires_at > now()
      ORDER BY i.tenant_id FOR UPDATE
    ), accepted AS (
      UPDATE public.invitations i SET accepted_at = now() FROM open
      WHERE i.tenant_id = open.tenant_id AND i.id = open.id
      RETURNING i.tenant_id, i.id, i.role, i.department
    ), joined AS (
      INSERT INTO public.memberships AS m (tenant_id, user_id, role, department)
      SELECT a.tenant_id, member, a.role, a.department FROM accepted a
      ON CONFLICT ON CONSTRAINT memberships_pkey DO NOTHING
    )
    SELECT a.tenant_id, a.id FROM accepted a;
END
$$;

-- Begins the session of a completed sign-in and enters it: in the tenant last active, else the one
-- that invited last, else the user's own. The browser's other pending sign-ins go on under it, and
-- the session the browser came with ends.
CREATE FUNCTION "start_session"(
  credential bytea, session_at_provider text, browser text, network text, absolute_seconds integer
)
RETURNS TABLE (session_id uuid, tenant_id uuid)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
  attempt record := public.current_attempt('sign-in');
  begun uuid;
  tenant uuid;
  scope_text text;
BEGIN
  IF attempt.user_id IS NULL THEN
    RAISE EXCEPTION 'nobody has signed in' USING ERRCODE = 'insufficient_privilege';
  END IF;
  UPDATE public.memberships t SET last_active_at = now()
    WHERE t.user_id = attempt.user_id AND t.tenant_id = (
      SELECT m.tenant_id FROM public.memberships m JOIN public.users u ON u.id = m.user_id
      WHERE m.user_id = attempt.user_id
      ORDER BY m.last_active_at DESC NULLS LAST, m.tenant_id IS NOT DISTINCT FROM u.own_tenant_id,
               m.created_at DESC, m.tenant_id
      LIMIT 1)
    RETURNING t.tenant_id INTO tenant;
  INSERT INTO public.sessions (id_hash, user_id, tenant_id, provider, provider_session, user_agent,
                               ip, authenticated_at, expires_at)
    VALUES (sha256(credential), attempt.user_id, tenant, attempt.provider, session_at_provider,
            browser, network, now(), now() + make_interval(secs => absolute_seconds))
    RETURNING id INTO begun;
  UPDATE public.sign_in_attempts a SET session_id = begun
    WHERE a.session_id = attempt.session_id AND a.purpose = 'sign-in';
  DELETE FROM public.sessions s WHERE s.id = attempt.session_id;
  scope_text := public.set_scope('session', '', attempt.user_id, tenant);
  RETURN QUERY SELECT begun, tenant;
END
$$;

-- Gives the session of a completed link or re-authentication a new id. After a re-authentication
-- its time starts again. False when the session has ended.
CREATE FUNCTION "renew_session"(
  credential bytea, session_at_provider text, absolute_seconds integer
) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  attempt record := public.current_attempt('link', 'reauthenticate');
BEGIN
  UPDATE public.sessions s SET id_hash = sha256(credential)
    WHERE s.id = attempt.session_id AND s.user_id = attempt.user_id;
  IF NOT FOUND THEN RETURN false; END IF;
  IF attempt.purpose = 'reauthenticate' THEN
    UPDATE public.sessions s
      SET authenticated_at = now(), provider = attempt.provider,
          provider_session = session_at_provider,
          expires_at = now() + make_interval(secs => absolute_seconds)
      WHERE s.id = attempt.session_id;
  END IF;
  RETURN true;
END
$$;

-- Back-channel logout. False when the token was received before; of two at once the second waits.
CREATE FUNCTION "remember_logout"(logout_provider text, jti bytea, remembered_seconds integer)
RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  DELETE FROM public.logout_tokens t WHERE t.provider = logout_provider AND t.expires_at < now();
  INSERT INTO public.logout_tokens (provider, jti_hash, expires_at)
    VALUES (logout_provider, jti, now() + make_interval(secs => remembered_seconds))
    ON CONFLICT DO NOTHING;
  RETURN FOUND;
END
$$;

-- Ends the sessions that came from one session at the provider, or, where that is NULL, all that
-- the user of the subject signed in through this provider.
CREATE FUNCTION "end_provider_sessions"(
  logout_provider text, session_at_provider text, subject text
)
RETURNS TABLE (user_id bigint, tenant_id uuid)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN QUERY
    DELETE FROM public.sessions s
    WHERE s.provider = logout_provider AND CASE
      WHEN session_at_provider IS NOT NULL THEN s.provider_session = session_at_provider
      ELSE s.user_id = (SELECT i.user_id FROM public.oauth_identities i
        WHERE i.provider = logout_provider AND i.provider_user_id = subject)
      END
    RETURNING s.user_id, s.tenant_id;
END
$$;

-- Members and invitations: what an admin needs of people who are not in the tenant.

-- Who holds an address as verified, and whether they are a member of the current tenant.
CREATE FUNCTION "find_holder"(address text)
RETURNS TABLE (user_id bigint, member boolean)
LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  tenant uuid := public.current_tenant_id();
BEGIN
  IF tenant IS NULL THEN RETURN; END IF;
  RETURN QUERY
    SELECT u.id, EXISTS (SELECT FROM public.memberships m
                         WHERE m.tenant_id = tenant AND m.user_id = u.id)
    FROM public.users u
    WHERE lower(u.email COLLATE "C") = lower(address COLLATE "C") AND u.email_verified;
END
$$;

-- Whether another user has the billing customer.
CREATE FUNCTION "is_customer_taken"(customer text, except_user bigint) RETURNS boolean
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN public.current_tenant_id() IS NOT NULL AND EXISTS (
    SELECT FROM public.users u WHERE u.billing_customer = customer AND u.id <> except_user);
END
$$;

-- Removes a member from the current tenant. A user without another membership goes too; what
-- providers granted them is then to be revoked: `revocations` are the rows that need a job each.
-- No row when the user is no member. Removed from two tenants at once, the second finds no other
-- membership: the user's row is locked first.
CREATE FUNCTION "remove_member"(member bigint)
RETURNS TABLE (user_gone boolean, revocations uuid[])
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  tenant uuid := public.current_tenant_id();
BEGIN
  IF tenant IS NULL OR public.current_user_id() IS NULL THEN
    RAISE EXCEPTION 'no person has entered a tenant' USING ERRCODE = 'insufficient_privilege';
  END IF;
  PERFORM FROM public.memberships m WHERE m.tenant_id = tenant AND m.user_id = member FOR UPDATE;
  IF NOT FOUND THEN RETURN; END IF;
  PERFORM FROM public.users u WHERE u.id = member FOR UPDATE;
  DELETE FROM public.memberships m WHERE m.tenant_id = tenant AND m.user_id = member;
  user_gone := NOT EXISTS (SELECT FROM public.memberships m WHERE m.user_id = member);
  revocations := '{}';
  IF user_gone THEN
    WITH gone AS (
      DELETE FROM public.provider_grants g USING public.oauth_identities i
      WHERE i.user_id = member AND g.provider = i.provider
        AND g.provider_user_id = i.provider_user_id
      RETURNING g.*
    ), retired AS (
      INSERT INTO public.token_revocations AS r
        (provider, provider_user_id, user_id, tenant_id, token, kind, status)
      SELECT g.provider, g.provider_user_id, member, tenant,
             coalesce(g.refresh_token, g.access_token),
             CASE WHEN g.refresh_token IS NULL THEN 'access_token' ELSE 'refresh_token' END,
             'revoking'
      FROM gone g RETURNING r.id
    ), aside AS (
      UPDATE public.token_revocations r SET status = 'revoking', tenant_id = tenant
      WHERE r.user_id = member AND r.status IN ('superseded', 'failed') RETURNING r.id
    )
    SELECT coalesce(array_agg(a.id), '{}') INTO revocations
      FROM (SELECT r.id FROM retired r UNION ALL SELECT s.id FROM aside s) a;
    DELETE FROM public.users u WHERE u.id = member;
  END IF;
  RETURN NEXT;
END
$$;

-- Provider tokens that are refreshed while nobody waits with a session. They are sealed by the
-- program; a refresh under way is known by the random id of its attempt.

CREATE FUNCTION "find_grant"(grant_provider text, subject text, margin_seconds integer)
RETURNS TABLE (
  user_id bigint, access_token bytea, refresh_token bytea, scope text, expires_at timestamptz,
  generation integer, status text, refresh_attempt uuid, fresh boolean
)
LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN QUERY
    SELECT i.user_id, g.access_token, g.refresh_token, g.scope, g.expires_at, g.generation,
           g.status, g.refresh_attempt,
           coalesce(g.expires_at > now() + make_interval(secs => margin_seconds), true)
    FROM public.provider_grants g
    JOIN public.oauth_identities i USING (provider, provider_user_id)
    WHERE g.provider = grant_provider AND g.provider_user_id = subject;
END
$$;

-- Notes a refresh before its token is sent. False when the grant is no longer the one that was read.
CREATE FUNCTION "mark_refresh"(
  grant_provider text, subject text, read_generation integer, attempt uuid
) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE public.provider_grants g SET refresh_attempt = attempt, updated_at = now()
    WHERE g.provider = grant_provider AND g.provider_user_id = subject
      AND g.generation = read_generation AND g.status = 'active' AND g.refresh_attempt IS NULL;
  RETURN FOUND;
END
$$;

-- The provider did not take the token: it is as good as before.
CREATE FUNCTION "clear_refresh"(grant_provider text, subject text, attempt uuid) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE public.provider_grants g SET refresh_attempt = NULL, updated_at = now()
    WHERE g.provider = grant_provider AND g.provider_user_id = subject
      AND g.refresh_attempt = attempt;
END
$$;

-- Only a sign-in can mend the grant now. False when the attempt is no longer the grant's.
CREATE FUNCTION "end_refresh"(
  grant_provider text, subject text, attempt uuid, drop_refresh_token boolean
) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE public.provider_grants g SET status = 'needs-sign-in', updated_at = now(),
      refresh_token = CASE WHEN NOT drop_refresh_token THEN g.refresh_token END
    WHERE g.provider = grant_provider AND g.provider_user_id = subject
      AND g.refresh_attempt = attempt AND g.status = 'active';
  RETURN FOUND;
END
$$;

-- Stores what a refresh brought. False when the grant was replaced or removed meanwhile.
CREATE FUNCTION "store_refreshed"(
  grant_provider text, subject text, attempt uuid, new_access_token bytea, new_refresh_token bytea,
  new_scope text, expires_in integer
) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE public.provider_grants g SET access_token = new_access_token,
      refresh_token = coalesce(new_refresh_token, g.refresh_token), scope = new_scope,
      expires_at = now() + make_interval(secs => expires_in), generation = g.generation + 1,
      status = 'active', refresh_attempt = NULL, updated_at = now()
    WHERE g.provider = grant_provider AND g.provider_user_id = subject
      AND g.refresh_attempt = attempt;
  RETURN FOUND;
END
$$;

-- Keeps a refresh token that came back when its grant was gone: to be revoked, and then its id is
-- the answer, or set aside when a new sign-in has replaced the grant.
CREATE FUNCTION "retire_late_token"(
  grant_provider text, subject text, owner_id bigint, late_token bytea
) RETURNS uuid
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  replaced boolean;
  retired uuid;
BEGIN
  PERFORM FROM public.provider_grants g
    WHERE g.provider = grant_provider AND g.provider_user_id = subject FOR UPDATE;
  replaced := FOUND;
  INSERT INTO public.token_revocations (provider, provider_user_id, user_id, token, kind, status)
    VALUES (grant_provider, subject, owner_id, late_token, 'refresh_token',
            CASE WHEN replaced THEN 'superseded' ELSE 'revoking' END)
    RETURNING id INTO retired;
  RETURN CASE WHEN NOT replaced THEN retired END;
END
$$;

-- The worker.

-- Enters the tenant of a job that is being worked on, never a person. Of several jobs of one tenant
-- one is enough. No row when none of them is active or names a tenant.
CREATE FUNCTION "enter_job"(queue text, VARIADIC jobs uuid[])
RETURNS TABLE (tenant_id uuid)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp AS $$
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
  scope_text := public.set_scope('job', '', NULL, tenant_id);
  RETURN NEXT;
END
$$;

-- Enters the tenant of a billing customer that a received event is about. No row when the event is
-- not recorded, no user has the customer, or that user has no tenant of their own.
CREATE FUNCTION "enter_billing_event"(received text, customer text)
RETURNS TABLE (user_id bigint, tenant_id uuid)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  scope_text text;
BEGIN
  SELECT u.id, u.own_tenant_id INTO user_id, tenant_id FROM public.users u
    WHERE u.billing_customer = customer AND u.own_tenant_id IS NOT NULL
      AND EXISTS (SELECT FROM public.received_events e WHERE e.event_id = received);
  IF tenant_id IS NULL THEN
    scope_text := public.clear_scope();
    RETURN;
  END IF;
  scope_text := public.set_scope('billing', '', NULL, tenant_id);
  RETURN NEXT;
END
$$;

-- Deletes one batch of old events, with their deliveries and attempts, of the next tenant after
-- `tenant_after`. No row when there is no further tenant. Sets no scope.
CREATE FUNCTION "purge_outbound_events"(tenant_after uuid, older_than timestamptz, batch integer)
RETURNS TABLE (tenant_id uuid, purged integer)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  scope_text text;
BEGIN
  SELECT m.tenant_id INTO tenant_id FROM public.memberships m
    WHERE m.tenant_id > tenant_after ORDER BY m.tenant_id LIMIT 1;
  IF tenant_id IS NULL THEN RETURN; END IF;
  scope_text := public.set_scope('retention', '', NULL, tenant_id);
  DELETE FROM public.outbound_events e
    WHERE e.tenant_id = purge_outbound_events.tenant_id AND e.id IN (
      SELECT o.id FROM public.outbound_events o
      WHERE o.tenant_id = purge_outbound_events.tenant_id AND o.created_at < older_than
      ORDER BY o.created_at LIMIT batch);
  GET DIAGNOSTICS purged = ROW_COUNT;
  scope_text := public.clear_scope();
  RETURN NEXT;
END
$$;

-- Deletes one batch of sessions, pending sign-ins and tokens that nobody can use any more. No row
-- while another worker does it.
CREATE FUNCTION "prune_dead"(idle_seconds integer, token_days integer, batch integer)
RETURNS TABLE (sessions integer, attempts integer, tokens integer)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  seen_before timestamptz := now() - make_interval(secs => idle_seconds);
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
  RETURN NEXT;
END
$$;

-- Revocations of provider tokens, one by one: a job names the random id of its row.
CREATE FUNCTION "find_revocation"(revocation uuid)
RETURNS TABLE (
  id uuid, provider text, provider_user_id text, user_id bigint, tenant_id uuid, token bytea,
  kind text, attempts integer
)
LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN QUERY
    SELECT r.id, r.provider, r.provider_user_id, r.user_id, r.tenant_id, r.token, r.kind, r.attempts
    FROM public.token_revocations r WHERE r.id = revocation AND r.status = 'revoking';
END
$$;

CREATE FUNCTION "settle_revocation"(revocation uuid) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  DELETE FROM public.token_revocations r WHERE r.id = revocation AND r.status = 'revoking';
  RETURN FOUND;
END
$$;

CREATE FUNCTION "fail_revocation"(revocation uuid, reason text, is_final boolean) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE public.token_revocations r SET attempts = r.attempts + 1, last_error = reason,
      status = CASE WHEN is_final THEN 'failed' ELSE 'revoking' END
    WHERE r.id = revocation AND r.status = 'revoking';
  RETURN FOUND;
END
$$;

-- Texts that the program has sealed under ENCRYPTION_KEYS, for `gatehouse keys`: it reads and writes
-- exactly these columns, of every tenant. In key order; a table by tenant is read tenant by tenant.
CREATE FUNCTION "sealed_table"(
  source text, OUT keys text[], OUT texts text[], OUT facts text[], OUT by_tenant boolean
)
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  facts := '{}';
  by_tenant := false;
  CASE source
    WHEN 'provider_grants' THEN
      keys := '{provider,provider_user_id}';
      texts := '{access_token,refresh_token}';
    WHEN 'token_revocations' THEN
      keys := '{id}';
      texts := '{token}';
      facts := '{provider,provider_user_id,kind}';
    WHEN 'webhook_endpoints' THEN
      keys := '{tenant_id,id}';
      texts := '{secret,previous_secret}';
      by_tenant := true;
    ELSE
      RAISE EXCEPTION 'no sealed texts in %', source USING ERRCODE = 'insufficient_privilege';
  END CASE;
END
$$;

CREATE FUNCTION "sealed_tenants"(source text, first_tenant text) RETURNS SETOF uuid
LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF (public.sealed_table(source)).by_tenant THEN
    RETURN QUERY SELECT DISTINCT m.tenant_id FROM public.memberships m
      WHERE first_tenant IS NULL OR m.tenant_id >= first_tenant::uuid ORDER BY 1;
  ELSE
    RETURN NEXT NULL;
  END IF;
END
$$;

-- How many texts begin with which head: version, length of the key id, key id.
CREATE FUNCTION "count_sealed"(source text)
RETURNS TABLE (column_name text, head bytea, count bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  described record := public.sealed_table(source);
  tenant uuid;
  one text;
  scope_text text;
BEGIN
  FOR tenant IN SELECT * FROM public.sealed_tenants(source, NULL) LOOP
    scope_text := public.set_scope('keys', '', NULL, tenant);
    FOREACH one IN ARRAY described.texts LOOP
      RETURN QUERY EXECUTE format(
        'SELECT %1$L::text, substring(%1$I FROM 1 FOR 2 + get_byte(%1$I || $1, 1)), count(*)
         FROM public.%2$I WHERE %1$I IS NOT NULL GROUP BY 2 ORDER BY 2', one, source)
        USING '\x0000'::bytea;
    END LOOP;
  END LOOP;
  scope_text := public.clear_scope();
END
$$;

-- How many rows have a text that does not begin with `header`.
CREATE FUNCTION "count_stale"(source text, header bytea) RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  described record := public.sealed_table(source);
  tenant uuid;
  total bigint := 0;
  more bigint;
  scope_text text;
BEGIN
  FOR tenant IN SELECT * FROM public.sealed_tenants(source, NULL) LOOP
    scope_text := public.set_scope('keys', '', NULL, tenant);
    EXECUTE format('SELECT count(*) FROM public.%I WHERE %s', source,
        (SELECT string_agg(format('substring(%1$I FROM 1 FOR length($1)) <> $1', c), ' OR ')
         FROM unnest(described.texts) c))
      INTO more USING header;
    total := total + more;
  END LOOP;
  scope_text := public.clear_scope();
  RETURN total;
END
$$;

-- One batch of rows with a text that does not begin with `header`, locked until the transaction ends.
CREATE FUNCTION "read_sealed"(source text, header bytea, key_after text[], batch integer)
RETURNS TABLE (keys text[], texts bytea[], facts text[])
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  described record := public.sealed_table(source);
  key_list text := (SELECT string_agg(format('%I::text', c), ', ') FROM unnest(described.keys) c);
  tenant uuid;
  found_rows integer := 0;
  more integer;
  scope_text text;
BEGIN
  FOR tenant IN SELECT * FROM public.sealed_tenants(source, key_after[1]) LOOP
    scope_text := public.set_scope('keys', '', NULL, tenant);
    RETURN QUERY EXECUTE format(
      'SELECT ARRAY[%1$s], ARRAY[%2$s]::bytea[], ARRAY[%3$s]::text[] FROM public.%4$I
       WHERE (%5$s) AND ($2 IS NULL OR ARRAY[%1$s] COLLATE "C" > $2)
       ORDER BY ARRAY[%1$s] COLLATE "C" LIMIT $3 FOR UPDATE',
      key_list,
      (SELECT string_agg(format('%I', c), ', ') FROM unnest(described.texts) c),
      (SELECT coalesce(string_agg(format('%I', c), ', '), '') FROM unnest(described.facts) c),
      source,
      (SELECT string_agg(format('substring(%1$I FROM 1 FOR length($1)) <> $1', c), ' OR ')
       FROM unnest(described.texts) c))
      USING header, key_after, batch - found_rows;
    GET DIAGNOSTICS more = ROW_COUNT;
    found_rows := found_rows + more;
    EXIT WHEN found_rows >= batch;
  END LOOP;
  scope_text := public.clear_scope();
END
$$;

-- Replaces the sealed texts of a row, in the order of read_sealed; NULL where there is none.
CREATE FUNCTION "write_sealed"(source text, row_keys text[], new_texts bytea[]) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  described record := public.sealed_table(source);
  changed integer;
  scope_text text;
BEGIN
  IF described.by_tenant THEN
    scope_text := public.set_scope('keys', '', NULL, row_keys[1]::uuid);
  END IF;
  EXECUTE format('UPDATE public.%I SET %s WHERE %s', source,
      (SELECT string_agg(format('%I = $1[%s]', c, n), ', ')
       FROM unnest(described.texts) WITH ORDINALITY AS t (c, n)),
      (SELECT string_agg(format('%I::text = $2[%s]', c, n), ' AND ')
       FROM unnest(described.keys) WITH ORDINALITY AS t (c, n)))
    USING new_texts, row_keys;
  GET DIAGNOSTICS changed = ROW_COUNT;
  scope_text := public.clear_scope();
  RETURN changed = 1;
END
$$;

-- `gatehouse keys`: a new key that seals from now on. The one before it verifies what is open; any
-- older one goes.
CREATE FUNCTION "rotate_scope_key"() RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  LOCK TABLE public.scope_keys IN SHARE ROW EXCLUSIVE MODE;
  PERFORM public.add_scope_key();
  DELETE FROM public.scope_keys k WHERE k.id NOT IN (
    SELECT n.id FROM public.scope_keys n ORDER BY n.id DESC LIMIT 2);
END
$$;

CREATE FUNCTION "list_scope_keys"() RETURNS TABLE (id integer, created_at timestamptz)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN QUERY SELECT k.id, k.created_at FROM public.scope_keys k ORDER BY k.id DESC;
END
$$;

-- Identity tables come under row-level security. They are not FORCEd: the functions above look into
-- them as their owner before a scope exists. People see themselves, what is theirs, and the members
-- of their current tenant. A table without a policy is reached through functions alone.

ALTER TABLE "users" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "self_or_tenant" ON "users" FOR SELECT USING (
  "id" = (SELECT current_user_id())
  OR "own_tenant_id" = (SELECT current_tenant_id())
  OR EXISTS (SELECT FROM memberships m
             WHERE m.tenant_id = (SELECT current_tenant_id()) AND m.user_id = users.id));
-- A person may lock their own row; what an update leaves behind belongs to the tenant that is the
-- user's own: billing customer and plan change nowhere else.
CREATE POLICY "own_tenant" ON "users" FOR UPDATE
  USING ("id" = (SELECT current_user_id()) OR "own_tenant_id" = (SELECT current_tenant_id()))
  WITH CHECK ("own_tenant_id" = (SELECT current_tenant_id()));

ALTER TABLE "memberships" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "own_or_tenant" ON "memberships" FOR SELECT
  USING ("user_id" = (SELECT current_user_id()) OR "tenant_id" = (SELECT current_tenant_id()));
CREATE POLICY "tenant_change" ON "memberships" FOR UPDATE
  USING ("tenant_id" = (SELECT current_tenant_id())) WITH CHECK ("tenant_id" = (SELECT current_tenant_id()));
CREATE POLICY "tenant_removal" ON "memberships" FOR DELETE
  USING ("tenant_id" = (SELECT current_tenant_id()));

ALTER TABLE "invitations" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "tenant_scope" ON "invitations"
  USING ("tenant_id" = (SELECT current_tenant_id())) WITH CHECK ("tenant_id" = (SELECT current_tenant_id()));

ALTER TABLE "oauth_identities" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "owner_scope" ON "oauth_identities"
  USING ("user_id" = (SELECT current_user_id())) WITH CHECK ("user_id" = (SELECT current_user_id()));

ALTER TABLE "sessions" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "owner_scope" ON "sessions"
  USING ("user_id" = (SELECT current_user_id())) WITH CHECK ("user_id" = (SELECT current_user_id()));

-- A token cannot make another one: only a session can.
ALTER TABLE "api_tokens" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "owner_scope" ON "api_tokens"
  USING ("user_id" = (SELECT current_user_id()))
  WITH CHECK ("user_id" = (SELECT current_user_id()) AND "tenant_id" = (SELECT current_tenant_id())
              AND (SELECT current_scope_kind()) = 'session');

ALTER TABLE "provider_grants" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "owner_scope" ON "provider_grants"
  USING (EXISTS (SELECT FROM oauth_identities i
    WHERE i.provider = provider_grants.provider
      AND i.provider_user_id = provider_grants.provider_user_id
      AND i.user_id = (SELECT current_user_id())))
  WITH CHECK (EXISTS (SELECT FROM oauth_identities i
    WHERE i.provider = provider_grants.provider
      AND i.provider_user_id = provider_grants.provider_user_id
      AND i.user_id = (SELECT current_user_id())));

ALTER TABLE "token_revocations" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "owner_scope" ON "token_revocations"
  USING ("user_id" = (SELECT current_user_id())) WITH CHECK ("user_id" = (SELECT current_user_id()));

ALTER TABLE "sign_in_attempts" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "logout_tokens" ENABLE ROW LEVEL SECURITY;

-- An order belongs to a person in whichever tenant it was placed. What is published about a change
-- belongs to that tenant: the owner enters it for this, and goes back to the scope they came with.

-- Enters the tenant of an order of the current user. NULL when there is no such order.
CREATE FUNCTION "enter_order_tenant"(order_id bigint) RETURNS uuid
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  scope text[] := public.verified_scope();
  tenant uuid;
BEGIN
  IF scope IS NULL OR scope[2] NOT IN ('session', 'token') OR scope[4] = '' THEN
    RAISE EXCEPTION 'no person has entered' USING ERRCODE = 'insufficient_privilege';
  END IF;
  SELECT o.tenant_id INTO tenant FROM public.orders o
    WHERE o.id = order_id AND o.user_id = scope[4]::bigint;
  IF tenant IS NOT NULL THEN
    PERFORM public.set_scope('order', scope[2] || '/' || scope[5], scope[4]::bigint, tenant);
  END IF;
  RETURN tenant;
END
$$;

-- Goes back to the scope that enter_order_tenant was called in.
CREATE FUNCTION "leave_order_tenant"() RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  scope text[] := public.verified_scope();
BEGIN
  IF scope IS NULL OR scope[2] <> 'order' THEN
    RAISE EXCEPTION 'no tenant of an order was entered' USING ERRCODE = 'insufficient_privilege';
  END IF;
  PERFORM public.set_scope(split_part(scope[3], '/', 1), '', scope[4]::bigint,
    nullif(split_part(scope[3], '/', 2), '')::uuid);
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
