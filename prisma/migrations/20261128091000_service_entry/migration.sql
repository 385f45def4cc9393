-- As before; a write of a service locks the first membership of its tenant before its token. Whoever
-- deletes a tenant locks all its memberships in this order and then its tokens, so they wait for the
-- write before they hold anything that it may need, such as the membership of a new team member.
CREATE OR REPLACE FUNCTION "enter_service"(credential bytea, for_write boolean)
RETURNS TABLE (
  service_id uuid, name text, permissions text[], created_at timestamptz, tenant_id uuid,
  stale boolean
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  digest bytea := sha256(credential);
  scope_text text;
BEGIN
  IF for_write THEN
    PERFORM FROM public.memberships m WHERE (m.tenant_id, m.user_id) = (
      SELECT o.tenant_id, o.user_id FROM public.memberships o
      WHERE o.tenant_id = (SELECT s.tenant_id FROM public.service_tokens s WHERE s.hash = digest)
      ORDER BY o.user_id LIMIT 1)
      FOR KEY SHARE;
    PERFORM FROM public.service_tokens s WHERE s.hash = digest FOR KEY SHARE;
  END IF;
  SELECT s.id, s.name, s.permissions, s.created_at, s.tenant_id,
         coalesce(s.last_used_at < now() - interval '60 seconds', true)
    INTO service_id, name, permissions, created_at, tenant_id, stale
    FROM public.service_tokens s
    WHERE s.hash = digest AND s.expires_at > now();
  IF service_id IS NULL THEN
    scope_text := public.clear_scope();
    RETURN;
  END IF;
  scope_text := public.set_scope('service', service_id::text, NULL, tenant_id);
  RETURN NEXT;
END
$$;
