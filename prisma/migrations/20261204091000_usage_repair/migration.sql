-- Counters and rows of a tenant on one snapshot, in a function of its own: on a database that is
-- distributed with Citus this is one statement on the tenant's node (src/schema/citus/data-flow.sql).
CREATE FUNCTION "measured_usage"(tenant uuid)
RETURNS TABLE (
  resource_rows bigint, resource_bytes bigint, event_rows bigint, event_bytes bigint,
  stored_resource_rows bigint, stored_resource_bytes bigint, stored_event_rows bigint,
  stored_event_bytes bigint
)
LANGUAGE sql VOLATILE ROWS 1 AS $$
  SELECT counted.*, stored.*
  FROM public.counted_usage(tenant) counted, public.stored_usage(tenant) stored
$$;
REVOKE ALL ON FUNCTION "measured_usage"(uuid) FROM PUBLIC;

-- Measured once, for the answer and for the repair.
CREATE OR REPLACE FUNCTION "check_usage"(tenant_after uuid, repair boolean)
RETURNS TABLE (
  tenant_id uuid, is_right boolean,
  resource_rows bigint, resource_bytes bigint, event_rows bigint, event_bytes bigint,
  stored_resource_rows bigint, stored_resource_bytes bigint, stored_event_rows bigint,
  stored_event_bytes bigint
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
  tenant uuid;
  found record;
  scope_text text;
BEGIN
  SELECT u.tenant_id INTO tenant FROM public.tenant_usage u
    WHERE u.tenant_id > tenant_after ORDER BY u.tenant_id LIMIT 1;
  IF tenant IS NULL THEN RETURN; END IF;
  IF repair THEN
    PERFORM pg_advisory_xact_lock(public.usage_lock(tenant));
    PERFORM public.add_waiting_usage(tenant);
  END IF;
  scope_text := public.set_scope('usage', '', NULL, tenant);
  SELECT m.* INTO found FROM public.measured_usage(tenant) m;
  RETURN QUERY SELECT tenant,
    (found.resource_rows, found.resource_bytes, found.event_rows, found.event_bytes)
      IS NOT DISTINCT FROM (found.stored_resource_rows, found.stored_resource_bytes,
        found.stored_event_rows, found.stored_event_bytes),
    found.resource_rows, found.resource_bytes, found.event_rows, found.event_bytes,
    found.stored_resource_rows, found.stored_resource_bytes, found.stored_event_rows,
    found.stored_event_bytes;
  IF repair THEN
    -- What waits is on the same snapshot as the rows it belongs to, so it is left to be added later.
    UPDATE public.tenant_usage u SET
        resource_rows = u.resource_rows + found.stored_resource_rows - found.resource_rows,
        resource_bytes = u.resource_bytes + found.stored_resource_bytes - found.resource_bytes,
        event_rows = u.event_rows + found.stored_event_rows - found.event_rows,
        event_bytes = u.event_bytes + found.stored_event_bytes - found.event_bytes
      WHERE u.tenant_id = tenant
        AND (found.resource_rows, found.resource_bytes, found.event_rows, found.event_bytes)
          IS DISTINCT FROM (found.stored_resource_rows, found.stored_resource_bytes,
            found.stored_event_rows, found.stored_event_bytes);
  END IF;
  scope_text := public.clear_scope();
END
$$;
