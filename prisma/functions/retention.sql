-- Deletion of what is older than its retention period.

-- Deletes one batch of old events, deliveries, notifications, replays and invitations of the tenant after
-- `tenant_after`.
CREATE OR REPLACE FUNCTION purge_history(
  tenant_after uuid, older_than timestamptz, feed_before timestamptz, batch integer
) RETURNS TABLE (tenant_id uuid, events integer, others integer, more boolean)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
  tenant uuid;
  events_before timestamptz := older_than;
  old text[];
  source record;
  deleted integer;
BEGIN
  SELECT u.tenant_id INTO tenant FROM public.tenant_usage u
    WHERE u.tenant_id > tenant_after ORDER BY u.tenant_id LIMIT 1;
  IF tenant IS NULL THEN RETURN; END IF;
  tenant_id := tenant;
  PERFORM public.set_scope('retention', '', NULL, tenant);
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
  others := 0;
  more := events = batch;
  FOR source IN SELECT * FROM (VALUES
    ('endpoint_replays', 'finished_at'), ('notifications', 'created_at'), ('invitations', 'expires_at')
  ) t ("name", "time") LOOP
    EXECUTE format('DELETE FROM public.%1$I WHERE tenant_id = $1 AND id IN (
        SELECT id FROM public.%1$I WHERE tenant_id = $1 AND %2$I < $2 LIMIT $3)', source."name", source."time")
      USING tenant, older_than, batch;
    GET DIAGNOSTICS deleted = ROW_COUNT;
    others := others + deleted;
    more := more OR deleted = batch;
  END LOOP;
  PERFORM public.clear_scope();
  RETURN NEXT;
END
$$;

-- Deletes one batch each of expired sessions, portal links and sessions, sign-in attempts and tokens.
CREATE OR REPLACE FUNCTION prune_dead(idle_seconds integer, token_days integer, batch integer)
RETURNS TABLE (sessions integer, attempts integer, tokens integer)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  seen_before timestamptz := now() - make_interval(secs => idle_seconds);
  source text;
  more integer;
BEGIN
  IF NOT pg_try_advisory_xact_lock(7165230419) THEN RETURN; END IF;
  DELETE FROM public.sign_in_attempts a WHERE a.state_hash IN (
    SELECT o.state_hash FROM public.sign_in_attempts o WHERE o.expires_at <= now()
    ORDER BY o.expires_at LIMIT batch);
  GET DIAGNOSTICS attempts = ROW_COUNT;
  DELETE FROM public.sessions s WHERE s.id IN (
    SELECT o.id FROM public.sessions o
    WHERE o.expires_at <= now() OR o.last_seen_at <= seen_before LIMIT batch)
    AND (s.expires_at <= now() OR s.last_seen_at <= seen_before);
  GET DIAGNOSTICS sessions = ROW_COUNT;
  DELETE FROM public.portal_sessions p WHERE p.id IN (
    SELECT o.id FROM public.portal_sessions o WHERE o.expires_at <= now() LIMIT batch)
    AND p.expires_at <= now();
  GET DIAGNOSTICS more = ROW_COUNT;
  sessions := sessions + more;
  tokens := 0;
  FOREACH source IN ARRAY ARRAY['api_tokens', 'service_tokens', 'app_tokens'] LOOP
    EXECUTE format('DELETE FROM public.%1$I WHERE expires_at <= $1 AND hash IN (
        SELECT hash FROM public.%1$I WHERE expires_at <= $1 LIMIT $2)', source)
      USING now() - make_interval(days => token_days), batch;
    GET DIAGNOSTICS more = ROW_COUNT;
    tokens := tokens + more;
  END LOOP;
  RETURN NEXT;
END
$$;

-- Deletes one batch each of expired logout tokens, of mail counts of earlier days without a decline, and of audit
-- entries older than `audit_days`. Entries are read in the order of their ids, so the search ends at the first batch.
CREATE OR REPLACE FUNCTION prune_records(audit_days integer, batch integer)
RETURNS TABLE (logouts integer, entries integer)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  scope_text text;
BEGIN
  DELETE FROM public.logout_tokens t WHERE (t.provider, t.jti_hash) IN (
    SELECT o.provider, o.jti_hash FROM public.logout_tokens o WHERE o.expires_at < now()
    ORDER BY o.expires_at LIMIT batch);
  GET DIAGNOSTICS logouts = ROW_COUNT;
  DELETE FROM public.invitation_mails m WHERE m.key_hash IN (
    SELECT o.key_hash FROM public.invitation_mails o
    WHERE o.day < (now() AT TIME ZONE 'UTC')::date AND o.declined_at IS NULL ORDER BY o.day LIMIT batch);
  scope_text := public.set_scope('retention', '', NULL, NULL);
  DELETE FROM public.audit_log a
    WHERE a.id IN (SELECT o.id FROM public.audit_log o ORDER BY o.id LIMIT batch)
      AND a.at < now() - make_interval(days => audit_days);
  GET DIAGNOSTICS entries = ROW_COUNT;
  scope_text := public.clear_scope();
  RETURN NEXT;
END
$$;

-- Deletes one batch of idempotency keys older than a day, and the secrets of forms that were not shown within five
-- minutes.
CREATE OR REPLACE FUNCTION prune_idempotency_keys(batch integer) RETURNS integer
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  deleted integer;
BEGIN
  UPDATE public.idempotency_keys k SET secret = NULL
    WHERE k.secret IS NOT NULL AND k.created_at < now() - interval '5 minutes';
  DELETE FROM public.idempotency_keys k WHERE (k.holder, k.key_hash) IN (
    SELECT o.holder, o.key_hash FROM public.idempotency_keys o
    WHERE o.created_at < now() - interval '1 day' LIMIT batch);
  GET DIAGNOSTICS deleted = ROW_COUNT;
  RETURN deleted;
END
$$;
