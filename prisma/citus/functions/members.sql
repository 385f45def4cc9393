-- Members of a tenant: invitations, roles, leaving.

-- Locks the row of the current user, so that changes of their identities follow one another.
CREATE OR REPLACE FUNCTION lock_current_user() RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM FROM public.{users} u WHERE u.id = public.current_user_id() FOR UPDATE;
END
$$;

-- Whether the user of the session is the oldest one: usually the person who has installed the program.
CREATE OR REPLACE FUNCTION is_first_user() RETURNS boolean
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  person bigint := public.session_user_id();
BEGIN
  RETURN NOT EXISTS (SELECT FROM public.users u WHERE u.id < person);
END
$$;

-- Makes the user of a session a member of the inviting tenant; a member keeps their role. NULL if the invitation is
-- missing, for another address, or no longer open. Locks the tenant, the membership of the inviter and the user. The
-- address gets mail again if the user has verified it: the link proves nothing, because the admin who invites sees it
-- too.
CREATE OR REPLACE FUNCTION accept_invitation(invitation uuid, link bytea) RETURNS uuid
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  person bigint := public.session_user_id();
  addresses text[] := public.invited_emails(person, invitation, link);
  inviting uuid;
  inviter bigint;
  given record;
BEGIN
  SELECT i.tenant_id, i.invited_by INTO inviting, inviter FROM public.invitations i
    WHERE i.id = invitation AND i.email = ANY (addresses);
  PERFORM FROM public.{tenants} t WHERE t.id = inviting AND t.closed_at IS NULL FOR KEY SHARE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  PERFORM FROM public.{memberships} m
    WHERE m.tenant_id = inviting AND m.user_id = inviter AND m.role = public.managing_role()
    FOR SHARE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  PERFORM FROM public.{users} u WHERE u.id = person FOR SHARE;
  addresses := public.invited_emails(person, invitation, link);
  UPDATE public.invitations i SET accepted_at = now()
    WHERE i.tenant_id = inviting AND i.id = invitation AND i.invited_by = inviter
      AND i.email = ANY (addresses)
      AND i.accepted_at IS NULL AND i.declined_at IS NULL AND i.expires_at > now()
    RETURNING i.role, i.department, i.email INTO given;
  IF NOT FOUND THEN RETURN NULL; END IF;
  UPDATE public.invitation_mails m SET declined_at = NULL
    WHERE m.key_hash = public.mail_key('address', given.email)
      AND given.email = ANY (public.verified_emails(person));
  PERFORM pg_advisory_xact_lock(7165230421);
  INSERT INTO public.memberships (tenant_id, user_id, role, department)
    VALUES (inviting, person, given.role, given.department)
    ON CONFLICT ON CONSTRAINT memberships_pkey DO NOTHING;
  RETURN inviting;
END
$$;

-- Hides an open invitation from the user of a session. Returns false where accept_invitation returns NULL. If the user
-- has verified its address, the address gets no mail with an invitation from any tenant until its holder accepts one.
CREATE OR REPLACE FUNCTION decline_invitation(invitation uuid, link bytea) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  person bigint := public.session_user_id();
  addresses text[] := public.invited_emails(person, invitation, link);
  given record;
BEGIN
  UPDATE public.invitations i SET declined_at = now()
    FROM public.{memberships} m JOIN public.{tenants} t ON t.id = m.tenant_id
    WHERE i.id = invitation AND i.email = ANY (addresses)
      AND i.accepted_at IS NULL AND i.declined_at IS NULL AND i.expires_at > now()
      AND m.tenant_id = i.tenant_id AND m.user_id = i.invited_by AND m.role = public.managing_role()
      AND t.closed_at IS NULL
    RETURNING i.email INTO given;
  IF NOT FOUND THEN RETURN false; END IF;
  IF given.email <> ALL (public.verified_emails(person)) THEN RETURN true; END IF;
  INSERT INTO public.invitation_mails AS m (key_hash, day, count, declined_at)
    VALUES (public.mail_key('address', given.email), (now() AT TIME ZONE 'UTC')::date, 0, now())
    ON CONFLICT (key_hash) DO UPDATE SET declined_at = now();
  RETURN true;
