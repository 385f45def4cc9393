-- Invitations need consent: an admin invites an address, and a person who has proven that address
-- accepts or declines. Members can leave. Billing customers are linked by operators.
--
-- This is a breaking upgrade: stop every process of the older release first. An older program makes
-- people members without asking them.

-- The address that the provider has verified for the identity, in lower case, as of its latest
-- sign-in. NULL when there is none, or the provider is not trusted for it.
ALTER TABLE "oauth_identities" ADD COLUMN "verified_email" text
  CHECK ("verified_email" = lower("verified_email" COLLATE "C"));

-- A declined invitation stays until it expires: its tenant is not told.
ALTER TABLE "invitations" ADD COLUMN "declined_at" timestamptz(6),
  ADD COLUMN "mailed_at" timestamptz(6);

-- An invitation ends with the right of its inviter.
DELETE FROM "invitations" i WHERE i.accepted_at IS NULL AND NOT EXISTS (
  SELECT FROM "memberships" m
  WHERE m.tenant_id = i.tenant_id AND m.user_id = i.invited_by AND m.role = 'admin');

-- Lists of members are in the order in which they joined.
CREATE INDEX "memberships_tenant_id_created_at_user_id_idx"
  ON "memberships" ("tenant_id", "created_at", "user_id");
CREATE OR REPLACE VIEW "tenant_members" WITH (security_invoker = true) AS
  SELECT "tenant_id", "user_id", "role", "department", "created_at" FROM "memberships"
  WHERE "tenant_id" = (SELECT current_tenant_id());

DROP FUNCTION "accept_invitations"(text, bigint);
DROP FUNCTION "find_holder"(text);
DROP FUNCTION "is_customer_taken"(text, bigint);
DROP FUNCTION "remove_member"(bigint);

-- The person of a session, for what an API token may not do.
CREATE FUNCTION "session_user_id"() RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
DECLARE
  scope text[] := public.verified_scope();
BEGIN
  IF scope IS NULL OR scope[2] <> 'session' OR scope[4] = '' THEN
    RAISE EXCEPTION 'no person has entered with a session' USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN scope[4]::bigint;
END
$$;

-- Locks the row of the current user, whose identities are changed one after another.
CREATE FUNCTION "lock_current_user"() RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM FROM public.users u WHERE u.id = public.current_user_id() FOR UPDATE;
END
$$;

-- Keeps the address that the provider of a sign-in under way has verified, or NULL.
CREATE FUNCTION "record_verified_email"(subject text, address text) RETURNS void
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

-- The addresses that a person has proven through providers that are trusted for them.
CREATE FUNCTION "verified_emails"(person bigint) RETURNS text[]
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

