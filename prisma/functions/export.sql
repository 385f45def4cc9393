-- Export of what is stored about a person or a tenant.

-- The sections of an export: the table `source` without the columns `hidden`, in the order of `key`. In
-- `condition`, $1 is the person and $2 the tenant. A section of a person with `by_tenant` is read for each
-- of their tenants. A new table with data of people or tenants gets a line here (a test fails without it), unless it
-- belongs to a declared resource. The rows of a deleted owner wait for their deletion, and are in no export.
CREATE OR REPLACE FUNCTION export_sections() RETURNS TABLE (
  kind text, section text, source text, key text, key_type text, condition text, hidden text[],
  by_tenant boolean
) LANGUAGE sql IMMUTABLE AS $$
VALUES
  ('person', 'profile', 'users', 'r.id', 'bigint', 'r.id = $1', '{}'::text[], false),
  ('person', 'identities', 'oauth_identities', 'r.provider || '' '' || r.provider_user_id', 'text',
   'r.user_id = $1', '{}', false),
  ('person', 'providerGrants', 'provider_grants', 'r.provider || '' '' || r.provider_user_id', 'text',
   'EXISTS (SELECT FROM public.oauth_identities i WHERE i.provider = r.provider AND i.provider_user_id = r.provider_user_id AND i.user_id = $1)',
   ARRAY['access_token', 'refresh_token', 'refresh_attempt'], false),
  ('person', 'providerRevocations', 'token_revocations', 'r.id', 'uuid', 'r.user_id = $1', ARRAY['token'], false),
  ('person', 'sessions', 'sessions', 'r.id', 'uuid', 'r.user_id = $1', ARRAY['id_hash'], false),
  ('person', 'pendingSignIns', 'sign_in_attempts', 'encode(r.state_hash, ''hex'')', 'text',
   'r.user_id = $1 OR r.session_id IN (SELECT s.id FROM public.sessions s WHERE s.user_id = $1)',
   ARRAY['state_hash', 'nonce', 'code_verifier'], false),
  ('person', 'apiTokens', 'api_tokens', 'r.id', 'uuid', 'r.user_id = $1', ARRAY['hash'], false),
  ('person', 'eventUsage', 'member_usage', 'r.tenant_id', 'uuid', 'r.user_id = $1', '{}', false),
  ('person', 'memberships', 'memberships', 'r.tenant_id', 'uuid', 'r.user_id = $1', '{}', false),
  ('person', 'invitationsReceived', 'invitations', 'r.id', 'uuid',
   'r.email = ANY (public.verified_emails($1))', ARRAY['invited_by', 'link_hash'], false),
  -- Whether it was declined or mailed would tell the tenant about the invited person.
  ('person', 'invitationsSent', 'invitations', 'r.id', 'uuid', 'r.invited_by = $1',
   ARRAY['declined_at', 'mailed_at', 'link_hash'], false),
  ('person', 'auditLog', 'audit_log', 'r.id', 'bigint', 'r.user_id = $1', '{}', false),
  ('person', 'tenants', 'tenants', 'r.id', 'uuid', 'r.id = $2', ARRAY['closed_at', 'billing_customer', 'seats'], true),
  ('person', 'teamMemberships', 'team_members', 'r.team_id', 'bigint',
   'r.tenant_id = $2 AND r.user_id = $1', '{}', true),
  ('person', 'invoices', 'invoices', 'r.id', 'bigint',
   'r.tenant_id = $2 AND EXISTS (SELECT FROM public.users u WHERE u.id = $1 AND u.own_tenant_id = $2)',
   '{}', true),
  ('person', 'events', 'outbound_events', 'r.id', 'text',
   'r.tenant_id = $2 AND strpos(r.body, ''"userId":'' || $1 || '','') > 0',
   ARRAY['xact_id', 'sequence'], true),
  ('person', 'idempotencyKeys', 'idempotency_keys', 'encode(r.key_hash, ''hex'')', 'text',
   'r.holder = ''person '' || $1', ARRAY['holder', 'key_hash', 'request_hash', 'result', 'secret'], false),
  ('person', 'serviceTokensCreated', 'service_tokens', 'r.id', 'uuid',
   'r.created_by = $1 AND EXISTS (SELECT FROM public.memberships m WHERE m.tenant_id = r.tenant_id AND m.user_id = $1)',
   ARRAY['hash', 'permissions', 'secret_rotated_at', 'last_used_at'], false),
  ('person', 'appTokensCreated', 'app_tokens', 'r.id', 'uuid', 'r.created_by = $1',
   ARRAY['hash', 'permissions', 'secret_rotated_at', 'portals_ended_at', 'last_used_at'], false),
  ('tenant', 'tenant', 'tenants', 'r.id', 'uuid', 'r.id = $2 AND r.closed_at IS NULL', ARRAY['closed_at'], false),
  ('tenant', 'users', 'users', 'r.id', 'bigint',
   'EXISTS (SELECT FROM public.memberships m WHERE m.tenant_id = $2 AND m.user_id = r.id)',
   ARRAY['locale', 'email_verified', 'plan', 'billing_customer', 'own_tenant_id', 'subscription_status',
         'subscription_period_end', 'subscription_cancels_at'], false),
  ('tenant', 'memberships', 'memberships', 'r.user_id', 'bigint', 'r.tenant_id = $2', '{}', false),
  ('tenant', 'invitations', 'invitations', 'r.id', 'uuid', 'r.tenant_id = $2',
   ARRAY['declined_at', 'mailed_at', 'link_hash'], false),
  ('tenant', 'apiTokens', 'api_tokens', 'r.id', 'uuid', 'r.tenant_id = $2', ARRAY['hash'], false),
  ('tenant', 'teams', 'teams', 'r.id', 'bigint', 'r.tenant_id = $2', '{}', false),
  ('tenant', 'teamMembers', 'team_members', 'r.team_id || '' '' || r.user_id', 'text',
   'r.tenant_id = $2', '{}', false),
  ('tenant', 'folders', 'folders', 'r.id', 'bigint', 'r.tenant_id = $2', '{}', false),
  ('tenant', 'events', 'outbound_events', 'r.id', 'text', 'r.tenant_id = $2', ARRAY['xact_id', 'sequence'], false),
  ('tenant', 'deliveries', 'deliveries', 'r.id', 'uuid', 'r.tenant_id = $2', '{}', false),
  ('tenant', 'deliveryAttempts', 'delivery_attempts', 'r.delivery_id || '' '' || r.series || '' '' || r.number', 'text',
   'r.tenant_id = $2', ARRAY['cause'], false),
  ('tenant', 'notifications', 'notifications', 'r.id', 'bigint', 'r.tenant_id = $2', '{}', false),
  ('tenant', 'endpointReplays', 'endpoint_replays', 'r.id', 'uuid', 'r.tenant_id = $2', '{}', false),
  ('tenant', 'auditLog', 'audit_log', 'r.id', 'bigint', 'r.tenant_id = $2', '{}', false),
  ('tenant', 'webhookEndpoints', 'webhook_endpoints', 'r.id', 'uuid',
   'r.tenant_id = $2', ARRAY['secret', 'previous_secret'], false),
  ('tenant', 'endpointStates', 'endpoint_states', 'r.id', 'uuid', 'r.tenant_id = $2', ARRAY['failure_cause'], false),
  ('tenant', 'endpointProbes', 'endpoint_probes', 'r.id', 'uuid', 'r.tenant_id = $2', '{}', false),
  ('tenant', 'serviceTokens', 'service_tokens', 'r.id', 'uuid', 'r.tenant_id = $2', ARRAY['hash'], false),
  ('tenant', 'serviceIdempotencyKeys', 'idempotency_keys', 'r.holder || '' '' || encode(r.key_hash, ''hex'')', 'text',
   'r.tenant_id = $2 AND starts_with(r.holder, ''service '')',
   ARRAY['key_hash', 'request_hash', 'result', 'secret'], false),
  ('tenant', 'portalSessions', 'portal_sessions', 'r.id', 'uuid', 'r.tenant_id = $2', ARRAY['hash'], false)
