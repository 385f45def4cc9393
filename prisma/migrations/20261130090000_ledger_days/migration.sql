-- Where the findings of a check are. `days`: their number by day (UTC, 2026-01-31). `tenants`: the same by
-- tenant and day, and only of the newest check. Both are null if an earlier release made the check.
-- `partial`: there is more than the check lists.
ALTER TABLE "ledger_checks"
  ADD COLUMN "days" jsonb,
  ADD COLUMN "tenants" jsonb,
  ADD COLUMN "partial" boolean NOT NULL DEFAULT false;

-- What the newest check has found of the tenant of the scope, by day. No row without a tenant or a check.
CREATE FUNCTION "own_unaccounted"()
RETURNS TABLE (checked_at timestamptz, partial boolean, days jsonb)
LANGUAGE sql STABLE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp AS $$
  SELECT c.checked_at, c.partial,
    CASE WHEN c.unaccounted = 0 THEN '{}'
         WHEN c.tenants IS NOT NULL
           THEN coalesce(c.tenants -> public.current_tenant_id()::text, '{}') END
  FROM (SELECT * FROM public.ledger_checks l ORDER BY l.id DESC LIMIT 1) c
  WHERE public.current_tenant_id() IS NOT NULL
$$;

-- The tenants that the newest check has findings of, those with most of them first; for operators.
CREATE FUNCTION "unaccounted_tenants"(batch integer)
RETURNS TABLE (tenant_id uuid, days jsonb)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
BEGIN
  PERFORM public.session_user_id();
  RETURN QUERY
    SELECT t.key::uuid, t.value
    FROM (SELECT l.tenants FROM public.ledger_checks l ORDER BY l.id DESC LIMIT 1) c
    CROSS JOIN LATERAL jsonb_each(c.tenants) t
    CROSS JOIN LATERAL (SELECT sum(d.value::integer) AS findings FROM jsonb_each_text(t.value) d) s
    ORDER BY s.findings DESC, t.key LIMIT batch;
END
$$;

REVOKE ALL ON FUNCTION "own_unaccounted"(), "unaccounted_tenants"(integer) FROM PUBLIC;
