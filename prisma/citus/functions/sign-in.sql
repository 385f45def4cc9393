-- Signing in: attempts, identities, addresses and the start of a session. Before there is a session, the scope is that
-- of the attempt.

-- Creates a user with their first identity and their own tenant, of which they are admin, and signs in as them.
CREATE OR REPLACE FUNCTION create_user(
  subject text, identity_issuer text, address text, tenant_name text
) RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  attempt record := public.current_attempt('sign-in');
  tenant uuid := gen_random_uuid();
  created bigint;
BEGIN
  PERFORM pg_advisory_xact_lock(7165230421);
  INSERT INTO public.tenants (id, name) VALUES (tenant, tenant_name);
  INSERT INTO public.tenant_usage (tenant_id) VALUES (tenant) ON CONFLICT DO NOTHING;
  PERFORM pg_advisory_xact_lock(7165230421);
  INSERT INTO public.users (email, own_tenant_id) VALUES (address, tenant) RETURNING id INTO created;
  PERFORM pg_advisory_xact_lock(7165230421);
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
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  attempt record := public.current_attempt('sign-in', 'link', 'reauthenticate');
BEGIN
  IF attempt.user_id IS NULL THEN
    RAISE EXCEPTION 'nobody has signed in' USING ERRCODE = 'insufficient_privilege';
  END IF;
  -- Most sign-ins prove nothing, and need not wait for the lock.
  IF NOT EXISTS (SELECT FROM public.users u WHERE u.id = attempt.user_id AND NOT u.email_verified)
  THEN RETURN; END IF;
  PERFORM pg_advisory_xact_lock(7165230421);
  UPDATE public.users u SET email = address, email_verified = true
    WHERE u.id = attempt.user_id AND NOT u.email_verified AND NOT EXISTS (
      SELECT FROM public.users o
      WHERE lower(o.email COLLATE "C") = lower(address COLLATE "C") AND o.email_verified);
  IF NOT FOUND THEN RETURN; END IF;
  user_id := attempt.user_id;
  verified := true;
  RETURN NEXT;
  PERFORM pg_advisory_xact_lock(7165230421);
  RETURN QUERY
    UPDATE public.users u SET email = NULL
    WHERE lower(u.email COLLATE "C") = lower(address COLLATE "C") AND NOT u.email_verified
    RETURNING u.id, false;
END
$$;

-- Gives a new identity to the user of a link in progress.
CREATE OR REPLACE FUNCTION link_identity(subject text, identity_issuer text) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  attempt record := public.current_attempt('link');
BEGIN
  INSERT INTO public.oauth_identities (provider, provider_user_id, user_id, issuer)
    VALUES (attempt.provider, subject, attempt.user_id, identity_issuer);
END
$$;

-- Stores the address that the provider of a sign-in in progress has verified, or NULL.
CREATE OR REPLACE FUNCTION record_verified_email(subject text, address text) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  attempt record := public.current_attempt('sign-in', 'link', 'reauthenticate');
  proven text := lower(address COLLATE "C");
BEGIN
  UPDATE public.oauth_identities i SET verified_email = proven
    WHERE i.provider = attempt.provider AND i.provider_user_id = subject
      AND i.user_id = attempt.user_id AND i.verified_email IS DISTINCT FROM proven;
END
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
  PERFORM pg_advisory_xact_lock(7165230421);
  UPDATE public.users u SET name = new_name, locale = new_locale WHERE u.id = attempt.user_id;
END
$$;

-- Gives the user of a completed sign-in the role in a tenant to which ROLE_MAP maps their groups at the provider; NULL
-- takes away a role that the provider gave. A role that people gave stays. Locks the admins, so that one remains.
-- Outcome: joined, changed, removed, last-admin, no-tenant; no row if nothing changes. A user who loses their only
-- tenant gets one of their own.
CREATE OR REPLACE FUNCTION apply_role_map(target uuid, mapped_role text)
RETURNS TABLE (outcome text, invitations uuid[])
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp AS $$
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
  PERFORM FROM public.{tenants} t WHERE t.id = target AND t.closed_at IS NULL FOR KEY SHARE;
  IF NOT FOUND THEN
    outcome := 'no-tenant';
    RETURN NEXT;
    RETURN;
  END IF;
  PERFORM FROM public.{memberships} m
    WHERE m.tenant_id = target AND (m.role = public.managing_role() OR m.user_id = attempt.user_id)
    ORDER BY m.user_id FOR UPDATE;
  SELECT m.role, m.role_provider INTO held FROM public.memberships m
    WHERE m.tenant_id = target AND m.user_id = attempt.user_id;
  IF NOT FOUND THEN
    IF mapped_role IS NULL THEN RETURN; END IF;
    PERFORM pg_advisory_xact_lock(7165230421);
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
      PERFORM pg_advisory_xact_lock(7165230421);
      INSERT INTO public.tenants (id, name)
        SELECT own, left(coalesce(u.name, u.email, 'Personal'), 200)
        FROM public.users u WHERE u.id = attempt.user_id;
      INSERT INTO public.tenant_usage (tenant_id) VALUES (own) ON CONFLICT DO NOTHING;
      PERFORM pg_advisory_xact_lock(7165230421);
      INSERT INTO public.memberships (tenant_id, user_id, role) VALUES (own, attempt.user_id, public.managing_role());
    END IF;
    outcome := 'removed';
    SELECT r.invitations INTO invitations FROM public.remove_membership(target, attempt.user_id) r;
  ELSE
    outcome := 'changed';
    PERFORM pg_advisory_xact_lock(7165230421);
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
)
RETURNS TABLE (session_id uuid, tenant_id uuid)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp AS $$
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
  PERFORM pg_advisory_xact_lock(7165230421);
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
