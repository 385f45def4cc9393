-- In PL/pgSQL and with two statements, because it runs in triggers: on a database that is distributed
-- with Citus those are on the node of the tenant, where a function in SQL has no parameters that Citus
-- could plan with.
CREATE OR REPLACE FUNCTION "add_waiting_usage"(tenant uuid) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  total record;
BEGIN
  WITH added AS (
    DELETE FROM public.usage_changes c WHERE c.tenant_id = tenant AND c.id IN (
      SELECT o.id FROM public.usage_changes o WHERE o.tenant_id = tenant LIMIT 1000)
    RETURNING c.*
  )
  SELECT count(*) AS changes, sum(a.resource_rows)::bigint AS resource_rows,
      sum(a.resource_bytes)::bigint AS resource_bytes,
      sum(a.event_rows)::bigint AS event_rows, sum(a.event_bytes)::bigint AS event_bytes
    INTO total FROM added a;
  IF total.changes = 0 THEN RETURN; END IF;
  UPDATE public.tenant_usage u SET
      resource_rows = u.resource_rows + total.resource_rows,
      resource_bytes = u.resource_bytes + total.resource_bytes,
      event_rows = u.event_rows + total.event_rows, event_bytes = u.event_bytes + total.event_bytes
    WHERE u.tenant_id = tenant;
END
$$;
