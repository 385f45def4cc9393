-- A credential opens a transaction: a session, an API, service or app token, a portal session, or a job of the worker. The program
-- sends the SHA-256 of a credential and the tables store the hash of that, so neither a row nor a logged statement
-- contains a usable one.

-- A plan until its end. The plan of a person is that of their tenant, or else their own.
CREATE OR REPLACE FUNCTION valid_plan(plan text, cancels_at timestamptz) RETURNS text LANGUAGE sql STABLE
RETURN CASE WHEN cancels_at <= now() THEN NULL ELSE plan END;

-- Enters as the user of a live session. `credential` is the SHA-256 of the id in the cookie. Returns no row and
-- sets no scope if the session is missing, expired or idle. During a sign-in the session has no user: it returns
-- a row and sets no scope. `subject` is the identity that signed in; `stale` means touch_session is due.
--
-- With for_write it locks, until the transaction ends, the tenant FOR KEY SHARE against its end (close_tenant), the
-- membership FOR SHARE against changes of role and department, then the session FOR KEY SHARE against its deletion and
-- a new id. A change locks in this order: tenants, memberships, users, sessions and tokens; an app token or a
-- link of the portal comes before its tenant, which nothing locks the other way round. An expired credential is not
-- locked, so that its deletion need not wait (expire_credentials).
CREATE OR REPLACE FUNCTION enter_session(credential bytea, idle_seconds integer, for_write boolean)
RETURNS TABLE (
  session_id uuid, user_id bigint, email text, plan text, created_at timestamptz,
  tenant_id uuid, role text, department text, authenticated_seconds_ago double precision,
  stale boolean, provider text, subject text
) LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  hash bytea := sha256(credential);
  seen_after timestamptz := now() - make_interval(secs => idle_seconds);
  scope_text text;
BEGIN
  IF for_write THEN
    PERFORM FROM public.memberships m JOIN public.sessions s
      ON m.tenant_id = s.tenant_id AND m.user_id = s.user_id
      JOIN public.tenants t ON t.id = m.tenant_id
      WHERE s.id_hash = hash AND s.expires_at > now() AND s.last_seen_at > seen_after
      FOR KEY SHARE OF t FOR SHARE OF m;
    PERFORM FROM public.sessions s WHERE s.id_hash = hash AND s.expires_at > now() FOR KEY SHARE;
  END IF;
  SELECT s.id, s.user_id, u.email,
         coalesce(public.valid_plan(t.plan, t.subscription_cancels_at),
                  public.valid_plan(u.plan, u.subscription_cancels_at)),
         u.created_at, s.tenant_id, m.role, m.department,
         floor(extract(epoch FROM now() - greatest(s.authenticated_at, s.confirmed_at)))::float8,
         s.last_seen_at < now() - interval '60 seconds', s.provider, s.provider_user_id
    INTO session_id, user_id, email, plan, created_at, tenant_id, role, department,
         authenticated_seconds_ago, stale, provider, subject
    FROM public.sessions s
    LEFT JOIN public.users u ON u.id = s.user_id
    LEFT JOIN public.memberships m ON m.tenant_id = s.tenant_id AND m.user_id = s.user_id
    LEFT JOIN public.tenants t ON t.id = s.tenant_id
    WHERE s.id_hash = hash AND s.expires_at > now() AND s.last_seen_at > seen_after AND t.closed_at IS NULL;
  IF session_id IS NULL OR user_id IS NULL THEN
    scope_text := public.clear_scope();
    IF session_id IS NULL THEN RETURN; END IF;
  ELSE
    scope_text := public.set_scope('session', '', user_id, tenant_id);
  END IF;
  RETURN NEXT;
END
$$;

-- Enters for a write as enter_session does, with the same locks, if the facts that the program decided on are still
-- true. They are what an earlier transaction of the session returned. If they have changed, raises GH001 before the
-- packet has written anything. Compares all facts that can change except authenticated_seconds_ago, which no such
-- decision uses. Returns `stale`.
CREATE OR REPLACE FUNCTION enter_session_as(
  credential bytea, idle_seconds integer, session_id uuid, user_id bigint, email text, plan text, tenant_id uuid,
  role text, department text, provider text, subject text
) RETURNS boolean LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_variable
DECLARE
  is_stale boolean;
  plan_of_tenant text;
  scope_text text;
