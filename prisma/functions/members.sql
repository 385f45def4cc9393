-- Members of a tenant: invitations, roles, leaving.

-- Locks the row of the current user, so that changes of their identities follow one another.
CREATE OR REPLACE FUNCTION lock_current_user() RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT FROM public.users u WHERE u.id = public.current_user_id() FOR UPDATE
$$;

-- Whether the user of the session is the oldest one: usually the person who has installed the program.
CREATE OR REPLACE FUNCTION is_first_user() RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT public.session_user_id() = (SELECT min(u.id) FROM public.users u)
$$;

-- The addresses that a user has proven through providers that are trusted for them.
CREATE OR REPLACE FUNCTION verified_emails(person bigint) RETURNS text[]
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN ARRAY(
    SELECT lower(u.email COLLATE "C") FROM public.users u
      WHERE u.id = person AND u.email_verified AND u.email IS NOT NULL
    UNION
    SELECT i.verified_email FROM public.oauth_identities i
      WHERE i.user_id = person AND i.verified_email IS NOT NULL);
END
$$;

-- The addresses whose invitations a user may answer: all that they have proven and, if `link` is the secret of the link
-- of `invitation`, the address that they signed in with.
CREATE OR REPLACE FUNCTION invited_emails(person bigint, invitation uuid, link bytea) RETURNS text[]
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN public.verified_emails(person) || ARRAY(
    SELECT i.email FROM public.invitations i
    JOIN public.users u ON i.email = lower(u.email COLLATE "C")
    WHERE u.id = person AND i.id = invitation AND i.link_hash = sha256(link));
END
$$;

