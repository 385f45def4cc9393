-- Signing in: attempts, identities, addresses and the start of a session. Before there is a session, the scope is that
-- of the attempt.

-- The hash of a ticket, with which an attempt is completed (take_attempt). The leading byte separates it from the hash
-- of any state.
CREATE OR REPLACE FUNCTION ticket_hash(ticket bytea) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sha256('\x01'::bytea || ticket);

-- Stores a sign-in, link or re-authentication attempt in the session of the cookie. A sign-in in a browser without a
-- session creates one without a user. Returns false if a link or re-authentication has no live session of its user.
CREATE OR REPLACE FUNCTION start_attempt(
  credential bytea, state bytea, attempt_purpose text, attempt_provider text, attempt_nonce text,
  attempt_verifier text, browser text, network text, lifetime_seconds integer,
  return_path text DEFAULT NULL
) RETURNS boolean LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  until timestamptz := now() + make_interval(secs => lifetime_seconds);
BEGIN
  IF attempt_purpose = 'sign-in' THEN
    INSERT INTO public.sessions AS s (id_hash, user_agent, ip, expires_at)
      VALUES (sha256(credential), browser, network, until)
      ON CONFLICT (id_hash) DO UPDATE SET expires_at =
        greatest(s.expires_at, CASE WHEN s.user_id IS NULL THEN excluded.expires_at END);
  END IF;
  -- A browser has at most 50 attempts in progress: the oldest ends.
  DELETE FROM public.sign_in_attempts a WHERE a.state_hash IN (
    SELECT o.state_hash FROM public.sign_in_attempts o JOIN public.sessions s ON s.id = o.session_id
    WHERE s.id_hash = sha256(credential) ORDER BY o.created_at DESC, o.state_hash OFFSET 49);
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

-- Exchanges the state for a ticket; of parallel callbacks one succeeds. No row if the state is unknown, expired,
-- used, or of another browser. A taken attempt lives at least a minute, because the provider is asked next.
CREATE OR REPLACE FUNCTION take_attempt(credential bytea, state bytea, ticket bytea)
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

-- Enters the completion of a sign-in and uses the ticket up. The kind of the scope is the purpose; the detail names the
-- provider and the session of the browser. The scope has a user only for a link or re-authentication whose session
-- still belongs to the user who started it. Locks that user and then the session.
CREATE OR REPLACE FUNCTION enter_attempt(ticket bytea) RETURNS TABLE (
  purpose text, provider text, user_id bigint, session_user_id bigint, session_tenant_id uuid,
  session_time_known boolean
) LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  browser uuid;
  entered bigint;
BEGIN
  DELETE FROM public.sign_in_attempts a
    WHERE a.state_hash = public.ticket_hash(ticket) AND a.expires_at > now()
    RETURNING a.purpose, a.provider, a.user_id, a.session_id
    INTO purpose, provider, user_id, browser;
  IF browser IS NULL THEN PERFORM public.clear_scope(); RETURN; END IF;
  IF purpose <> 'sign-in' THEN
    PERFORM FROM public.users u WHERE u.id = enter_attempt.user_id FOR UPDATE;
    SELECT s.user_id, s.tenant_id, s.authenticated_at IS NOT NULL
      INTO session_user_id, session_tenant_id, session_time_known
      FROM public.sessions s
      WHERE s.id = browser AND s.expires_at > now() AND NOT public.is_closed(s.tenant_id) FOR UPDATE;
    IF session_user_id = user_id THEN entered := user_id; END IF;
  END IF;
  PERFORM public.set_scope(purpose, provider || '/' || browser, entered, NULL);
  RETURN NEXT;
END
$$;

-- Provider and browser session of the sign-in that this transaction completes.
CREATE OR REPLACE FUNCTION current_attempt(
  VARIADIC purposes text[], OUT purpose text, OUT provider text, OUT session_id uuid,
  OUT user_id bigint
) LANGUAGE plpgsql STABLE AS $$
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

-- The user of a session. Raises for an API token, which may not do what the caller does.
CREATE OR REPLACE FUNCTION session_user_id() RETURNS bigint LANGUAGE plpgsql STABLE AS $$
DECLARE
  scope text[] := public.verified_scope();
BEGIN
  IF scope IS NULL OR scope[2] <> 'session' THEN
    RAISE EXCEPTION 'no person has entered with a session' USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN scope[4]::bigint;
END
$$;