BEGIN
  SELECT public.valid_plan(t.plan, t.subscription_cancels_at) INTO plan_of_tenant
    FROM public.memberships m JOIN public.tenants t ON t.id = m.tenant_id
    WHERE m.tenant_id = tenant_id AND m.user_id = user_id
      AND m.role = role AND m.department IS NOT DISTINCT FROM department AND t.closed_at IS NULL
    FOR KEY SHARE OF t FOR SHARE OF m;
  IF FOUND THEN
    SELECT s.last_seen_at < now() - interval '60 seconds' INTO is_stale
      FROM public.sessions s JOIN public.users u ON u.id = s.user_id
      WHERE s.id_hash = sha256(credential) AND s.expires_at > now()
        AND s.last_seen_at > now() - make_interval(secs => idle_seconds)
        AND s.id = session_id AND s.user_id = user_id
        AND s.tenant_id = tenant_id
        AND s.provider IS NOT DISTINCT FROM provider
        AND s.provider_user_id IS NOT DISTINCT FROM subject
        AND u.email IS NOT DISTINCT FROM email
        AND coalesce(plan_of_tenant, public.valid_plan(u.plan, u.subscription_cancels_at))
          IS NOT DISTINCT FROM plan
      FOR KEY SHARE OF s;
  END IF;
  IF is_stale IS NULL THEN
    RAISE EXCEPTION 'the facts about the credential have changed' USING ERRCODE = 'GH001';
  END IF;
  scope_text := public.set_scope('session', '', user_id, tenant_id);
  RETURN is_stale;
END
$$;

-- Enters as the user of a live API token, in the tenant of the token. `credential` is the SHA-256 of the token. A
-- former member has no token in the tenant. `permissions` is NULL for a token without limits. Locks as enter_session.
CREATE OR REPLACE FUNCTION enter_token(credential bytea, for_write boolean) RETURNS TABLE (
  token_id uuid, permissions text[], user_id bigint, email text, plan text,
  created_at timestamptz, tenant_id uuid, role text, department text, stale boolean
) LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  digest bytea := sha256(credential);
  scope_text text;
BEGIN
  IF for_write THEN
    PERFORM FROM public.memberships m JOIN public.api_tokens t
      ON m.tenant_id = t.tenant_id AND m.user_id = t.user_id
      JOIN public.tenants o ON o.id = m.tenant_id
      WHERE t.hash = digest AND t.expires_at > now()
      FOR KEY SHARE OF o FOR SHARE OF m;
    PERFORM FROM public.api_tokens t WHERE t.hash = digest AND t.expires_at > now() FOR KEY SHARE;
  END IF;
  SELECT t.id, CASE WHEN NOT t.all_permissions THEN t.permissions END, t.user_id, u.email,
         coalesce(public.valid_plan(o.plan, o.subscription_cancels_at),
                  public.valid_plan(u.plan, u.subscription_cancels_at)), u.created_at, t.tenant_id, m.role,
         m.department, coalesce(t.last_used_at < now() - interval '60 seconds', true)
    INTO token_id, permissions, user_id, email, plan, created_at, tenant_id, role, department, stale
    FROM public.api_tokens t
    JOIN public.users u ON u.id = t.user_id
    JOIN public.memberships m ON m.tenant_id = t.tenant_id AND m.user_id = t.user_id
    JOIN public.tenants o ON o.id = t.tenant_id
    WHERE t.hash = digest AND t.expires_at > now() AND o.closed_at IS NULL;
  IF token_id IS NULL THEN scope_text := public.clear_scope(); RETURN; END IF;
  scope_text := public.set_scope('token', '', user_id, tenant_id);
  RETURN NEXT;
END
$$;

-- As enter_session_as, for enter_token.
CREATE OR REPLACE FUNCTION enter_token_as(
  credential bytea, token_id uuid, permissions text[], user_id bigint, email text, plan text, tenant_id uuid,
  role text, department text
) RETURNS boolean LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_variable
DECLARE
  is_stale boolean;
  plan_of_tenant text;
  scope_text text;