UNION ALL
SELECT 'person', d.section, d.name, 'r.id', 'bigint', d.of_person,
  ARRAY(SELECT h.hidden FROM public.hidden_columns() h WHERE h.name = d.name), d.scope <> 'owner'
FROM public.declared_tables() d WHERE d.of_person IS NOT NULL
UNION ALL
SELECT 'tenant', d.section, d.name, 'r.id', 'bigint', 'r.tenant_id = $2' || CASE d.scope
  WHEN 'owner' THEN ' AND EXISTS (SELECT FROM public.users u WHERE u.id = r.user_id)' ELSE '' END,
  ARRAY(SELECT h.hidden FROM public.hidden_columns() h WHERE h.name = d.name AND h.from_tenant), false
FROM public.declared_tables() d
$$;

-- Whether a person owns rows in a tenant, which they may have left. Requires a scope in which they see them.
CREATE OR REPLACE FUNCTION owns_rows(person bigint, tenant uuid) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
DECLARE
  source text;
  found_one boolean;
BEGIN
  FOR source IN SELECT d.name FROM public.declared_tables() d WHERE d.scope = 'owner' LOOP
    EXECUTE format('SELECT EXISTS (SELECT FROM public.%I WHERE tenant_id = $1 AND user_id = $2)', source)
      INTO found_one USING tenant, person;
    IF found_one THEN RETURN true; END IF;
  END LOOP;
  RETURN false;
