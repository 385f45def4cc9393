-- Operations: quarantine of a copied database, and tracing one thing through all tenants.

-- As in prisma/functions, but with one join for each kind of id, which every node answers for its tenants.
CREATE OR REPLACE FUNCTION trace_outgoing(causes text[], message text, delivery uuid, batch integer)
RETURNS TABLE (kind text, tenant_id uuid, event_id text)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
  scope_text text;
BEGIN
  scope_text := public.set_scope('trace', '', NULL, NULL);
  RETURN QUERY
    SELECT 'message', e.tenant_id, e.id FROM public.tenant_usage u
      JOIN public.outbound_events e ON e.tenant_id = u.tenant_id WHERE e.id = message LIMIT batch;
  RETURN QUERY
    SELECT 'delivery', d.tenant_id, d.event_id FROM public.tenant_usage u
      JOIN public.deliveries d ON d.tenant_id = u.tenant_id WHERE d.id = delivery LIMIT batch;
  RETURN QUERY
    SELECT 'cause', e.tenant_id, e.id FROM public.tenant_usage u
      JOIN public.outbound_events e ON e.tenant_id = u.tenant_id WHERE e.cause = ANY (causes) LIMIT batch;
  scope_text := public.clear_scope();
END
$$;
