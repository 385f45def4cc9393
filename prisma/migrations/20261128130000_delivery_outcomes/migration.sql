-- Almost every delivery is updated once, with its outcome. With room for a second version of each row in
-- its page, that update writes no index (HOT), and the first version goes away without VACUUM.
ALTER TABLE "deliveries" SET (fillfactor = 50);

-- The number of jobs differs from call to call, so PostgreSQL preferred a new plan for each one, which
-- took twice as long as everything else in the function.
CREATE OR REPLACE FUNCTION "enter_job"(queue text, VARIADIC jobs uuid[])
RETURNS TABLE (tenant_id uuid)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp
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
  IF tenant_id IS NULL THEN
    scope_text := public.clear_scope();
    RETURN;
  END IF;
  scope_text := public.set_scope('job', '', NULL, tenant_id);
  RETURN NEXT;
END
$$;