END
$$;

-- Changes a member of the current tenant; no row if there is no such member. Once people have changed the role, no
-- provider decides it any more.
CREATE OR REPLACE FUNCTION change_member(
  tenant uuid, member bigint, new_role text, new_department text
) RETURNS TABLE (
  id bigint, name text, email text, role text, department text, created_at timestamptz,
  billing_customer text
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
BEGIN
  IF tenant IS DISTINCT FROM public.current_tenant_id() OR public.current_scope_kind() IN ('service', 'app') THEN
    RETURN;
  END IF;
  PERFORM pg_advisory_xact_lock(7165230421);
  UPDATE public.memberships m SET role = new_role, department = new_department,
      role_provider = CASE WHEN m.role = new_role THEN m.role_provider END
    WHERE m.tenant_id = tenant AND m.user_id = member;
  RETURN QUERY
    SELECT m.user_id, u.name, u.email, m.role, m.department, m.created_at::timestamptz,
      CASE WHEN u.own_tenant_id = m.tenant_id THEN u.billing_customer END
    FROM public.memberships m JOIN public.users u ON u.id = m.user_id
    WHERE m.tenant_id = tenant AND m.user_id = member;
END
$$;

-- Removes a membership, and the user if it was their last one. Sessions and tokens go by foreign keys; open invitations
-- by the member are deleted, and with the user those that they have accepted. Takes constant time: a worker clears the
-- author of what the member has written and deletes the results of their requests. Locks the membership first: a write
-- that the member has begun holds it, so it is committed before. Returns the provider tokens to revoke.
CREATE OR REPLACE FUNCTION remove_membership(tenant uuid, member bigint)
RETURNS TABLE (user_gone boolean, revocations uuid[], invitations uuid[])
LANGUAGE plpgsql VOLATILE ROWS 1 AS $$
DECLARE
  closed boolean := public.is_closed(tenant);
BEGIN
  PERFORM FROM public.{memberships} m WHERE m.tenant_id = tenant AND m.user_id = member FOR UPDATE;
  IF NOT FOUND THEN RETURN; END IF;
  PERFORM FROM public.{users} u WHERE u.id = member FOR UPDATE;
  WITH ended AS (
    DELETE FROM public.invitations i
    WHERE i.tenant_id = tenant AND i.invited_by = member AND i.accepted_at IS NULL AND i.expires_at > now()
    RETURNING i.id
  )
  SELECT coalesce(array_agg(e.id), '{}') INTO invitations FROM ended e;
  PERFORM pg_advisory_xact_lock(7165230421);
  DELETE FROM public.memberships m WHERE m.tenant_id = tenant AND m.user_id = member;
  DELETE FROM public.member_usage m WHERE m.tenant_id = tenant AND m.user_id = member;
  IF NOT closed THEN INSERT INTO public.erasures (kind, tenant_id, user_id) VALUES ('member', tenant, member); END IF;
  user_gone := NOT EXISTS (SELECT FROM public.memberships m WHERE m.user_id = member);
  revocations := '{}';
  IF user_gone THEN
    revocations := public.retire_grants(member, CASE WHEN NOT closed THEN tenant END);
    DELETE FROM public.invitations i
      WHERE i.email = ANY (public.verified_emails(member)) AND i.accepted_at IS NOT NULL;
    PERFORM public.note_erased_user(member);
    DELETE FROM public.users u WHERE u.id = member;
  END IF;
  RETURN NEXT;
END
$$;

-- Removes the session's user from a tenant. A session in it moves to the tenant in which the user was active before,
-- under a new id, or ends. Locks the admins, so that of two who leave at once the second is refused. Outcome: left,
-- moved, ended, last-admin, no-member, session-ended.
CREATE OR REPLACE FUNCTION leave_tenant(credential bytea, new_credential bytea, target uuid)
RETURNS TABLE (
  outcome text, user_id bigint, user_gone boolean, revocations uuid[], invitations uuid[]
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
  current_session record;
  held_role text;
  next_tenant uuid;
BEGIN
  SELECT s.id, s.user_id, s.tenant_id INTO current_session FROM public.sessions s
    WHERE s.id_hash = sha256(credential) AND s.expires_at > now() AND s.user_id IS NOT NULL;
  user_id := current_session.user_id;
  PERFORM FROM public.{memberships} m
    WHERE m.tenant_id = target AND (m.role = public.managing_role() OR m.user_id = current_session.user_id)
    ORDER BY m.user_id FOR UPDATE;
  SELECT m.role INTO held_role FROM public.memberships m
    WHERE m.tenant_id = target AND m.user_id = current_session.user_id AND NOT public.is_closed(target);
  PERFORM FROM public.sessions s
    WHERE s.id = current_session.id AND s.id_hash = sha256(credential) FOR UPDATE;
  outcome := CASE
    WHEN NOT FOUND THEN 'session-ended'
    WHEN held_role IS NULL THEN 'no-member'
    WHEN held_role = public.managing_role() AND NOT EXISTS (
      SELECT FROM public.memberships m
      WHERE m.tenant_id = target AND m.role = public.managing_role() AND m.user_id <> current_session.user_id)
      THEN 'last-admin'
    ELSE 'left'
  END;
  IF outcome <> 'left' THEN
    RETURN NEXT;
    RETURN;
  END IF;
  IF current_session.tenant_id = target THEN
  PERFORM pg_advisory_xact_lock(7165230421);
    next_tenant := public.activate_other_tenant(current_session.user_id, target);
    outcome := CASE WHEN next_tenant IS NULL THEN 'ended' ELSE 'moved' END;
    UPDATE public.sessions s SET tenant_id = next_tenant, id_hash = sha256(new_credential)
      WHERE s.id = current_session.id AND next_tenant IS NOT NULL;
  END IF;
  SELECT r.user_gone, r.revocations, r.invitations INTO user_gone, revocations, invitations
    FROM public.remove_membership(target, current_session.user_id) r;
  RETURN NEXT;
END
$$;

-- Creates a tenant of which the current user is the admin. NULL if they are a member of `most` tenants already.
CREATE OR REPLACE FUNCTION create_tenant(tenant_name text, most integer) RETURNS uuid
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  person bigint := public.current_user_id();
  tenant uuid := gen_random_uuid();
BEGIN
  IF person IS NULL OR public.current_scope_kind() <> 'session' THEN
    RAISE EXCEPTION 'only a person in a session creates a tenant' USING ERRCODE = 'insufficient_privilege';
  END IF;
  PERFORM FROM public.{users} u WHERE u.id = person FOR NO KEY UPDATE; -- otherwise two calls do not count each other's tenant
  IF (SELECT count(*) FROM public.memberships m JOIN public.tenants t ON t.id = m.tenant_id
      WHERE m.user_id = person AND t.closed_at IS NULL) >= most THEN RETURN NULL; END IF;
  PERFORM pg_advisory_xact_lock(7165230421);
  INSERT INTO public.tenants (id, name) VALUES (tenant, tenant_name);
  INSERT INTO public.tenant_usage (tenant_id) VALUES (tenant) ON CONFLICT DO NOTHING;
  PERFORM pg_advisory_xact_lock(7165230421);
  INSERT INTO public.memberships (tenant_id, user_id, role) VALUES (tenant, person, public.managing_role());
  RETURN tenant;
END
$$;

-- The name of an open tenant.
CREATE OR REPLACE FUNCTION tenant_name(tenant uuid) RETURNS text
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT t.name FROM public.{tenants} t WHERE t.id = tenant AND t.closed_at IS NULL);
END
$$;

-- Whether a tenant has been closed (close_tenant) and is not purged yet.
CREATE OR REPLACE FUNCTION is_closed(tenant uuid) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN EXISTS (SELECT FROM public.{tenants} t WHERE t.id = tenant AND t.closed_at IS NOT NULL);
END
$$;