-- Whether a session has been entered, and its user is an operator.
CREATE OR REPLACE FUNCTION is_operator() RETURNS boolean
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN public.current_scope_kind() = 'session' AND EXISTS (
    SELECT FROM public.oauth_identities i JOIN public.operators o USING (provider, provider_user_id)
    WHERE i.user_id = public.current_user_id());
END
$$;

-- The user of a session, who must be an operator. Raises GH002 for another user: the program checks the identity that
-- signed in against its settings first, so workers have not yet recorded this operator.
CREATE OR REPLACE FUNCTION operator_user_id() RETURNS bigint LANGUAGE plpgsql STABLE AS $$
DECLARE
  person bigint := public.session_user_id();
BEGIN
  IF NOT public.is_operator() THEN
    RAISE EXCEPTION 'the user of the session is not an operator' USING ERRCODE = 'GH002';
  END IF;
  RETURN person;
END
$$;

-- The user of an identity, or the one who has verified its address. `address_is_current`: an identity of this user had the
-- address, verified, at its latest sign-in. `revocations` are provider tokens of users who are deleted here, because all
-- their tenants are closed.
CREATE OR REPLACE FUNCTION look_up_identity(subject text, address text, operators text[])
RETURNS TABLE (
  identity_user_id bigint, identity_issuer text, address_user_id bigint, address_user_operates boolean,
  address_is_current boolean, revocations uuid[]
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  attempt record := public.current_attempt('sign-in', 'link', 'reauthenticate');
BEGIN
  revocations := public.erase_departed((
      SELECT i.user_id FROM public.oauth_identities i
      WHERE i.provider = attempt.provider AND i.provider_user_id = subject))
    || public.erase_departed((
      SELECT u.id FROM public.users u
      WHERE lower(u.email COLLATE "C") = lower(address COLLATE "C") AND u.email_verified));
  SELECT i.user_id, i.issuer INTO identity_user_id, identity_issuer FROM public.oauth_identities i
    WHERE i.provider = attempt.provider AND i.provider_user_id = subject;
  IF NOT FOUND THEN
    SELECT u.id INTO address_user_id FROM public.users u
      WHERE lower(u.email COLLATE "C") = lower(address COLLATE "C") AND u.email_verified;
    address_user_operates := public.holds_identity(address_user_id, operators);
    address_is_current := EXISTS (
      SELECT FROM public.oauth_identities i
      WHERE i.user_id = address_user_id AND i.verified_email = lower(address COLLATE "C"));
  END IF;
  RETURN NEXT;
END
$$;

-- What admission depends on: whether an admin still invites the address, and whether `link` is the secret of the link of
-- such an invitation.
CREATE OR REPLACE FUNCTION look_up_admission(address text, link bytea)
RETURNS TABLE (invited boolean, has_link boolean)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM public.current_attempt('sign-in', 'link', 'reauthenticate');
  SELECT count(*) > 0, coalesce(bool_or(i.link_hash = sha256(link)), false) INTO invited, has_link
    FROM public.invitations i
    JOIN public.memberships m
      ON m.tenant_id = i.tenant_id AND m.user_id = i.invited_by AND m.role = public.managing_role()
    WHERE i.email = lower(address COLLATE "C") AND NOT public.is_closed(i.tenant_id)
      AND i.accepted_at IS NULL AND i.declined_at IS NULL AND i.expires_at > now();
  RETURN NEXT;
END
$$;

-- Whether the user has one of these identities, given as provider:subject.
CREATE OR REPLACE FUNCTION holds_identity(person bigint, identities text[]) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN EXISTS (
    SELECT FROM public.oauth_identities i
    WHERE i.user_id = person AND i.provider || ':' || i.provider_user_id = ANY (identities));
END
$$;

-- Signs in as the user of an identity. NULL if the identity is gone.
CREATE OR REPLACE FUNCTION enter_identity(subject text) RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  attempt record := public.current_attempt('sign-in');
  holder bigint;
BEGIN
  SELECT i.user_id INTO holder FROM public.oauth_identities i
    WHERE i.provider = attempt.provider AND i.provider_user_id = subject;
  IF FOUND THEN
    PERFORM public.set_scope('sign-in', attempt.provider || '/' || attempt.session_id, holder, NULL);
  END IF;
  RETURN holder;
END
$$;

-- Gives a new identity to the user who holds its address as verified, and signs in as them. NULL if there is none, or if
-- no identity of theirs had the address at its latest sign-in: a provider may give an address to somebody else.
CREATE OR REPLACE FUNCTION link_by_address(
  subject text, identity_issuer text, address text, operators text[]
) RETURNS bigint LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  attempt record := public.current_attempt('sign-in');
  holder bigint;
BEGIN
  SELECT u.id INTO holder FROM public.users u
    WHERE lower(u.email COLLATE "C") = lower(address COLLATE "C") AND u.email_verified
    FOR UPDATE;
  IF public.holds_identity(holder, operators) OR NOT EXISTS (
    SELECT FROM public.oauth_identities i WHERE i.user_id = holder AND i.verified_email = lower(address COLLATE "C"))
  THEN RETURN NULL; END IF;
  INSERT INTO public.oauth_identities (provider, provider_user_id, user_id, issuer)
    VALUES (attempt.provider, subject, holder, identity_issuer);
  PERFORM public.set_scope('sign-in', attempt.provider || '/' || attempt.session_id, holder, NULL);
  RETURN holder;
END
$$;

-- Creates a user with their first identity and their own tenant, of which they are admin, and signs in as them.
CREATE OR REPLACE FUNCTION create_user(
  subject text, identity_issuer text, address text, tenant_name text
) RETURNS bigint LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  attempt record := public.current_attempt('sign-in');
  tenant uuid := gen_random_uuid();
  created bigint;
BEGIN
  INSERT INTO public.tenants (id, name) VALUES (tenant, tenant_name);
  IF attempt.provider = 'isolation-test' THEN
    -- The isolation check at start rolls its users back, and must not use up ids. No provider can have this name.
    INSERT INTO public.users (id, own_tenant_id) OVERRIDING SYSTEM VALUE
      VALUES ((-1 - floor(random() * 9007199254740991))::bigint, tenant) RETURNING id INTO created;
  ELSE
    INSERT INTO public.users (email, own_tenant_id) VALUES (address, tenant) RETURNING id INTO created;
  END IF;
  INSERT INTO public.memberships (tenant_id, user_id, role) VALUES (tenant, created, public.managing_role());
  INSERT INTO public.oauth_identities (provider, provider_user_id, user_id, issuer)
    VALUES (attempt.provider, subject, created, identity_issuer);
  PERFORM public.set_scope('sign-in', attempt.provider || '/' || attempt.session_id, created, NULL);
  RETURN created;
END
$$;

-- Records that the user of a completed sign-in has proven an address. A user without a proven address now holds it,
-- unless another user does. Users who only claimed it lose the address, not the account. Returns the users whose
-- address changed, the new holder first.
CREATE OR REPLACE FUNCTION prove_address(address text) RETURNS TABLE (user_id bigint, verified boolean)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  attempt record := public.current_attempt('sign-in', 'link', 'reauthenticate');
BEGIN
  IF attempt.user_id IS NULL THEN
    RAISE EXCEPTION 'nobody has signed in' USING ERRCODE = 'insufficient_privilege';
  END IF;
  -- Most sign-ins prove nothing, and need not wait for the lock.
  IF NOT EXISTS (SELECT FROM public.users u WHERE u.id = attempt.user_id AND NOT u.email_verified)
  THEN RETURN; END IF;
  -- Two users who prove the same address at once would deadlock.
  PERFORM pg_advisory_xact_lock(hashtextextended('address ' || lower(address COLLATE "C"), 0));
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

-- Gives a new identity to the user of a link in progress.
CREATE OR REPLACE FUNCTION link_identity(subject text, identity_issuer text) RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  INSERT INTO public.oauth_identities (provider, provider_user_id, user_id, issuer)
  SELECT a.provider, subject, a.user_id, identity_issuer FROM public.current_attempt('link') a
$$;

-- Stores the address that the provider of a sign-in in progress has verified, or NULL.
CREATE OR REPLACE FUNCTION record_verified_email(subject text, address text) RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  UPDATE public.oauth_identities i SET verified_email = lower(address COLLATE "C")
  FROM public.current_attempt('sign-in', 'link', 'reauthenticate') a
  WHERE i.provider = a.provider AND i.provider_user_id = subject AND i.user_id = a.user_id
    AND i.verified_email IS DISTINCT FROM lower(address COLLATE "C")
$$;

-- Stores the name and the language of the user; a link only fills in missing ones. Reads them first, so that most
-- sign-ins write nothing.
CREATE OR REPLACE FUNCTION record_profile(told_name text, told_locale text) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  attempt record := public.current_attempt('sign-in', 'link', 'reauthenticate');
  trimmed text := nullif(left(btrim(told_name), 200), '');
  kept record;
  new_name text;
  new_locale text;
BEGIN
  SELECT u.name, u.locale INTO kept FROM public.users u WHERE u.id = attempt.user_id;
  IF attempt.purpose = 'link' THEN
    new_name := coalesce(kept.name, trimmed);
    new_locale := coalesce(kept.locale, told_locale);
  ELSE
    new_name := coalesce(trimmed, kept.name);
    new_locale := coalesce(told_locale, kept.locale);
  END IF;
  IF (new_name, new_locale) IS NOT DISTINCT FROM (kept.name, kept.locale) THEN RETURN; END IF;
  UPDATE public.users u SET name = new_name, locale = new_locale WHERE u.id = attempt.user_id;
END
$$;

-- Gives the user of a completed sign-in the role in a tenant to which ROLE_MAP maps their groups at the provider; NULL
-- takes away a role that the provider gave. A role that people gave stays. Locks the admins, so that one remains.
-- Outcome: joined, changed, removed, last-admin, no-tenant; no row if nothing changes. A user who loses their only
-- tenant gets one of their own.
CREATE OR REPLACE FUNCTION apply_role_map(target uuid, mapped_role text)
RETURNS TABLE (outcome text, invitations uuid[])
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  attempt record := public.current_attempt('sign-in');
  held record;
  own uuid := gen_random_uuid();
BEGIN
  IF attempt.user_id IS NULL THEN
    RAISE EXCEPTION 'nobody has signed in' USING ERRCODE = 'insufficient_privilege';
  END IF;
  invitations := '{}';
  -- Most sign-ins change nothing, and need no lock.
  SELECT m.role, m.role_provider INTO held FROM public.memberships m
    WHERE m.tenant_id = target AND m.user_id = attempt.user_id;
  IF FOUND AND (held.role_provider IS DISTINCT FROM attempt.provider OR held.role = mapped_role)
    OR NOT FOUND AND mapped_role IS NULL
  THEN RETURN; END IF;
  PERFORM FROM public.tenants t WHERE t.id = target AND t.closed_at IS NULL FOR KEY SHARE;
  IF NOT FOUND THEN
    outcome := 'no-tenant';
    RETURN NEXT;
    RETURN;
  END IF;
  PERFORM FROM public.memberships m
    WHERE m.tenant_id = target AND (m.role = public.managing_role() OR m.user_id = attempt.user_id)
    ORDER BY m.user_id FOR UPDATE;
  SELECT m.role, m.role_provider INTO held FROM public.memberships m
    WHERE m.tenant_id = target AND m.user_id = attempt.user_id;
  IF NOT FOUND THEN
    IF mapped_role IS NULL THEN RETURN; END IF;
    INSERT INTO public.memberships (tenant_id, user_id, role, role_provider)
      VALUES (target, attempt.user_id, mapped_role, attempt.provider)
      ON CONFLICT ON CONSTRAINT memberships_pkey DO NOTHING;
    IF NOT FOUND THEN RETURN; END IF; -- another sign-in was faster
    outcome := 'joined';
  ELSIF held.role_provider IS DISTINCT FROM attempt.provider OR held.role = mapped_role THEN
    RETURN;
  ELSIF held.role = public.managing_role() AND NOT EXISTS (
    SELECT FROM public.memberships m
    WHERE m.tenant_id = target AND m.role = public.managing_role() AND m.user_id <> attempt.user_id)
  THEN
    outcome := 'last-admin';
  ELSIF mapped_role IS NULL THEN
    IF NOT EXISTS (
      SELECT FROM public.memberships m JOIN public.tenants t ON t.id = m.tenant_id
      WHERE m.user_id = attempt.user_id AND m.tenant_id <> target AND t.closed_at IS NULL)
    THEN
      INSERT INTO public.tenants (id, name)
        SELECT own, left(coalesce(u.name, u.email, 'Personal'), 200)
        FROM public.users u WHERE u.id = attempt.user_id;
      INSERT INTO public.memberships (tenant_id, user_id, role) VALUES (own, attempt.user_id, public.managing_role());
    END IF;
    outcome := 'removed';
    SELECT r.invitations INTO invitations FROM public.remove_membership(target, attempt.user_id) r;
  ELSE
    outcome := 'changed';
    UPDATE public.memberships m SET role = mapped_role
      WHERE m.tenant_id = target AND m.user_id = attempt.user_id;
    WITH ended AS (
      DELETE FROM public.invitations i
      WHERE mapped_role <> public.managing_role() AND i.tenant_id = target AND i.invited_by = attempt.user_id
        AND i.accepted_at IS NULL AND i.expires_at > now()
      RETURNING i.id
    )
    SELECT coalesce(array_agg(e.id), '{}') INTO invitations FROM ended e;
  END IF;
  RETURN NEXT;
END
$$;

-- Starts the session of a completed sign-in and enters it: in the open tenant that was active last, else the one of the
-- latest invitation, else the user's own. Other pending sign-ins of the browser move to it, and the old session of the
-- browser is deleted.
CREATE OR REPLACE FUNCTION start_session(
  credential bytea, subject text, session_at_provider text, browser text, network text,
  absolute_seconds integer, seconds_ago double precision
) RETURNS TABLE (session_id uuid, tenant_id uuid)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
  attempt record := public.current_attempt('sign-in');
  begun uuid;
  tenant uuid;
BEGIN
  IF NOT public.holds_identity(attempt.user_id, ARRAY[attempt.provider || ':' || subject]) THEN
    -- The identity or its user may have been deleted meanwhile: the sign-in must be repeated.
    IF NOT EXISTS (SELECT FROM public.oauth_identities i
                   WHERE i.provider = attempt.provider AND i.provider_user_id = subject) THEN
      RAISE EXCEPTION 'the identity is gone' USING ERRCODE = 'foreign_key_violation';
    END IF;
    RAISE EXCEPTION 'the identity has not signed in' USING ERRCODE = 'insufficient_privilege';
  END IF;
  UPDATE public.memberships t SET last_active_at = now()
    WHERE t.user_id = attempt.user_id AND t.tenant_id = (
      SELECT m.tenant_id FROM public.memberships m JOIN public.users u ON u.id = m.user_id
      JOIN public.tenants o ON o.id = m.tenant_id
      WHERE m.user_id = attempt.user_id AND o.closed_at IS NULL
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
  -- A person has at most 100 sessions: the one that was used longest ago ends.
  DELETE FROM public.sessions s WHERE s.id IN (
    SELECT o.id FROM public.sessions o WHERE o.user_id = attempt.user_id AND o.id <> begun
    ORDER BY o.last_seen_at DESC, o.id OFFSET 99);
  UPDATE public.sign_in_attempts a SET session_id = begun
    WHERE a.session_id = attempt.session_id AND a.purpose = 'sign-in';
  DELETE FROM public.sessions s WHERE s.id = attempt.session_id;
  PERFORM public.set_scope('session', '', attempt.user_id, tenant);
  RETURN QUERY SELECT begun, tenant;
END
$$;

-- Gives the session of a completed link or re-authentication a new id. After a re-authentication its lifetime starts
-- again. Returns false if the session has ended.
CREATE OR REPLACE FUNCTION renew_session(
  credential bytea, subject text, session_at_provider text, absolute_seconds integer,
  seconds_ago double precision
) RETURNS boolean LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
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

-- Back-channel logout: returns false if the token was received before; of two at once the second waits. prune_records
-- deletes expired tokens.
CREATE OR REPLACE FUNCTION remember_logout(
  logout_provider text, jti bytea, remembered_seconds integer
) RETURNS boolean LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO public.logout_tokens AS t (provider, jti_hash, expires_at)
    VALUES (logout_provider, jti, now() + make_interval(secs => remembered_seconds))
    ON CONFLICT (provider, jti_hash) DO UPDATE SET expires_at = excluded.expires_at
      WHERE t.expires_at < now();
  RETURN FOUND;
END
$$;

-- Ends the sessions that belong to a session at the provider. If that is NULL, ends all sessions that the user of the
-- subject signed in through this provider. If no session here belongs to it, ends the sessions of that user for which
-- the provider has named no session of its own, because they may belong to it.
CREATE OR REPLACE FUNCTION end_provider_sessions(logout_provider text, session_at_provider text, subject text)
RETURNS TABLE (user_id bigint, tenant_id uuid)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
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
      AND (session_at_provider IS NULL OR s.provider_session IS NULL)
    RETURNING s.user_id, s.tenant_id;
END
$$;

-- No role may update an identity; this also stops the owner of the table and superusers (triggers.sql).
CREATE OR REPLACE FUNCTION refuse_identity_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'an identity never changes its owner' USING ERRCODE = 'restrict_violation';
END
$$;
