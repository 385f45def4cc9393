-- One function puts a scope back or clears it. On a database that is distributed with Citus its body is
-- another one, which does so on the nodes too (src/schema/citus), as set_scope has another one there.

-- Returns the setting, so that its callers can assign it: PERFORM costs five times as much.
CREATE FUNCTION "put_scope"(setting text) RETURNS text
LANGUAGE sql VOLATILE
RETURN set_config('app.scope', setting, true);

CREATE OR REPLACE FUNCTION "clear_scope"() RETURNS text
LANGUAGE sql VOLATILE
RETURN public.put_scope('');

-- As before, each of them.
CREATE OR REPLACE FUNCTION "note_erasure"() RETURNS trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  entered text := coalesce(current_setting('app.scope', true), '');
  scope_text text;
BEGIN
  scope_text := public.set_scope('erasure', '', OLD.id, OLD.own_tenant_id);
  INSERT INTO public.erasures (user_id, tenant_id)
    SELECT OLD.id, NULL
    UNION ALL
    SELECT DISTINCT OLD.id, o.tenant_id FROM public.orders o WHERE o.user_id = OLD.id;
  UPDATE public.tenants t SET name = 'Tenant ' || left(t.id::text, 8) WHERE t.id = OLD.own_tenant_id;
  scope_text := public.put_scope(entered);
  RETURN OLD;
END
$$;

CREATE OR REPLACE FUNCTION "own_invitations"()
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
  scope_text := public.put_scope(entered);
END
$$;

CREATE OR REPLACE FUNCTION "tenant_name"(tenant uuid) RETURNS text
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  entered text := coalesce(current_setting('app.scope', true), '');
  found_name text;
  scope_text text;
BEGIN
  scope_text := public.set_scope('erasure', '', NULL, tenant);
  SELECT t.name INTO found_name FROM public.tenants t WHERE t.id = tenant;
  scope_text := public.put_scope(entered);
  RETURN found_name;
END
$$;

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
  scope_text := public.put_scope(entered);
  RETURN revocations;
END
$$;

CREATE OR REPLACE FUNCTION "remove_membership"(tenant uuid, member bigint)
RETURNS TABLE (user_gone boolean, revocations uuid[], invitations uuid[])
LANGUAGE plpgsql VOLATILE ROWS 1 AS $$
DECLARE
  entered text := coalesce(current_setting('app.scope', true), '');
  scope_text text;
BEGIN
  PERFORM FROM public.memberships m WHERE m.tenant_id = tenant AND m.user_id = member FOR UPDATE;
  IF NOT FOUND THEN RETURN; END IF;
  PERFORM FROM public.users u WHERE u.id = member FOR UPDATE;
  WITH ended AS (
    DELETE FROM public.invitations i
    WHERE i.tenant_id = tenant AND i.invited_by = member AND i.accepted_at IS NULL RETURNING i.id
  )
  SELECT coalesce(array_agg(e.id), '{}') INTO invitations FROM ended e;
  scope_text := public.set_scope('erasure', '', NULL, tenant);
  UPDATE public.posts p SET author_id = NULL WHERE p.tenant_id = tenant AND p.author_id = member;
  scope_text := public.put_scope(entered);
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

CREATE OR REPLACE FUNCTION "export_page"(
  kind text, section text, person bigint, tenant uuid, key_after text, batch integer
) RETURNS TABLE (key text, item jsonb)
LANGUAGE plpgsql VOLATILE
SET "TimeZone" = 'UTC' AS $$
DECLARE
  entered text := coalesce(current_setting('app.scope', true), '');
  described record;
  scope_text text;
BEGIN
  SELECT s.* INTO described FROM public.export_sections s
    WHERE s.kind = export_page.kind AND s.section = export_page.section;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'no section % of a %', section, kind USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF kind = 'tenant' THEN
    scope_text := public.set_scope('tenant-export', '', NULL, tenant);
  ELSE
    scope_text := public.set_scope('export', '', person, NULL);
    IF described.by_tenant AND NOT EXISTS (
        SELECT FROM public.memberships m WHERE m.tenant_id = tenant AND m.user_id = person)
      AND NOT EXISTS (
        SELECT FROM public.orders o WHERE o.tenant_id = tenant AND o.user_id = person)
    THEN
      scope_text := public.put_scope(entered);
      RETURN;
    END IF;
    scope_text := public.set_scope('export', '', person,
      CASE WHEN described.by_tenant THEN tenant END);
  END IF;
  RETURN QUERY EXECUTE format(
      'SELECT (%1$s)::text, to_jsonb(r) - $3 FROM public.%2$I r
       WHERE (%3$s) AND ($4 IS NULL OR %1$s > $4::%4$s) ORDER BY %1$s LIMIT $5',
      described.key, described.source, described.condition, described.key_type)
    USING person, tenant, described.hidden, key_after, batch;
  scope_text := public.put_scope(entered);
END
$$;

CREATE OR REPLACE FUNCTION "move_folder"(
  folder bigint, new_team bigint, new_parent bigint, new_parent_depth integer
) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  entered text := coalesce(current_setting('app.scope', true), '');
  tenant uuid := public.current_tenant_id();
  person bigint := public.current_user_id();
  old_depth integer;
  subtree bigint[];
  scope_text text;
BEGIN
  IF tenant IS NULL THEN
    RAISE EXCEPTION 'no tenant was entered' USING ERRCODE = 'insufficient_privilege';
  END IF;
  SELECT f.depth INTO old_depth FROM public.folders f
    WHERE f.tenant_id = tenant AND f.id = folder FOR UPDATE;
  IF NOT FOUND THEN RETURN false; END IF;
  subtree := ARRAY(
    WITH RECURSIVE subtree AS (
      SELECT folder AS id
      UNION -- without duplicates, so that it ends whatever the rows are
      SELECT f.id FROM public.folders f JOIN subtree s ON f.parent_id = s.id
      WHERE f.tenant_id = tenant)
    SELECT s.id FROM subtree s);
  PERFORM FROM public.folders f
    WHERE f.tenant_id = tenant AND f.id = ANY (subtree) ORDER BY f.id FOR UPDATE;
  scope_text := public.set_scope('move', '', person, tenant);
  WITH moved AS (
    UPDATE public.folders f SET team_id = new_team,
      parent_id = CASE WHEN f.id = folder THEN new_parent ELSE f.parent_id END,
      parent_depth = CASE WHEN f.id = folder THEN new_parent_depth
        ELSE f.parent_depth + coalesce(new_parent_depth, 0) + 1 - old_depth END
    WHERE f.tenant_id = tenant AND f.id = ANY (subtree)
  )
  UPDATE public.documents d SET team_id = new_team
    WHERE d.tenant_id = tenant AND d.folder_id = ANY (subtree) AND d.team_id <> new_team;
  scope_text := public.put_scope(entered);
  RETURN true;
END
$$;

-- For functions of the owner alone.
REVOKE ALL ON FUNCTION "put_scope"(text) FROM PUBLIC;