-- The open invitations of the person of a session, newest first; none for an API token. A tenant is
-- shown to its members only, so its name is read in its own scope. Afterwards the scope is that of
-- the caller again.
CREATE FUNCTION "own_invitations"()
RETURNS TABLE (
  id uuid, tenant_id uuid, tenant_name text, role text, department text, inviter text,
  created_at timestamptz, expires_at timestamptz
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 5
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  entered text := current_setting('app.scope', true);
  person bigint := public.current_user_id();
  scope_text text;
BEGIN
  IF person IS NULL OR public.current_scope_kind() <> 'session' THEN RETURN; END IF;
  FOR id, tenant_id, role, department, inviter, created_at, expires_at IN
    SELECT i.id, i.tenant_id, i.role, i.department, u.email, i.created_at, i.expires_at
    FROM public.invitations i
    JOIN public.memberships m
      ON m.tenant_id = i.tenant_id AND m.user_id = i.invited_by AND m.role = 'admin'
    JOIN public.users u ON u.id = m.user_id
    WHERE i.email = ANY (public.verified_emails(person))
      AND i.accepted_at IS NULL AND i.declined_at IS NULL AND i.expires_at > now()
      AND NOT EXISTS (SELECT FROM public.memberships o
                      WHERE o.tenant_id = i.tenant_id AND o.user_id = person)
    ORDER BY i.created_at DESC, i.id DESC LIMIT 100
  LOOP
    scope_text := public.set_scope('invitation', '', NULL, tenant_id);
    SELECT t.name INTO tenant_name FROM public.tenants t WHERE t.id = own_invitations.tenant_id;
    RETURN NEXT;
  END LOOP;
  scope_text := set_config('app.scope', entered, true);
END
$$;

-- Makes the person of a session a member of the tenant that invites them; a member keeps their role.
-- NULL when the invitation is missing, for another address, or not open any more. The inviter's
-- right and the person's address are read under locks.
CREATE FUNCTION "accept_invitation"(invitation uuid) RETURNS uuid
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  person bigint := public.session_user_id();
  inviting uuid;
  inviter bigint;
  given record;
BEGIN
  SELECT i.tenant_id, i.invited_by INTO inviting, inviter FROM public.invitations i
    WHERE i.id = invitation AND i.email = ANY (public.verified_emails(person));
  PERFORM FROM public.memberships m
    WHERE m.tenant_id = inviting AND m.user_id = inviter AND m.role = 'admin'
    FOR SHARE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  PERFORM FROM public.users u WHERE u.id = person FOR SHARE;
  UPDATE public.invitations i SET accepted_at = now()
    WHERE i.tenant_id = inviting AND i.id = invitation AND i.invited_by = inviter
      AND i.email = ANY (public.verified_emails(person))
      AND i.accepted_at IS NULL AND i.declined_at IS NULL AND i.expires_at > now()
    RETURNING i.role, i.department INTO given;
  IF NOT FOUND THEN RETURN NULL; END IF;
  INSERT INTO public.memberships (tenant_id, user_id, role, department)
    VALUES (inviting, person, given.role, given.department)
    ON CONFLICT ON CONSTRAINT memberships_pkey DO NOTHING;
  RETURN inviting;
END
$$;

-- Hides an open invitation from the person of a session. False where accept_invitation returns NULL.
CREATE FUNCTION "decline_invitation"(invitation uuid) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  person bigint := public.session_user_id();
BEGIN
  UPDATE public.invitations i SET declined_at = now()
    FROM public.memberships m
    WHERE i.id = invitation AND i.email = ANY (public.verified_emails(person))
      AND i.accepted_at IS NULL AND i.declined_at IS NULL AND i.expires_at > now()
      AND m.tenant_id = i.tenant_id AND m.user_id = i.invited_by AND m.role = 'admin';
  RETURN FOUND;
END
$$;

-- Deletes a membership and the open invitations of its user. A user without another membership goes
-- too; what providers granted them is then to be revoked: `revocations` are the rows that need a job
-- each. No row when the user is no member. Removed from two tenants at once, the second finds no
-- other membership: the user's row is locked first.
CREATE FUNCTION "remove_membership"(tenant uuid, member bigint)
RETURNS TABLE (user_gone boolean, revocations uuid[], invitations uuid[])
LANGUAGE plpgsql VOLATILE ROWS 1 AS $$
BEGIN
  PERFORM FROM public.memberships m WHERE m.tenant_id = tenant AND m.user_id = member FOR UPDATE;
  IF NOT FOUND THEN RETURN; END IF;
  PERFORM FROM public.users u WHERE u.id = member FOR UPDATE;
  WITH ended AS (
    DELETE FROM public.invitations i
    WHERE i.tenant_id = tenant AND i.invited_by = member AND i.accepted_at IS NULL RETURNING i.id
  )
  SELECT coalesce(array_agg(e.id), '{}') INTO invitations FROM ended e;
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

-- Removes a member from the current tenant.
CREATE FUNCTION "remove_member"(member bigint)
RETURNS TABLE (user_gone boolean, revocations uuid[], invitations uuid[])
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  tenant uuid := public.current_tenant_id();
BEGIN
  IF tenant IS NULL OR public.current_user_id() IS NULL THEN
    RAISE EXCEPTION 'no person has entered a tenant' USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN QUERY SELECT * FROM public.remove_membership(tenant, member);
END
$$;

-- Removes the session's user from a tenant. A session in that tenant moves to the one the user was
-- active in before, under a new id, and ends where there is none. Admins are locked as for a change
-- of members, so of two who leave at once the second is the last.
-- Outcome: left, moved, ended, last-admin, no-member, session-ended.
CREATE FUNCTION "leave_tenant"(credential bytea, new_credential bytea, target uuid)
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
  PERFORM FROM public.memberships m
    WHERE m.tenant_id = target AND (m.role = 'admin' OR m.user_id = current_session.user_id)
    ORDER BY m.user_id FOR UPDATE;
  SELECT m.role INTO held_role FROM public.memberships m
    WHERE m.tenant_id = target AND m.user_id = current_session.user_id;
  PERFORM FROM public.sessions s
    WHERE s.id = current_session.id AND s.id_hash = sha256(credential) FOR UPDATE;
  outcome := CASE
    WHEN NOT FOUND THEN 'session-ended'
    WHEN held_role IS NULL THEN 'no-member'
    WHEN held_role = 'admin' AND NOT EXISTS (
      SELECT FROM public.memberships m
      WHERE m.tenant_id = target AND m.role = 'admin' AND m.user_id <> current_session.user_id)
      THEN 'last-admin'
    ELSE 'left'
  END;
  IF outcome <> 'left' THEN
    RETURN NEXT;
    RETURN;
  END IF;
  IF current_session.tenant_id = target THEN
    UPDATE public.memberships t SET last_active_at = now()
      WHERE t.user_id = current_session.user_id AND t.tenant_id = (
        SELECT m.tenant_id FROM public.memberships m
        WHERE m.user_id = current_session.user_id AND m.tenant_id <> target
        ORDER BY m.last_active_at DESC NULLS LAST, m.created_at DESC, m.tenant_id LIMIT 1)
      RETURNING t.tenant_id INTO next_tenant;
    outcome := CASE WHEN next_tenant IS NULL THEN 'ended' ELSE 'moved' END;
    UPDATE public.sessions s SET tenant_id = next_tenant, id_hash = sha256(new_credential)
      WHERE s.id = current_session.id AND next_tenant IS NOT NULL;
  END IF;
  SELECT r.user_gone, r.revocations, r.invitations INTO user_gone, revocations, invitations
    FROM public.remove_membership(target, current_session.user_id) r;
  RETURN NEXT;
END
$$;

-- Billing customers. Only the program knows who is an operator (setting OPERATORS), so these require
-- a session and leave the rest to the program.

-- Links a billing customer to the user with this id, else with this verified address; to nobody when
-- both are NULL. It is taken from the user who had it.
-- Outcome: linked, unlinked, no-user, has-another.
CREATE FUNCTION "assign_customer"(customer text, holder bigint, address text)
RETURNS TABLE (outcome text, user_id bigint, previous_user_id bigint)
LANGUAGE plpgsql VOLATILE ROWS 1 AS $$
DECLARE
  held text;
BEGIN
  PERFORM pg_advisory_xact_lock(7165230420);
  SELECT u.id, u.billing_customer INTO user_id, held FROM public.users u
    WHERE u.id = holder
      OR holder IS NULL AND u.email_verified
         AND lower(u.email COLLATE "C") = lower(address COLLATE "C")
    FOR UPDATE;
  outcome := CASE
    WHEN holder IS NULL AND address IS NULL THEN 'unlinked'
    WHEN user_id IS NULL THEN 'no-user'
    WHEN held <> customer THEN 'has-another'
    ELSE 'linked'
  END;
  IF outcome IN ('linked', 'unlinked') THEN
    UPDATE public.users u SET billing_customer = NULL
      WHERE u.billing_customer = customer AND u.id IS DISTINCT FROM assign_customer.user_id
      RETURNING u.id INTO previous_user_id;
    UPDATE public.users u SET billing_customer = customer WHERE u.id = assign_customer.user_id;
  END IF;
  RETURN NEXT;
END
$$;

-- As an operator, in the pages and the API.
CREATE FUNCTION "link_customer"(customer text, holder bigint, address text)
RETURNS TABLE (outcome text, user_id bigint, previous_user_id bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM public.session_user_id();
  RETURN QUERY SELECT * FROM public.assign_customer(customer, holder, address);
END
$$;

-- With `gatehouse billing link`, as the role of the worker.
CREATE FUNCTION "link_customer_by_command"(customer text, holder bigint, address text)
RETURNS TABLE (outcome text, user_id bigint, previous_user_id bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN QUERY SELECT * FROM public.assign_customer(customer, holder, address);
END
$$;

-- One page of the linked customers, in their order.
CREATE FUNCTION "list_customers"(customer_after text, batch integer)
RETURNS TABLE (customer text, user_id bigint, email text)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM public.session_user_id();
  RETURN QUERY
    SELECT u.billing_customer, u.id, u.email FROM public.users u
    WHERE u.billing_customer IS NOT NULL
      AND (customer_after IS NULL OR u.billing_customer > customer_after)
    ORDER BY u.billing_customer LIMIT batch;
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