BEGIN
  SELECT public.valid_plan(t.plan, t.subscription_cancels_at) INTO plan_of_tenant
    FROM public.memberships m JOIN public.tenants t ON t.id = m.tenant_id
    WHERE m.tenant_id = tenant_id AND m.user_id = user_id
      AND m.role = role AND m.department IS NOT DISTINCT FROM department AND t.closed_at IS NULL
    FOR KEY SHARE OF t FOR SHARE OF m;
  IF FOUND THEN
    SELECT coalesce(t.last_used_at < now() - interval '60 seconds', true) INTO is_stale
      FROM public.api_tokens t JOIN public.users u ON u.id = t.user_id
      WHERE t.hash = sha256(credential) AND t.expires_at > now()
        AND t.id = token_id AND t.user_id = user_id
        AND t.tenant_id = tenant_id
        AND CASE WHEN NOT t.all_permissions THEN t.permissions END
          IS NOT DISTINCT FROM permissions
        AND u.email IS NOT DISTINCT FROM email
        AND coalesce(plan_of_tenant, public.valid_plan(u.plan, u.subscription_cancels_at))
          IS NOT DISTINCT FROM plan
      FOR KEY SHARE OF t;
  END IF;
  IF is_stale IS NULL THEN
    RAISE EXCEPTION 'the facts about the credential have changed' USING ERRCODE = 'GH001';
  END IF;
  scope_text := public.set_scope('token', '', user_id, tenant_id);
  RETURN is_stale;
END
$$;

-- Enters as a service. With for_write it locks the tenant against its end (close_tenant), then the token.
CREATE OR REPLACE FUNCTION enter_service(credential bytea, for_write boolean) RETURNS TABLE (
  service_id uuid, name text, permissions text[], created_at timestamptz, tenant_id uuid,
  stale boolean
) LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  digest bytea := sha256(credential);
  scope_text text;
BEGIN
  IF for_write THEN
    PERFORM FROM public.tenants t
      WHERE t.id = (SELECT s.tenant_id FROM public.service_tokens s WHERE s.hash = digest) FOR KEY SHARE;
    PERFORM FROM public.service_tokens s WHERE s.hash = digest AND s.expires_at > now() FOR KEY SHARE;
  END IF;
  SELECT s.id, s.name, s.permissions, s.created_at, s.tenant_id,
         coalesce(s.last_used_at < now() - interval '60 seconds', true)
    INTO service_id, name, permissions, created_at, tenant_id, stale
    FROM public.service_tokens s JOIN public.tenants t ON t.id = s.tenant_id
    WHERE s.hash = digest AND s.expires_at > now() AND t.closed_at IS NULL;
  IF service_id IS NULL THEN scope_text := public.clear_scope(); RETURN; END IF;
  scope_text := public.set_scope('service', service_id::text, NULL, tenant_id);
  RETURN NEXT;
END
$$;

-- As enter_session_as, for enter_service.
CREATE OR REPLACE FUNCTION enter_service_as(
  credential bytea, service_id uuid, name text, permissions text[], tenant_id uuid
) RETURNS boolean LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_variable
DECLARE
  is_stale boolean;
  scope_text text;
BEGIN
  PERFORM FROM public.tenants t WHERE t.id = tenant_id AND t.closed_at IS NULL FOR KEY SHARE;
  IF FOUND THEN
    SELECT coalesce(s.last_used_at < now() - interval '60 seconds', true) INTO is_stale
      FROM public.service_tokens s
      WHERE s.hash = sha256(credential) AND s.expires_at > now()
        AND s.tenant_id = tenant_id AND s.id = service_id
        AND s.name = name AND s.permissions = permissions
      FOR KEY SHARE;
  END IF;
  IF is_stale IS NULL THEN
    RAISE EXCEPTION 'the facts about the credential have changed' USING ERRCODE = 'GH001';
  END IF;
  scope_text := public.set_scope('service', service_id::text, NULL, tenant_id);
  RETURN is_stale;
END
$$;

