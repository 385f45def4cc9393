-- What a session is evidence of: the identity that signed in, and when its person authenticated, as
-- the provider says. Also refusals counted in the audit log, its retention, tokens whose revocation
-- is tried again, and used logout tokens deleted by the cleanup.
--
-- Functions change, so stop every process of the older release first (docs/upgrades.md). Sessions
-- stay valid; operators sign in again, because older sessions do not name their identity.

-- The identity that signed in; NULL once it is unlinked. A person may have several at one provider.
-- `authenticated_at` is NULL if the provider did not say when the person authenticated. Such a person
-- can only confirm their identity there (`confirmed_at`).
ALTER TABLE "sessions"
  ADD COLUMN "provider_user_id" text,
  ADD COLUMN "confirmed_at" timestamptz(6),
  ADD CONSTRAINT "sessions_provider_provider_user_id_fkey" FOREIGN KEY ("provider", "provider_user_id")
    REFERENCES "oauth_identities" ("provider", "provider_user_id")
    ON DELETE SET NULL ("provider_user_id") ON UPDATE CASCADE;
CREATE INDEX "sessions_provider_provider_user_id_idx" ON "sessions" ("provider", "provider_user_id");

-- Enters as the person of a live session. `credential` is the SHA-256 of the id in the cookie.
-- No row and no scope for a session that is missing, expired or idle; a row without a user and no
-- scope for the session of a pending sign-in. `subject` is that of the identity that signed in at
-- `provider`. `stale`: last_seen_at is due for touch_session.
-- With for_write the rows that give the right stay as they are until this transaction ends. The
-- membership is locked first, as everywhere. FOR SHARE holds back a change of role or department.
-- For the session FOR KEY SHARE is enough: it ends by DELETE or by a new id, and both wait;
-- last_seen_at may change meanwhile.
DROP FUNCTION "enter_session"(bytea, integer, boolean);
CREATE FUNCTION "enter_session"(credential bytea, idle_seconds integer, for_write boolean)
RETURNS TABLE (
  session_id uuid, user_id bigint, email text, plan text, created_at timestamptz,
  tenant_id uuid, role text, department text, authenticated_seconds_ago double precision,
  stale boolean, provider text, subject text
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
         floor(extract(epoch FROM now() - greatest(s.authenticated_at, s.confirmed_at)))::float8,
         s.last_seen_at < now() - interval '60 seconds', s.provider, s.provider_user_id
    INTO session_id, user_id, email, plan, created_at, tenant_id, role, department,
         authenticated_seconds_ago, stale, provider, subject
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

-- Enters the completion of a sign-in and uses the ticket up. The scope has the purpose as its kind
-- and names provider and browser session; it has a user only for a link or re-authentication whose
-- session still belongs to the person who started it. That person and then the session are locked.
-- `session_time_known`: the provider of that session said when its person authenticated.
DROP FUNCTION "enter_attempt"(bytea);
CREATE FUNCTION "enter_attempt"(ticket bytea)
RETURNS TABLE (
  purpose text, provider text, user_id bigint, session_user_id bigint, session_tenant_id uuid,
  session_time_known boolean
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
    SELECT s.user_id, s.tenant_id, s.authenticated_at IS NOT NULL
      INTO session_user_id, session_tenant_id, session_time_known
      FROM public.sessions s WHERE s.id = browser AND s.expires_at > now() FOR UPDATE;
    IF session_user_id = user_id THEN entered := user_id; END IF;
  END IF;
  scope_text := public.set_scope(purpose, provider || '/' || browser, entered, NULL);
  RETURN NEXT;
END
$$;

-- What bears on a proven identity: who holds it, else who holds its address as verified, and whether
-- that user also holds one of `operators`, which are provider:subject pairs.
DROP FUNCTION "look_up_identity"(text, text);
CREATE FUNCTION "look_up_identity"(subject text, address text, operators text[])
RETURNS TABLE (identity_user_id bigint, address_user_id bigint, address_user_operates boolean)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  attempt record := public.current_attempt('sign-in', 'link', 'reauthenticate');
BEGIN
  SELECT i.user_id INTO identity_user_id FROM public.oauth_identities i
    WHERE i.provider = attempt.provider AND i.provider_user_id = subject;
  IF NOT FOUND THEN
    SELECT u.id INTO address_user_id FROM public.users u
      WHERE lower(u.email COLLATE "C") = lower(address COLLATE "C") AND u.email_verified;
    address_user_operates := public.holds_identity(address_user_id, operators);
  END IF;
  RETURN NEXT;
END
$$;

-- Whether the user holds one of these identities, as provider:subject pairs.
CREATE FUNCTION "holds_identity"(person bigint, identities text[]) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN EXISTS (
    SELECT FROM public.oauth_identities i
    WHERE i.user_id = person AND i.provider || ':' || i.provider_user_id = ANY (identities));
END
$$;

-- Gives a new identity to the user who holds its address as verified, and signs in as them. NULL
-- when nobody does, or that user holds an operator's identity.
DROP FUNCTION "link_by_address"(text, text, text);
CREATE FUNCTION "link_by_address"(
  subject text, identity_issuer text, address text, operators text[]
) RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  attempt record := public.current_attempt('sign-in');
  holder bigint;
  scope_text text;
BEGIN
  SELECT u.id INTO holder FROM public.users u
    WHERE lower(u.email COLLATE "C") = lower(address COLLATE "C") AND u.email_verified
    FOR UPDATE;
  IF holder IS NULL OR public.holds_identity(holder, operators) THEN RETURN NULL; END IF;
  INSERT INTO public.oauth_identities (provider, provider_user_id, user_id, issuer)
    VALUES (attempt.provider, subject, holder, identity_issuer);
  scope_text := public.set_scope('sign-in', attempt.provider || '/' || attempt.session_id, holder, NULL);
  RETURN holder;
END
$$;

-- Begins the session of a completed sign-in and enters it: in the tenant last active, else the one
-- that invited last, else the user's own. The browser's other pending sign-ins go on under it, and
-- the session the browser came with ends. `subject`: the identity that signed in, which is one of
-- the user's. `seconds_ago`: since the person authenticated; NULL when the provider did not say.
DROP FUNCTION "start_session"(bytea, text, text, text, integer);
CREATE FUNCTION "start_session"(
  credential bytea, subject text, session_at_provider text, browser text, network text,
  absolute_seconds integer, seconds_ago double precision
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
  IF NOT public.holds_identity(attempt.user_id, ARRAY[attempt.provider || ':' || subject]) THEN
    -- The identity, or the person with it, may have been deleted meanwhile: sign in once more.
    IF NOT EXISTS (SELECT FROM public.oauth_identities i
                   WHERE i.provider = attempt.provider AND i.provider_user_id = subject) THEN
      RAISE EXCEPTION 'the identity is gone' USING ERRCODE = 'foreign_key_violation';
    END IF;
    RAISE EXCEPTION 'the identity has not signed in' USING ERRCODE = 'insufficient_privilege';
  END IF;
  UPDATE public.memberships t SET last_active_at = now()
    WHERE t.user_id = attempt.user_id AND t.tenant_id = (
      SELECT m.tenant_id FROM public.memberships m JOIN public.users u ON u.id = m.user_id
      WHERE m.user_id = attempt.user_id
      ORDER BY m.last_active_at DESC NULLS LAST, m.tenant_id IS NOT DISTINCT FROM u.own_tenant_id,
               m.created_at DESC, m.tenant_id
      LIMIT 1)
    RETURNING t.tenant_id INTO tenant;
  INSERT INTO public.sessions (id_hash, user_id, tenant_id, provider, provider_user_id,
                               provider_session, user_agent, ip, authenticated_at, expires_at)
    VALUES (sha256(credential), attempt.user_id, tenant, attempt.provider, subject,
            session_at_provider, browser, network,
            now() - make_interval(secs => seconds_ago),
            now() + make_interval(secs => absolute_seconds))
    RETURNING id INTO begun;
  UPDATE public.sign_in_attempts a SET session_id = begun
    WHERE a.session_id = attempt.session_id AND a.purpose = 'sign-in';
  DELETE FROM public.sessions s WHERE s.id = attempt.session_id;
  scope_text := public.set_scope('session', '', attempt.user_id, tenant);
  RETURN QUERY SELECT begun, tenant;
END
$$;

-- Gives the session of a completed link or re-authentication a new id. After a re-authentication
-- its time starts again, and it rests on the identity that was used, which is one of the user's.
-- `seconds_ago` as in start_session: when it is NULL the person has only confirmed their identity.
-- False when the session has ended.
DROP FUNCTION "renew_session"(bytea, text, integer);
CREATE FUNCTION "renew_session"(
  credential bytea, subject text, session_at_provider text, absolute_seconds integer,
  seconds_ago double precision
) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  attempt record := public.current_attempt('link', 'reauthenticate');
BEGIN
  IF NOT public.holds_identity(attempt.user_id, ARRAY[attempt.provider || ':' || subject]) THEN
    RAISE EXCEPTION 'the identity has not signed in' USING ERRCODE = 'insufficient_privilege';
  END IF;
  UPDATE public.sessions s SET id_hash = sha256(credential)
    WHERE s.id = attempt.session_id AND s.user_id = attempt.user_id;
  IF NOT FOUND THEN RETURN false; END IF;
  IF attempt.purpose = 'reauthenticate' THEN
    UPDATE public.sessions s
      SET authenticated_at = now() - make_interval(secs => seconds_ago),
          confirmed_at = CASE WHEN seconds_ago IS NULL THEN now() END,
          provider = attempt.provider, provider_user_id = subject,
          provider_session = session_at_provider,
          expires_at = now() + make_interval(secs => absolute_seconds)
      WHERE s.id = attempt.session_id;
  END IF;
  RETURN true;
END
$$;

-- Unauthenticated requests are counted: one entry for all of a minute that have the same
-- reason and network.
ALTER TABLE "audit_log" ADD COLUMN "occurrences" integer NOT NULL DEFAULT 1
  CHECK ("occurrences" > 0);

-- For the owner alone, whose function prune_records deletes old entries. The roles of the program can
-- still only read and append.
CREATE POLICY "retention_read" ON "audit_log" FOR SELECT TO CURRENT_USER
  USING ((SELECT current_scope_kind()) = 'retention');
CREATE POLICY "retention" ON "audit_log" FOR DELETE TO CURRENT_USER
  USING ((SELECT current_scope_kind()) = 'retention');

-- Back-channel logout. False when the token was received before; of two at once the second waits.
-- Expired tokens are deleted by prune_records.
CREATE OR REPLACE FUNCTION "remember_logout"(
  logout_provider text, jti bytea, remembered_seconds integer
) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO public.logout_tokens AS t (provider, jti_hash, expires_at)
    VALUES (logout_provider, jti, now() + make_interval(secs => remembered_seconds))
    ON CONFLICT (provider, jti_hash) DO UPDATE SET expires_at = excluded.expires_at
      WHERE t.expires_at < now();
  RETURN FOUND;
END
$$;
DROP INDEX "logout_tokens_provider_expires_at_idx";
CREATE INDEX "logout_tokens_expires_at_idx" ON "logout_tokens" ("expires_at");

-- Deletes one batch of expired logout tokens, and one of audit entries older than `audit_days`.
-- Entries are in the order of their ids, so the look-up ends at the first batch.
CREATE FUNCTION "prune_records"(audit_days integer, batch integer)
RETURNS TABLE (logouts integer, entries integer)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  scope_text text;
BEGIN
  DELETE FROM public.logout_tokens t WHERE (t.provider, t.jti_hash) IN (
    SELECT o.provider, o.jti_hash FROM public.logout_tokens o WHERE o.expires_at < now()
    ORDER BY o.expires_at LIMIT batch);
  GET DIAGNOSTICS logouts = ROW_COUNT;
  scope_text := public.set_scope('retention', '', NULL, NULL);
  DELETE FROM public.audit_log a
    WHERE a.id IN (SELECT o.id FROM public.audit_log o ORDER BY o.id LIMIT batch)
      AND a.at < now() - make_interval(days => audit_days);
  GET DIAGNOSTICS entries = ROW_COUNT;
  scope_text := public.clear_scope();
  RETURN NEXT;
END
$$;

-- Tokens that a provider would not revoke. `tried_at`: the latest attempt, or the start of a new
-- round of attempts. `failed_at`: the end of the first round.
ALTER TABLE "token_revocations"
  ADD COLUMN "tried_at" timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  ADD COLUMN "failed_at" timestamptz(6);
UPDATE "token_revocations" SET "failed_at" = CURRENT_TIMESTAMP WHERE "status" = 'failed';

DROP FUNCTION "find_revocation"(uuid);
CREATE FUNCTION "find_revocation"(revocation uuid)
RETURNS TABLE (
  id uuid, provider text, provider_user_id text, user_id bigint, tenant_id uuid, token bytea,
  kind text, attempts integer, failed_at timestamptz
)
LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN QUERY
    SELECT r.id, r.provider, r.provider_user_id, r.user_id, r.tenant_id, r.token, r.kind,
           r.attempts, r.failed_at
    FROM public.token_revocations r WHERE r.id = revocation AND r.status = 'revoking';
END
$$;

CREATE OR REPLACE FUNCTION "fail_revocation"(revocation uuid, reason text, is_final boolean)
RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE public.token_revocations r
    SET attempts = r.attempts + 1, last_error = reason, tried_at = now(),
        status = CASE WHEN is_final THEN 'failed' ELSE 'revoking' END,
        failed_at = CASE WHEN is_final THEN coalesce(r.failed_at, now()) ELSE r.failed_at END
    WHERE r.id = revocation AND r.status = 'revoking';
  RETURN FOUND;
END
$$;

-- Begins another round for a batch of tokens that nobody has tried to revoke for `wait_seconds`: each
-- id needs a job. A superseded token waits for the sign-out, because revoking it could revoke the
-- grant that replaced it; without that grant nothing holds it back.
CREATE FUNCTION "retry_revocations"(wait_seconds integer, batch integer) RETURNS SETOF uuid
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN QUERY
    UPDATE public.token_revocations r SET status = 'revoking', tried_at = now()
    WHERE r.id IN (
      SELECT o.id FROM public.token_revocations o
      WHERE o.tried_at < now() - make_interval(secs => wait_seconds)
        AND (o.status <> 'superseded' OR NOT EXISTS (
          SELECT FROM public.provider_grants g
          WHERE g.provider = o.provider AND g.provider_user_id = o.provider_user_id))
      ORDER BY o.tried_at LIMIT batch FOR UPDATE SKIP LOCKED)
    RETURNING r.id;
END
$$;

-- Deletes a batch of tokens that are older than `max_days`, whatever became of them.
CREATE FUNCTION "expire_revocations"(max_days integer, batch integer)
RETURNS TABLE (provider text, user_id bigint, tenant_id uuid, status text)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN QUERY
    DELETE FROM public.token_revocations r
    WHERE r.id IN (
      SELECT o.id FROM public.token_revocations o
      WHERE o.created_at < now() - make_interval(days => max_days)
      ORDER BY o.created_at LIMIT batch FOR UPDATE SKIP LOCKED)
    RETURNING r.provider, r.user_id, r.tenant_id, r.status;
END
$$;

-- PostgreSQL lets everyone call a new function. Here only those may whom `gatehouse migrate` names.
REVOKE ALL ON FUNCTION "enter_session"(bytea, integer, boolean), "enter_attempt"(bytea),
  "look_up_identity"(text, text, text[]), "holds_identity"(bigint, text[]),
  "link_by_address"(text, text, text, text[]),
  "start_session"(bytea, text, text, text, text, integer, double precision),
  "renew_session"(bytea, text, text, integer, double precision),
  "prune_records"(integer, integer), "find_revocation"(uuid),
  "retry_revocations"(integer, integer), "expire_revocations"(integer, integer)
  FROM PUBLIC;
