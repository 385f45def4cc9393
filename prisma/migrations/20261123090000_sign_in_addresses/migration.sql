-- Addresses of people: one rule to compare them, and an address that its holder never proved keeps
-- nobody out. Also what a sign-in returns to, the provider's error code in the audit log, sessions
-- at a provider that we do not know, and access tokens that live a minute or less.
--
-- Functions are added and replaced, so stop every process of the older release first (docs/upgrades.md).

-- The one rule: ASCII letters in lower case, whatever the locale of the database. The former index
-- followed the locale and took two addresses for one that every other comparison keeps apart.
DROP INDEX "users_verified_email_key";
CREATE UNIQUE INDEX "users_verified_email_key" ON "users" (lower("email" COLLATE "C")) WHERE "email_verified";

ALTER TABLE "audit_log" ADD COLUMN "provider_error" text;
ALTER TABLE "sign_in_attempts" ADD COLUMN "return_to" text;

-- What bears on a proven identity: who holds it, else who holds its address as verified.
DROP FUNCTION "look_up_identity"(text, text);
CREATE FUNCTION "look_up_identity"(subject text, address text)
RETURNS TABLE (identity_user_id bigint, address_user_id bigint)
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
  END IF;
  RETURN NEXT;
END
$$;

-- Gives a new identity to the user who holds its address as verified, and signs in as them. NULL
-- when nobody does.
CREATE OR REPLACE FUNCTION "link_by_address"(subject text, identity_issuer text, address text)
RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  attempt record := public.current_attempt('sign-in');
  holder bigint;
  scope_text text;
BEGIN
  SELECT u.id INTO holder FROM public.users u
    WHERE lower(u.email COLLATE "C") = lower(address COLLATE "C") AND u.email_verified;
  IF holder IS NULL THEN RETURN NULL; END IF;
  INSERT INTO public.oauth_identities (provider, provider_user_id, user_id, issuer)
    VALUES (attempt.provider, subject, holder, identity_issuer);
  scope_text := public.set_scope('sign-in', attempt.provider || '/' || attempt.session_id, holder, NULL);
  RETURN holder;
END
$$;