-- Enters the tenant that the app names. If the token is not live it returns no row; if there is no such tenant, or
-- it was closed, the scope stays empty and tenant_id is NULL. Locks the token, then the tenant.
CREATE OR REPLACE FUNCTION enter_app_token(credential bytea, tenant uuid, for_write boolean) RETURNS TABLE (
  app_token_id uuid, name text, permissions text[], created_at timestamptz, tenant_id uuid,
  stale boolean
) LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  digest bytea := sha256(credential);
  scope_text text;
BEGIN
  IF for_write THEN
    PERFORM FROM public.app_tokens a WHERE a.hash = digest AND a.expires_at > now() FOR KEY SHARE;
  END IF;
  SELECT a.id, a.name, a.permissions, a.created_at, coalesce(a.last_used_at < now() - interval '60 seconds', true)
    INTO app_token_id, name, permissions, created_at, stale
    FROM public.app_tokens a WHERE a.hash = digest AND a.expires_at > now();
  IF app_token_id IS NULL THEN
    scope_text := public.clear_scope();
    RETURN;
  END IF;
  IF for_write THEN
    PERFORM FROM public.tenants t WHERE t.id = tenant FOR KEY SHARE;
  END IF;
  SELECT t.id INTO tenant_id FROM public.tenants t WHERE t.id = tenant AND t.closed_at IS NULL;
  IF tenant_id IS NULL THEN
    scope_text := public.clear_scope();
  ELSE
    scope_text := public.set_scope('app', app_token_id::text, NULL, tenant_id);
  END IF;
  RETURN NEXT;
END
$$;

-- Returns a row if a link of the app can be opened, without opening it. Sets no scope.
CREATE OR REPLACE FUNCTION find_portal_link(link bytea) RETURNS TABLE (expires_at timestamptz)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM public.clear_scope();
  RETURN QUERY SELECT p.expires_at FROM public.portal_sessions p
    WHERE p.hash = sha256(link) AND p.opened_at IS NULL AND p.expires_at > now();
END
$$;

-- As enter_session_as, for enter_app_token. The request names the tenant, so no earlier transaction has returned it: a
-- missing or closed tenant raises GH001 too.
CREATE OR REPLACE FUNCTION enter_app_token_as(
  credential bytea, app_token_id uuid, name text, permissions text[], tenant_id uuid
) RETURNS boolean LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_variable
DECLARE
  is_stale boolean;
  scope_text text;
BEGIN
  SELECT coalesce(a.last_used_at < now() - interval '60 seconds', true) INTO is_stale
    FROM public.app_tokens a
    WHERE a.hash = sha256(credential) AND a.expires_at > now()
      AND a.id = app_token_id AND a.name = name AND a.permissions = permissions
    FOR KEY SHARE;
  IF FOUND THEN
    PERFORM FROM public.tenants t WHERE t.id = tenant_id AND t.closed_at IS NULL FOR KEY SHARE;
  END IF;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'the facts about the credential have changed' USING ERRCODE = 'GH001';
  END IF;
  scope_text := public.set_scope('app', app_token_id::text, NULL, tenant_id);
  RETURN is_stale;
END
$$;

-- Opens a link of the app once: replaces its hash by that of a session of one hour, and enters as that session does.
-- Returns no row and sets no scope if the link is missing, expired or opened already, or its app token is not live.
-- `previous` is the session that the browser had, if any: if it is of the same app token and tenant it ends, because the
-- browser replaces it. So a person who opens many links has one session.
CREATE OR REPLACE FUNCTION open_portal_link(link bytea, credential bytea, previous bytea DEFAULT NULL) RETURNS TABLE (
  session_id uuid, app_token_id uuid, name text, created_at timestamptz, tenant_id uuid, tenant_name text
) LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM FROM public.portal_sessions p
    JOIN public.app_tokens a ON a.id = p.app_token_id JOIN public.tenants t ON t.id = p.tenant_id
    WHERE p.hash = sha256(link) AND a.expires_at > now() FOR KEY SHARE OF a FOR KEY SHARE OF t;
  UPDATE public.portal_sessions p
    SET hash = sha256(credential), opened_at = now(), expires_at = now() + interval '1 hour'
    WHERE p.hash = sha256(link) AND p.opened_at IS NULL AND p.expires_at > now();
  UPDATE public.portal_sessions p SET expires_at = now()
    FROM public.portal_sessions n
    WHERE n.hash = sha256(credential) AND p.hash = sha256(previous) AND p.opened_at IS NOT NULL AND p.expires_at > now()
      AND p.tenant_id = n.tenant_id AND p.app_token_id = n.app_token_id;
  RETURN QUERY SELECT * FROM public.enter_portal_session(credential, false);
