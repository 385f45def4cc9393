-- Statements of the erasure in the form that Citus accepts too. The time is a variable: no now() within
-- COALESCE.
CREATE OR REPLACE FUNCTION "close_tenant"(tenant uuid) RETURNS uuid[]
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  entered text := coalesce(current_setting('app.scope', true), '');
  revocations uuid[] := '{}';
  closed_at timestamptz := now();
  member bigint;
  scope_text text;
BEGIN
  scope_text := public.set_scope('erasure', '', NULL, tenant);
  UPDATE public.users u SET own_tenant_id = NULL WHERE u.own_tenant_id = tenant;
  UPDATE public.webhook_endpoints e SET status = 'disabled',
      disabled_at = coalesce(e.disabled_at, closed_at), recover_when_disabled = false
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

-- Bodies are made first and then stored: Citus accepts no json_build_object over columns in an UPDATE.
CREATE OR REPLACE FUNCTION "erase_events"(person bigint, tenant uuid, batch integer) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  erased constant jsonb := '{"shippingAddress": {"name": "erased", "line1": "erased", "city": "erased", "postalCode": "erased", "country": "ZZ"}, "cardLast4": "0000"}';
  ids text[];
  bodies text[];
  scope_text text := public.set_scope('erasure', '', NULL, tenant);
BEGIN
  SELECT array_agg(a.id), array_agg(a.body) INTO ids, bodies FROM (
    SELECT e.id, json_build_object('id', e.id, 'type', e.type, 'createdAt', e.body::jsonb -> 'createdAt',
        'data', (e.body::jsonb -> 'data') - 'shippingAddress' - 'cardLast4' || erased)::text AS body
    FROM public.outbound_events e
    WHERE e.tenant_id = tenant AND e.type = 'order.updated'
      AND strpos(e.body, '"userId":' || person || ',') > 0
      AND NOT e.body::jsonb -> 'data' @> erased
    LIMIT batch FOR UPDATE) a;
  IF ids IS NULL THEN RETURN true; END IF;
  UPDATE public.delivery_attempts a SET response_excerpt = NULL
    FROM public.deliveries d
    WHERE d.tenant_id = tenant AND d.event_id = ANY (ids) AND a.tenant_id = tenant
      AND a.delivery_id = d.id;
  UPDATE public.outbound_events e SET body = made.body
    FROM unnest(ids, bodies) AS made (id, body) WHERE e.tenant_id = tenant AND e.id = made.id;
  RETURN cardinality(ids) < batch;
END
$$;