END
$$;

-- One page of a section, in the order of its key, with times in UTC: `batch` rows, or fewer if they reach 1 MiB. `more`
-- of the last row is true if others may follow. Restores the scope of the caller.
CREATE OR REPLACE FUNCTION export_page(
  kind text, section text, person bigint, tenant uuid, key_after text, batch integer
) RETURNS TABLE (key text, item jsonb, more boolean)
LANGUAGE plpgsql VOLATILE SET "TimeZone" = 'UTC' AS $$
DECLARE
  entered text := coalesce(current_setting('app.scope', true), '');
  described record;
  shown integer := 0;
  bytes bigint := 0;
BEGIN
  SELECT s.* INTO described FROM public.export_sections() s
    WHERE s.kind = export_page.kind AND s.section = export_page.section;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'no section % of a %', section, kind USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF kind = 'tenant' THEN
    PERFORM public.set_scope('tenant-export', '', NULL, tenant);
  ELSE
    PERFORM public.set_scope('export', '', person, NULL);
    IF described.by_tenant AND NOT EXISTS (
        SELECT FROM public.memberships m
        WHERE m.tenant_id = tenant AND m.user_id = person AND NOT public.is_closed(tenant))
      AND NOT public.owns_rows(person, tenant)
    THEN
      PERFORM public.put_scope(entered);
      RETURN;
    END IF;
    PERFORM public.set_scope('export', '', person,
      CASE WHEN described.by_tenant THEN tenant END);
  END IF;
  FOR key, item IN EXECUTE format(
      'SELECT (%1$s)::text AS key, to_jsonb(r) - $3 AS item FROM public.%2$I r
       WHERE (%3$s) AND ($4 IS NULL OR %1$s > $4::%4$s) ORDER BY %1$s LIMIT $5',
      described.key, described.source, described.condition, described.key_type)
    USING person, tenant, described.hidden, key_after, batch
  LOOP
    shown := shown + 1;
    bytes := bytes + octet_length(item::text);
    more := shown = batch OR bytes >= 1048576;
    RETURN NEXT;
    EXIT WHEN more;
  END LOOP;
  PERFORM public.put_scope(entered);
END
$$;

-- A page about the user of a session.
CREATE OR REPLACE FUNCTION export_own(section text, tenant uuid, key_after text, batch integer)
RETURNS TABLE (key text, item jsonb, more boolean)
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT * FROM public.export_page('person', section, public.session_user_id(), tenant, key_after, batch)
$$;