END
$$;

-- Enters as a portal session: sees the webhooks of its tenant, and nothing else (current_tenant_id). It ends with its
-- app token or its secret, with the permission of that token to make links, and with its tenant, and stays ended when the
-- token gets the permission back. Locks as enter_app_token, the session last.
CREATE OR REPLACE FUNCTION enter_portal_session(credential bytea, for_write boolean) RETURNS TABLE (
  session_id uuid, app_token_id uuid, name text, created_at timestamptz, tenant_id uuid, tenant_name text
) LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  digest bytea := sha256(credential);
  scope_text text;
BEGIN
  IF for_write THEN
    PERFORM FROM public.portal_sessions p
      JOIN public.app_tokens a ON a.id = p.app_token_id JOIN public.tenants t ON t.id = p.tenant_id
      WHERE p.hash = digest AND p.expires_at > now() AND a.expires_at > now()
      FOR KEY SHARE OF a FOR KEY SHARE OF t FOR KEY SHARE OF p;
  END IF;
  SELECT p.id, a.id, a.name, p.created_at, t.id, t.name
    INTO session_id, app_token_id, name, created_at, tenant_id, tenant_name
    FROM public.portal_sessions p
    JOIN public.app_tokens a ON a.id = p.app_token_id JOIN public.tenants t ON t.id = p.tenant_id
    WHERE p.hash = digest AND p.opened_at IS NOT NULL AND p.expires_at > now()
      AND a.expires_at > now() AND 'portal-link:create' = ANY (a.permissions) AND t.closed_at IS NULL
      AND p.created_at > coalesce(greatest(a.secret_rotated_at, a.portals_ended_at), '-infinity');
  IF session_id IS NULL THEN
    scope_text := public.clear_scope();
    RETURN;
  END IF;
  scope_text := public.set_scope('portal', app_token_id || '/' || session_id, NULL, tenant_id);
  RETURN NEXT;
END
$$;

-- Ends credentials that the caller may end, before their rows are deleted. Does not wait for writes in progress, which
-- hold the rows FOR KEY SHARE; no write begins with them afterwards.
CREATE OR REPLACE FUNCTION expire_credentials(ids uuid[]) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  tenant uuid := public.current_tenant_id();
  person bigint := public.current_user_id();
BEGIN
  IF public.current_scope_kind() = 'app' THEN
    UPDATE public.portal_sessions p SET expires_at = now()
      WHERE p.id = ANY (ids) AND p.tenant_id = tenant AND p.expires_at > now();
  ELSIF public.current_scope_kind() = 'session' THEN
    UPDATE public.sessions s SET expires_at = now()
      WHERE s.id = ANY (ids) AND s.user_id = person AND s.expires_at > now();
    UPDATE public.api_tokens t SET expires_at = now()
      WHERE t.id = ANY (ids) AND t.user_id = person AND t.expires_at > now();
    UPDATE public.service_tokens s SET expires_at = now()
      WHERE s.id = ANY (ids) AND s.tenant_id = tenant AND s.expires_at > now();
    UPDATE public.app_tokens a SET expires_at = now()
      WHERE a.id = ANY (ids) AND a.expires_at > now() AND public.is_operator();
  END IF;
END
$$;

-- Updates last_seen_at, at most once a minute. Skips a locked row, so it never waits.
CREATE OR REPLACE FUNCTION touch_session(credential bytea) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE public.sessions s SET last_seen_at = now() WHERE s.id = (
    SELECT o.id FROM public.sessions o
    WHERE o.id_hash = sha256(credential) AND o.last_seen_at < now() - interval '60 seconds'
    FOR NO KEY UPDATE SKIP LOCKED);
END
$$;