-- A new user with their first identity, admin of a new tenant of their own; signs in as them. The
-- address is unproven until prove_address.
DROP FUNCTION "create_user"(text, text, text, boolean, text);
CREATE FUNCTION "create_user"(
  subject text, identity_issuer text, address text, tenant_name text
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
  INSERT INTO public.users (email, own_tenant_id) VALUES (address, tenant) RETURNING id INTO created;
  INSERT INTO public.memberships (tenant_id, user_id, role) VALUES (tenant, created, 'admin');
  INSERT INTO public.oauth_identities (provider, provider_user_id, user_id, issuer)
    VALUES (attempt.provider, subject, created, identity_issuer);
  scope_text := public.set_scope('sign-in', attempt.provider || '/' || attempt.session_id, created, NULL);
  RETURN created;
END
$$;

-- The person of a completed sign-in has proven an address. Without a proven one they now hold this
-- one, unless another user does. Users who only claimed it lose the address, not the account.
-- One row per user whose address changed: the new holder, then those who lost it.
CREATE FUNCTION "prove_address"(address text) RETURNS TABLE (user_id bigint, verified boolean)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  attempt record := public.current_attempt('sign-in', 'link', 'reauthenticate');
BEGIN
  IF attempt.user_id IS NULL THEN
    RAISE EXCEPTION 'nobody has signed in' USING ERRCODE = 'insufficient_privilege';
  END IF;
  UPDATE public.users u SET email = address, email_verified = true
    WHERE u.id = attempt.user_id AND NOT u.email_verified AND NOT EXISTS (
      SELECT FROM public.users o
      WHERE lower(o.email COLLATE "C") = lower(address COLLATE "C") AND o.email_verified);
  IF NOT FOUND THEN RETURN; END IF;
  user_id := attempt.user_id;
  verified := true;
  RETURN NEXT;
  RETURN QUERY
    UPDATE public.users u SET email = NULL
    WHERE lower(u.email COLLATE "C") = lower(address COLLATE "C") AND NOT u.email_verified
    RETURNING u.id, false;
END
$$;

-- Stores a pending sign-in, link or re-authentication in the session of the cookie. A sign-in in a
-- browser without a session begins an anonymous one. False when a link or re-authentication has no
-- live session of its person. `return_path`: where the browser goes afterwards; NULL for the
-- configured path.
DROP FUNCTION "start_attempt"(bytea, bytea, text, text, text, text, text, text, integer);
CREATE FUNCTION "start_attempt"(
  credential bytea, state bytea, attempt_purpose text, attempt_provider text, attempt_nonce text,
  attempt_verifier text, browser text, network text, lifetime_seconds integer,
  return_path text DEFAULT NULL
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
      (state_hash, session_id, user_id, purpose, provider, nonce, code_verifier, return_to, expires_at)
    SELECT sha256(state), s.id, CASE WHEN attempt_purpose <> 'sign-in' THEN s.user_id END,
           attempt_purpose, attempt_provider, attempt_nonce, attempt_verifier, return_path, until
    FROM public.sessions s
    WHERE s.id_hash = sha256(credential) AND s.expires_at > now()
      AND (attempt_purpose = 'sign-in' OR s.user_id IS NOT NULL);
  RETURN FOUND;
END
$$;

-- Exchanges the state for the ticket; of parallel callbacks one gets it. No row when the state is
-- unknown, expired, used, or of another browser. A taken attempt lives a minute at least: the
-- provider has yet to be asked.
DROP FUNCTION "take_attempt"(bytea, bytea, bytea);
CREATE FUNCTION "take_attempt"(credential bytea, state bytea, ticket bytea)
RETURNS TABLE (
  provider text, nonce text, code_verifier text, purpose text, user_id bigint, return_to text,
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
    RETURNING a.provider, a.nonce, a.code_verifier, a.purpose, a.user_id, a.return_to,
              extract(epoch FROM now() - a.created_at)::float8;
END
$$;

-- Ends the sessions that came from one session at the provider. Where that is NULL, or none of ours
-- came from it, all that the user of the subject signed in through this provider.
CREATE OR REPLACE FUNCTION "end_provider_sessions"(
  logout_provider text, session_at_provider text, subject text
)
RETURNS TABLE (user_id bigint, tenant_id uuid)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN QUERY
    DELETE FROM public.sessions s
    WHERE s.provider = logout_provider AND s.provider_session = session_at_provider
    RETURNING s.user_id, s.tenant_id;
  IF FOUND THEN RETURN; END IF;
  RETURN QUERY
    DELETE FROM public.sessions s
    WHERE s.provider = logout_provider AND s.user_id = (
      SELECT i.user_id FROM public.oauth_identities i
      WHERE i.provider = logout_provider AND i.provider_user_id = subject)
    RETURNING s.user_id, s.tenant_id;
END
$$;

-- When the access token was issued, which with its expiry gives its lifetime.
ALTER TABLE "provider_grants"
  ADD COLUMN "issued_at" timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP;
UPDATE "provider_grants" SET "issued_at" = "updated_at";

-- Fresh: the access token is valid for another margin_seconds, or for half its lifetime if that is
-- shorter.
CREATE OR REPLACE FUNCTION "find_grant"(grant_provider text, subject text, margin_seconds integer)
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
           coalesce(now() < g.expires_at - least(make_interval(secs => margin_seconds),
                                                 (g.expires_at - g.issued_at) / 2), true)
    FROM public.provider_grants g
    JOIN public.oauth_identities i USING (provider, provider_user_id)
    WHERE g.provider = grant_provider AND g.provider_user_id = subject;
END
$$;

-- Stores what a refresh brought. False when the grant was replaced or removed meanwhile.
CREATE OR REPLACE FUNCTION "store_refreshed"(
  grant_provider text, subject text, attempt uuid, new_access_token bytea, new_refresh_token bytea,
  new_scope text, expires_in integer
) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE public.provider_grants g SET access_token = new_access_token,
      refresh_token = coalesce(new_refresh_token, g.refresh_token), scope = new_scope,
      issued_at = now(), expires_at = now() + make_interval(secs => expires_in),
      generation = g.generation + 1, status = 'active', refresh_attempt = NULL, updated_at = now()
    WHERE g.provider = grant_provider AND g.provider_user_id = subject
      AND g.refresh_attempt = attempt;
  RETURN FOUND;
END
$$;

-- PostgreSQL lets everyone call a new function. Here only those may whom `gatehouse migrate` names.
REVOKE ALL ON FUNCTION "look_up_identity"(text, text), "create_user"(text, text, text, text),
  "prove_address"(text), "take_attempt"(bytea, bytea, bytea),
  "start_attempt"(bytea, bytea, text, text, text, text, text, text, integer, text)
  FROM PUBLIC;
