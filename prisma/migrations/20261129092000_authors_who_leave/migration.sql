-- A post stays in the tenant without its author when that person leaves. The function that removes a
-- membership says so, instead of ON DELETE SET NULL with a list of columns, which a distributed table
-- (Citus) may not have on a key with the tenant. The key now refuses to lose an author unnoticed.

ALTER TABLE "posts"
  DROP CONSTRAINT "posts_tenant_id_author_id_fkey",
  ADD CONSTRAINT "posts_tenant_id_author_id_fkey" FOREIGN KEY ("tenant_id", "author_id")
    REFERENCES "memberships" ("tenant_id", "user_id")
    ON DELETE NO ACTION ON UPDATE NO ACTION NOT VALID;

-- The membership is locked first. A post that its author is adding holds that row, so it is committed
-- before the posts are looked for.
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
  scope_text := set_config('app.scope', entered, true);
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
