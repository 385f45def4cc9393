-- Deletion of what is older than its retention period.

-- Deletes one batch of old events, deliveries, notifications, replays and invitations of the tenant after
-- `tenant_after`.
CREATE OR REPLACE FUNCTION purge_history(
  tenant_after uuid, older_than timestamptz, feed_before timestamptz, batch integer
)
RETURNS TABLE (tenant_id uuid, events integer, others integer, more boolean)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
  tenant uuid;
  events_before timestamptz := older_than;
  old text[];
  scope_text text;
  deleted integer;
BEGIN
  SELECT u.tenant_id INTO tenant FROM public.tenant_usage u
    WHERE u.tenant_id > tenant_after ORDER BY u.tenant_id LIMIT 1;
  IF tenant IS NULL THEN RETURN; END IF;
  tenant_id := tenant;
  scope_text := public.set_scope('retention', '', NULL, tenant);
  IF NOT EXISTS (SELECT FROM public.webhook_endpoints e WHERE e.tenant_id = tenant) THEN
    events_before := greatest(older_than, feed_before);
  END IF;
  old := ARRAY(
    SELECT e.id FROM public.outbound_events e
    WHERE e.tenant_id = tenant AND e.created_at < events_before ORDER BY e.created_at LIMIT batch);
  events := cardinality(old);
  -- Deliveries first, so that the triggers count them once and not per event.
  DELETE FROM public.deliveries d WHERE d.tenant_id = tenant AND d.event_id = ANY (old);
  DELETE FROM public.outbound_events e WHERE e.tenant_id = tenant AND e.id = ANY (old);
  DELETE FROM public.endpoint_replays r WHERE r.tenant_id = tenant AND r.id IN (
    SELECT o.id FROM public.endpoint_replays o
    WHERE o.tenant_id = tenant AND o.finished_at < older_than LIMIT batch);
  GET DIAGNOSTICS deleted = ROW_COUNT;
  others := deleted;
  more := events = batch OR deleted = batch;
  DELETE FROM public.notifications n WHERE n.tenant_id = tenant AND n.id IN (
    SELECT o.id FROM public.notifications o
    WHERE o.tenant_id = tenant AND o.created_at < older_than LIMIT batch);
  GET DIAGNOSTICS deleted = ROW_COUNT;
  others := others + deleted;
  more := more OR deleted = batch;
  DELETE FROM public.invitations i WHERE i.tenant_id = tenant AND i.id IN (
    SELECT o.id FROM public.invitations o
    WHERE o.tenant_id = tenant AND o.expires_at < older_than LIMIT batch);
  GET DIAGNOSTICS deleted = ROW_COUNT;
  others := others + deleted;
  more := more OR deleted = batch;
  scope_text := public.clear_scope();
  RETURN NEXT;
END
$$;