-- The open invitations of the user of a session, newest first, or only the invitation `chosen`, whose link they may
-- have opened; none for an API token.
CREATE OR REPLACE FUNCTION own_invitations(chosen uuid, link bytea)
RETURNS TABLE (
  id uuid, tenant_id uuid, tenant_name text, role text, department text, inviter text,
  created_at timestamptz, expires_at timestamptz
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 5
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  person bigint := public.current_user_id();
  addresses text[];
BEGIN
  IF public.current_scope_kind() IS DISTINCT FROM 'session' THEN RETURN; END IF;
  addresses := public.invited_emails(person, chosen, link);
  RETURN QUERY
    SELECT i.id, i.tenant_id, t.name, i.role, i.department, u.email, i.created_at, i.expires_at
    FROM public.invitations i
    JOIN public.memberships m
      ON m.tenant_id = i.tenant_id AND m.user_id = i.invited_by AND m.role = public.managing_role()
    JOIN public.tenants t ON t.id = i.tenant_id AND t.closed_at IS NULL
    JOIN public.users u ON u.id = m.user_id
    WHERE i.email = ANY (addresses) AND (chosen IS NULL OR i.id = chosen)
      AND i.accepted_at IS NULL AND i.declined_at IS NULL AND i.expires_at > now()
      AND NOT EXISTS (SELECT FROM public.memberships o
                      WHERE o.tenant_id = i.tenant_id AND o.user_id = person)
    ORDER BY i.created_at DESC, i.id DESC LIMIT 100;
END
$$;

-- Makes the user of a session a member of the inviting tenant; a member keeps their role. NULL if the invitation is
-- missing, for another address, or no longer open. Locks the tenant, the membership of the inviter and the user. The
-- address gets mail again if the user has verified it: the link proves nothing, because the admin who invites sees it
-- too.
CREATE OR REPLACE FUNCTION accept_invitation(invitation uuid, link bytea) RETURNS uuid
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  person bigint := public.session_user_id();
  addresses text[] := public.invited_emails(person, invitation, link);
  inviting uuid;
  inviter bigint;
  given record;
BEGIN
  SELECT i.tenant_id, i.invited_by INTO inviting, inviter FROM public.invitations i
    WHERE i.id = invitation AND i.email = ANY (addresses);
  PERFORM FROM public.tenants t WHERE t.id = inviting AND t.closed_at IS NULL FOR KEY SHARE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  PERFORM FROM public.memberships m
    WHERE m.tenant_id = inviting AND m.user_id = inviter AND m.role = public.managing_role()
    FOR SHARE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  PERFORM FROM public.users u WHERE u.id = person FOR SHARE;
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
  INSERT INTO public.memberships (tenant_id, user_id, role, department)
    VALUES (inviting, person, given.role, given.department)
    ON CONFLICT ON CONSTRAINT memberships_pkey DO NOTHING;
  RETURN inviting;
END
$$;

-- Hides an open invitation from the user of a session. Returns false where accept_invitation returns NULL. If the user
-- has verified its address, the address gets no mail with an invitation from any tenant until its holder accepts one.
CREATE OR REPLACE FUNCTION decline_invitation(invitation uuid, link bytea) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  person bigint := public.session_user_id();
  addresses text[] := public.invited_emails(person, invitation, link);
  given record;
BEGIN
  UPDATE public.invitations i SET declined_at = now()
    FROM public.memberships m
    WHERE i.id = invitation AND i.email = ANY (addresses)
      AND i.accepted_at IS NULL AND i.declined_at IS NULL AND i.expires_at > now()
      AND m.tenant_id = i.tenant_id AND m.user_id = i.invited_by AND m.role = public.managing_role()
      AND NOT public.is_closed(i.tenant_id)
    RETURNING i.email INTO given;
  IF NOT FOUND THEN RETURN false; END IF;
  IF given.email <> ALL (public.verified_emails(person)) THEN RETURN true; END IF;
  INSERT INTO public.invitation_mails AS m (key_hash, day, count, declined_at)
    VALUES (public.mail_key('address', given.email), (now() AT TIME ZONE 'UTC')::date, 0, now())
    ON CONFLICT (key_hash) DO UPDATE SET declined_at = now();
  RETURN true;
END
$$;

-- The key of an address, a tenant or a pair of both in invitation_mails.
CREATE OR REPLACE FUNCTION mail_key(kind text, content text) RETURNS bytea LANGUAGE sql STABLE PARALLEL SAFE
RETURN sha256(convert_to('invitation mail to ' || kind || ' ' || content, 'UTF8'));

-- Whether a worker may mail an invitation of the tenant of its job. A tenant sends at most `most` mails a day, one to
-- an address. An address gets at most `most_to_address` a day from all tenants, and none after a decline. A mail that
-- is tried again on the same day counts once. The tenant does not learn of a refusal.
CREATE OR REPLACE FUNCTION claim_invitation_mail(invitation uuid, most integer, most_to_address integer) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  tenant uuid := public.current_tenant_id();
  today date := (now() AT TIME ZONE 'UTC')::date;
  address text;
  pair bytea;
  claimed uuid;
BEGIN
  SELECT i.email INTO address FROM public.invitations i WHERE i.tenant_id = tenant AND i.id = invitation;
  IF NOT FOUND OR EXISTS (SELECT FROM public.invitation_mails m
                          WHERE m.key_hash = public.mail_key('address', address) AND m.declined_at IS NOT NULL) THEN
    RETURN false;
  END IF;
  pair := public.mail_key('address of a tenant', tenant || ' ' || address);
  SELECT m.invitation_id INTO claimed FROM public.invitation_mails m WHERE m.key_hash = pair AND m.day = today;
  IF FOUND THEN RETURN claimed = invitation; END IF;
  INSERT INTO public.invitation_mails AS m (key_hash, day, count)
    VALUES (public.mail_key('tenant', tenant::text), today, 1)
    ON CONFLICT (key_hash) DO UPDATE SET day = today, count = CASE WHEN m.day < today THEN 1 ELSE m.count + 1 END
      WHERE m.day < today OR m.count < most;
  IF NOT FOUND THEN RETURN false; END IF;
  INSERT INTO public.invitation_mails AS m (key_hash, day, count)
    VALUES (public.mail_key('address', address), today, 1)
    ON CONFLICT (key_hash) DO UPDATE SET day = today, count = CASE WHEN m.day < today THEN 1 ELSE m.count + 1 END
      WHERE m.declined_at IS NULL AND (m.day < today OR m.count < most_to_address);
  IF NOT FOUND THEN RETURN false; END IF;
  INSERT INTO public.invitation_mails AS m (key_hash, day, count, invitation_id) VALUES (pair, today, 1, invitation)
    ON CONFLICT (key_hash) DO UPDATE SET day = today, invitation_id = invitation WHERE m.day < today;
  RETURN FOUND;
END
$$;

-- Locks the memberships of all admins and of one member of the current tenant, in the order of their ids.
CREATE OR REPLACE FUNCTION lock_members(tenant uuid, member bigint)
RETURNS TABLE (user_id bigint, role text, department text)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 5 SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
BEGIN
  IF tenant IS DISTINCT FROM public.current_tenant_id() OR public.current_scope_kind() IN ('service', 'app') THEN
    RETURN;
  END IF;
  RETURN QUERY
    SELECT m.user_id, m.role, m.department FROM public.memberships m
    WHERE m.tenant_id = tenant AND (m.role = public.managing_role() OR m.user_id = member)
    ORDER BY m.user_id FOR UPDATE;
END
$$;

-- Changes a member of the current tenant; no row if there is no such member. Once people have changed the role, no
-- provider decides it any more.
CREATE OR REPLACE FUNCTION change_member(
  tenant uuid, member bigint, new_role text, new_department text
) RETURNS TABLE (
  id bigint, name text, email text, role text, department text, created_at timestamptz,
  billing_customer text
) LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
BEGIN
  IF tenant IS DISTINCT FROM public.current_tenant_id() OR public.current_scope_kind() IN ('service', 'app') THEN
    RETURN;
  END IF;
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

-- Removes a member of the current tenant from a team; false if they are not in it. Locks the membership first: a write
-- that the member has begun holds it, so it is committed before.
CREATE OR REPLACE FUNCTION remove_team_member(tenant uuid, team bigint, member bigint) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF tenant IS DISTINCT FROM public.current_tenant_id() THEN RETURN false; END IF;
  PERFORM FROM public.memberships m WHERE m.tenant_id = tenant AND m.user_id = member FOR NO KEY UPDATE;
  DELETE FROM public.team_members m WHERE m.tenant_id = tenant AND m.team_id = team AND m.user_id = member;
  RETURN FOUND;
END
$$;

-- Locks what erase_person depends on, in the common order: the tenants that end with the person, as close_tenant does,
-- then per tenant the memberships of the admins and of the user. Without sequential scans, as erase_person.
CREATE OR REPLACE FUNCTION lock_memberships_of(person bigint) RETURNS void
LANGUAGE plpgsql VOLATILE SET enable_seqscan = off AS $$
BEGIN
  PERFORM FROM public.tenants t JOIN public.memberships own ON own.tenant_id = t.id
    WHERE own.user_id = person AND NOT EXISTS (
      SELECT FROM public.memberships m WHERE m.tenant_id = t.id AND m.user_id <> person)
    ORDER BY t.id FOR UPDATE OF t;
  PERFORM FROM public.memberships m
    WHERE m.tenant_id IN (SELECT own.tenant_id FROM public.memberships own WHERE own.user_id = person)
      AND (m.role = public.managing_role() OR m.user_id = person)
    ORDER BY m.tenant_id, m.user_id FOR UPDATE;
END
$$;

-- Deletes the provider grants of a user and queues their tokens for revocation, with those that were superseded or
-- failed before, on behalf of `tenant`, which may be NULL. Returns the ids of the revocations.
CREATE OR REPLACE FUNCTION retire_grants(person bigint, tenant uuid) RETURNS uuid[] LANGUAGE sql VOLATILE AS $$
  WITH gone AS (
    DELETE FROM public.provider_grants g USING public.oauth_identities i
    WHERE i.user_id = person AND g.provider = i.provider AND g.provider_user_id = i.provider_user_id
    RETURNING g.*
  ), retired AS (
    INSERT INTO public.token_revocations AS r
      (provider, provider_user_id, user_id, tenant_id, token, kind, status)
    SELECT g.provider, g.provider_user_id, person, tenant, coalesce(g.refresh_token, g.access_token),
      CASE WHEN g.refresh_token IS NULL THEN 'access_token' ELSE 'refresh_token' END, 'revoking'
    FROM gone g RETURNING r.id
  ), aside AS (
    UPDATE public.token_revocations r SET status = 'revoking', tenant_id = coalesce(tenant, r.tenant_id)
    WHERE r.user_id = person AND r.status IN ('superseded', 'failed') RETURNING r.id
  )
  SELECT coalesce(array_agg(a.id), '{}')
  FROM (SELECT r.id FROM retired r UNION ALL SELECT s.id FROM aside s) a
$$;

-- Makes the open tenant in which a user was active before `left_tenant` their active one. NULL if there is none.
CREATE OR REPLACE FUNCTION activate_other_tenant(person bigint, left_tenant uuid) RETURNS uuid
LANGUAGE sql VOLATILE AS $$
  UPDATE public.memberships t SET last_active_at = now()
  WHERE t.user_id = person AND t.tenant_id = (
    SELECT m.tenant_id FROM public.memberships m JOIN public.tenants o ON o.id = m.tenant_id
    WHERE m.user_id = person AND m.tenant_id <> left_tenant AND o.closed_at IS NULL
    ORDER BY m.last_active_at DESC NULLS LAST, m.created_at DESC, m.tenant_id LIMIT 1)
  RETURNING t.tenant_id
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
  PERFORM FROM public.memberships m WHERE m.tenant_id = tenant AND m.user_id = member FOR UPDATE;
  IF NOT FOUND THEN RETURN; END IF;
  PERFORM FROM public.users u WHERE u.id = member FOR UPDATE;
  WITH ended AS (
    DELETE FROM public.invitations i
    WHERE i.tenant_id = tenant AND i.invited_by = member AND i.accepted_at IS NULL AND i.expires_at > now()
    RETURNING i.id
  )
  SELECT coalesce(array_agg(e.id), '{}') INTO invitations FROM ended e;
  DELETE FROM public.memberships m WHERE m.tenant_id = tenant AND m.user_id = member;
  DELETE FROM public.member_usage m WHERE m.tenant_id = tenant AND m.user_id = member;
  IF NOT closed THEN INSERT INTO public.erasures (kind, tenant_id, user_id) VALUES ('member', tenant, member); END IF;
  user_gone := NOT EXISTS (SELECT FROM public.memberships m WHERE m.user_id = member);
  revocations := '{}';
  IF user_gone THEN
    revocations := public.retire_grants(member, CASE WHEN NOT closed THEN tenant END);
    DELETE FROM public.invitations i
      WHERE i.email = ANY (public.verified_emails(member)) AND i.accepted_at IS NOT NULL;
    DELETE FROM public.users u WHERE u.id = member;
  END IF;
  RETURN NEXT;
END
$$;

-- Removes a member from the current tenant.
CREATE OR REPLACE FUNCTION remove_member(member bigint)
RETURNS TABLE (user_gone boolean, revocations uuid[], invitations uuid[])
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF public.current_user_id() IS NULL THEN
    RAISE EXCEPTION 'no person has entered' USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN QUERY SELECT * FROM public.remove_membership(public.current_tenant_id(), member);
END
$$;

-- Removes the session's user from a tenant. A session in it moves to the tenant in which the user was active before,
-- under a new id, or ends. Locks the admins, so that of two who leave at once the second is refused. Outcome: left,
-- moved, ended, last-admin, no-member, session-ended.
CREATE OR REPLACE FUNCTION leave_tenant(credential bytea, new_credential bytea, target uuid)
RETURNS TABLE (outcome text, user_id bigint, user_gone boolean, revocations uuid[], invitations uuid[])
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
  current_session record;
  held_role text;
  next_tenant uuid;
BEGIN
  SELECT s.id, s.user_id, s.tenant_id INTO current_session FROM public.sessions s
    WHERE s.id_hash = sha256(credential) AND s.expires_at > now() AND s.user_id IS NOT NULL;
  user_id := current_session.user_id;
  PERFORM FROM public.memberships m
    WHERE m.tenant_id = target AND (m.role = public.managing_role() OR m.user_id = current_session.user_id)
    ORDER BY m.user_id FOR UPDATE;
  SELECT m.role INTO held_role FROM public.memberships m
    WHERE m.tenant_id = target AND m.user_id = current_session.user_id AND NOT public.is_closed(target);
  PERFORM FROM public.sessions s WHERE s.id = current_session.id AND s.id_hash = sha256(credential) FOR UPDATE;
  outcome := CASE
    WHEN NOT FOUND THEN 'session-ended'
    WHEN held_role IS NULL THEN 'no-member'
    WHEN held_role = public.managing_role() AND NOT EXISTS (
      SELECT FROM public.memberships m
      WHERE m.tenant_id = target AND m.role = public.managing_role() AND m.user_id <> current_session.user_id)
      THEN 'last-admin'
    ELSE 'left'
  END;
  IF outcome <> 'left' THEN RETURN NEXT; RETURN; END IF;
  IF current_session.tenant_id = target THEN
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
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  person bigint := public.current_user_id();
  tenant uuid := gen_random_uuid();
BEGIN
  IF person IS NULL OR public.current_scope_kind() <> 'session' THEN
    RAISE EXCEPTION 'only a person in a session creates a tenant' USING ERRCODE = 'insufficient_privilege';
  END IF;
  PERFORM FROM public.users u WHERE u.id = person FOR NO KEY UPDATE; -- otherwise two calls do not count each other's tenant
  IF (SELECT count(*) FROM public.memberships m JOIN public.tenants t ON t.id = m.tenant_id
      WHERE m.user_id = person AND t.closed_at IS NULL) >= most THEN RETURN NULL; END IF;
  INSERT INTO public.tenants (id, name) VALUES (tenant, tenant_name);
  INSERT INTO public.memberships (tenant_id, user_id, role) VALUES (tenant, person, public.managing_role());
  RETURN tenant;
END
$$;

-- The name of an open tenant.
CREATE OR REPLACE FUNCTION tenant_name(tenant uuid) RETURNS text LANGUAGE sql STABLE
RETURN (SELECT t.name FROM public.tenants t WHERE t.id = tenant AND t.closed_at IS NULL);

-- Whether a tenant has been closed (close_tenant) and is not purged yet.
CREATE OR REPLACE FUNCTION is_closed(tenant uuid) RETURNS boolean LANGUAGE sql STABLE
RETURN EXISTS (SELECT FROM public.tenants t WHERE t.id = tenant AND t.closed_at IS NOT NULL);