-- As touch_session, for last_used_at of a token in the table `source`.
CREATE OR REPLACE FUNCTION touch_token(source text, credential bytea) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF source NOT IN ('api_tokens', 'service_tokens', 'app_tokens') THEN
    RAISE EXCEPTION 'no tokens in %', source USING ERRCODE = 'insufficient_privilege';
  END IF;
  EXECUTE format('UPDATE public.%1$I SET last_used_at = now() WHERE hash = (
      SELECT hash FROM public.%1$I
      WHERE hash = sha256($1) AND coalesce(last_used_at < now() - interval ''60 seconds'', true)
      FOR NO KEY UPDATE SKIP LOCKED)', source) USING credential;
END
$$;

-- Makes another open tenant of the session's user the active one, gives the session a new id, and enters it.
-- Outcome: switched, no-member, session-ended.
CREATE OR REPLACE FUNCTION switch_tenant(credential bytea, new_credential bytea, target uuid)
RETURNS TABLE (outcome text, session_id uuid, user_id bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  scope_text text;
BEGIN
  SELECT s.id, s.user_id INTO session_id, user_id FROM public.sessions s
    WHERE s.id_hash = sha256(credential) AND s.expires_at > now() AND s.user_id IS NOT NULL;
  IF session_id IS NULL THEN outcome := 'session-ended'; RETURN NEXT; RETURN; END IF;
  UPDATE public.memberships m SET last_active_at = now()
    WHERE m.tenant_id = target AND m.user_id = switch_tenant.user_id AND NOT public.is_closed(target);
  IF NOT FOUND THEN outcome := 'no-member'; RETURN NEXT; RETURN; END IF;
  UPDATE public.sessions s SET tenant_id = target, id_hash = sha256(new_credential)
    WHERE s.id_hash = sha256(credential);
  IF FOUND THEN
    outcome := 'switched';
    scope_text := public.set_scope('session', '', user_id, target);
  ELSE
    outcome := 'session-ended';
  END IF;
  RETURN NEXT;
END
$$;

-- Enters the tenant of active jobs of a queue. If it is closed or gone, the scope is a tenant that nobody has: the jobs
-- find nothing and end. Without the generic plan, planning took two thirds of the time.
CREATE OR REPLACE FUNCTION enter_job(queue text, VARIADIC jobs uuid[]) RETURNS TABLE (tenant_id uuid)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan AS $$
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
  IF tenant_id IS NULL THEN scope_text := public.clear_scope(); RETURN; END IF;
  PERFORM FROM public.tenants t WHERE t.id = tenant_id AND t.closed_at IS NULL;
  IF NOT FOUND THEN tenant_id := '00000000-0000-0000-0000-000000000000'; END IF;
  scope_text := public.set_scope('job', '', NULL, tenant_id);
  RETURN NEXT;
END
$$;

-- Enters the tenant that has the invoice of a payment, or the own tenant of the user who has the billing customer, or the
-- tenant that is that customer, for a received event. No row if the event is not recorded, or there is no such tenant, or it is closed.
CREATE OR REPLACE FUNCTION enter_billing_event(received text, customer text, paid text)
RETURNS TABLE (user_id bigint, tenant_id uuid)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  scope_text text;
BEGIN
  IF EXISTS (SELECT FROM public.received_events e WHERE e.event_id = received) THEN
    IF paid IS NOT NULL THEN
      SELECT o.invoice_tenant INTO tenant_id FROM public.billing_objects o WHERE o.object_id = paid;
    ELSE
      SELECT u.id, u.own_tenant_id INTO user_id, tenant_id FROM public.users u
        WHERE u.billing_customer = customer AND u.own_tenant_id IS NOT NULL;
      IF NOT FOUND THEN
        SELECT t.id INTO tenant_id FROM public.tenants t WHERE t.billing_customer = customer;
      END IF;
    END IF;
  END IF;
  PERFORM FROM public.tenants t WHERE t.id = tenant_id AND t.closed_at IS NULL;
  IF NOT FOUND THEN scope_text := public.clear_scope(); RETURN; END IF;
  scope_text := public.set_scope('billing', '', NULL, tenant_id);
  RETURN NEXT;
END
$$;
