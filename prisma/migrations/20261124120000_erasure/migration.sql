-- Export and erasure: people download and delete what is kept about them, admins delete their tenant.
--
-- Access ends in one transaction: sessions, tokens, identities and memberships are gone when it
-- commits. What may be many rows is deleted afterwards by a worker, in batches: the rows of a deleted
-- tenant, and the copies of personal data in events and in the audit log (docs/privacy.md).

-- What is still to be erased. Only a tenant: everything of it. Only a user: their entries in the audit
-- log. Both: copies in that tenant's events. Rows are added by the functions below alone.
CREATE TABLE "erasures" (
  "id" bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  "tenant_id" uuid,
  "user_id" bigint,
  "created_at" timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "worked_at" timestamptz(6),
  CONSTRAINT "erasures_pkey" PRIMARY KEY ("id"),
  CHECK ("tenant_id" IS NOT NULL OR "user_id" IS NOT NULL)
);
CREATE INDEX "erasures_worked_at_id_idx" ON "erasures" ("worked_at", "id");
-- No policy: a privilege granted by mistake shows no row.
ALTER TABLE "erasures" ENABLE ROW LEVEL SECURITY;

-- These policies are for the owner of the functions below, and for no other role.
CREATE POLICY "erasure" ON "audit_log" TO CURRENT_USER USING (
  (SELECT current_scope_kind()) = 'erasure' AND (
    "tenant_id" = (SELECT current_tenant_id()) OR "user_id" = (SELECT current_user_id())
    OR "target" LIKE '%user ' || (SELECT current_user_id())));
CREATE POLICY "tenant_export" ON "orders" FOR SELECT TO CURRENT_USER USING (
  (SELECT current_scope_kind()) = 'tenant-export' AND "tenant_id" = (SELECT current_tenant_id()));
CREATE POLICY "tenant_export" ON "documents" FOR SELECT TO CURRENT_USER USING (
  (SELECT current_scope_kind()) = 'tenant-export' AND "tenant_id" = (SELECT current_tenant_id()));

-- Whichever way a user is deleted, copies of their data are erased too. A tenant of their own that
-- stays, because it has other members, may bear their name.
CREATE FUNCTION "note_erasure"() RETURNS trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  entered text := coalesce(current_setting('app.scope', true), '');
  scope_text text;
BEGIN
  scope_text := public.set_scope('erasure', '', OLD.id, OLD.own_tenant_id);
  INSERT INTO public.erasures (user_id, tenant_id)
    SELECT OLD.id, NULL
    UNION ALL
    SELECT DISTINCT OLD.id, o.tenant_id FROM public.orders o WHERE o.user_id = OLD.id;
  UPDATE public.tenants t SET name = 'Tenant ' || left(t.id::text, 8) WHERE t.id = OLD.own_tenant_id;
  scope_text := set_config('app.scope', entered, true);
  RETURN OLD;
END
$$;
CREATE TRIGGER "note_erasure" BEFORE DELETE ON "users"
  FOR EACH ROW EXECUTE FUNCTION "note_erasure"();

-- Ends all access to a tenant whose memberships the caller has locked, and leaves its rows to
-- work_erasure. A user without another membership goes too.
-- `revocations`: provider tokens that need a job each.
CREATE FUNCTION "close_tenant"(tenant uuid) RETURNS uuid[]
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  entered text := coalesce(current_setting('app.scope', true), '');
  revocations uuid[] := '{}';
  member bigint;
  scope_text text;
BEGIN
  scope_text := public.set_scope('erasure', '', NULL, tenant);
  UPDATE public.users u SET own_tenant_id = NULL WHERE u.own_tenant_id = tenant;
  UPDATE public.webhook_endpoints e SET status = 'disabled', disabled_at = now()
    WHERE e.tenant_id = tenant AND e.status <> 'disabled';
  DELETE FROM public.invitations i WHERE i.tenant_id = tenant;
  FOR member IN
    SELECT m.user_id FROM public.memberships m WHERE m.tenant_id = tenant ORDER BY m.user_id
  LOOP
    revocations := revocations ||
      (SELECT r.revocations FROM public.remove_membership(tenant, member) r);
  END LOOP;
  UPDATE public.token_revocations r SET tenant_id = NULL WHERE r.tenant_id = tenant;
  INSERT INTO public.erasures (tenant_id) VALUES (tenant);
  scope_text := set_config('app.scope', entered, true);
  RETURN revocations;
END
$$;

-- The name of a tenant, read in its own scope.
CREATE FUNCTION "tenant_name"(tenant uuid) RETURNS text
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  entered text := coalesce(current_setting('app.scope', true), '');
  found_name text;
  scope_text text;
BEGIN
  scope_text := public.set_scope('erasure', '', NULL, tenant);
  SELECT t.name INTO found_name FROM public.tenants t WHERE t.id = tenant;
  scope_text := set_config('app.scope', entered, true);
  RETURN found_name;
END
$$;

-- Locks the memberships that erase_person decides on, in the order in which they are locked
-- everywhere: per tenant the admins and the person.
CREATE FUNCTION "lock_memberships_of"(person bigint) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  PERFORM FROM public.memberships m
    WHERE m.tenant_id IN (SELECT own.tenant_id FROM public.memberships own WHERE own.user_id = person)
      AND (m.role = 'admin' OR m.user_id = person)
    ORDER BY m.tenant_id, m.user_id FOR UPDATE;
END
$$;

-- Deletes a user with everything that belongs to them alone, and the tenants of which they are the
-- only member. Refused for the last admin of a tenant with other members; `tenants` names those.
-- Outcome: erased, last-admin, no-user.
CREATE FUNCTION "erase_person"(person bigint)
RETURNS TABLE (outcome text, tenants text[], revocations uuid[])
LANGUAGE plpgsql VOLATILE ROWS 1 AS $$
DECLARE
  tenant uuid;
BEGIN
  tenants := '{}';
  revocations := '{}';
  PERFORM public.lock_memberships_of(person);
  PERFORM FROM public.users u WHERE u.id = person FOR UPDATE;
  IF NOT FOUND THEN
    outcome := 'no-user';
    RETURN NEXT;
    RETURN;
  END IF;
  -- Nobody joins a tenant while their own row is locked, so these are all of them.
  PERFORM public.lock_memberships_of(person);
  FOR tenant IN
    SELECT m.tenant_id FROM public.memberships m WHERE m.user_id = person AND m.role = 'admin'
      AND EXISTS (SELECT FROM public.memberships o
                  WHERE o.tenant_id = m.tenant_id AND o.user_id <> person)
      AND NOT EXISTS (SELECT FROM public.memberships o
                      WHERE o.tenant_id = m.tenant_id AND o.user_id <> person AND o.role = 'admin')
    ORDER BY m.tenant_id
  LOOP
    tenants := tenants || public.tenant_name(tenant);
  END LOOP;
  IF cardinality(tenants) > 0 THEN
    outcome := 'last-admin';
    RETURN NEXT;
    RETURN;
  END IF;
  WITH gone AS (
    DELETE FROM public.provider_grants g USING public.oauth_identities i
    WHERE i.user_id = person AND g.provider = i.provider
      AND g.provider_user_id = i.provider_user_id
    RETURNING g.*
  ), retired AS (
    INSERT INTO public.token_revocations AS r
      (provider, provider_user_id, user_id, token, kind, status)
    SELECT g.provider, g.provider_user_id, person, coalesce(g.refresh_token, g.access_token),
           CASE WHEN g.refresh_token IS NULL THEN 'access_token' ELSE 'refresh_token' END,
           'revoking'
    FROM gone g RETURNING r.id
  ), aside AS (
    UPDATE public.token_revocations r SET status = 'revoking'
    WHERE r.user_id = person AND r.status IN ('superseded', 'failed') RETURNING r.id
  )
  SELECT coalesce(array_agg(a.id), '{}') INTO revocations
    FROM (SELECT r.id FROM retired r UNION ALL SELECT s.id FROM aside s) a;
  DELETE FROM public.invitations i WHERE i.email = ANY (public.verified_emails(person));
  FOR tenant IN SELECT m.tenant_id FROM public.memberships m WHERE m.user_id = person ORDER BY 1 LOOP
    IF EXISTS (SELECT FROM public.memberships o
               WHERE o.tenant_id = tenant AND o.user_id <> person) THEN
      PERFORM public.remove_membership(tenant, person);
    ELSE
      revocations := revocations || public.close_tenant(tenant);
    END IF;
  END LOOP;
  DELETE FROM public.users u WHERE u.id = person;
  outcome := 'erased';
  RETURN NEXT;
END
$$;

-- Deletes the account of the person of a session. Outcome: as erase_person, or session-ended.
CREATE FUNCTION "erase_account"(credential bytea)
RETURNS TABLE (outcome text, user_id bigint, tenants text[], revocations uuid[])
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  outcome := 'session-ended';
  SELECT s.user_id INTO user_id FROM public.sessions s
    WHERE s.id_hash = sha256(credential) AND s.expires_at > now() AND s.user_id IS NOT NULL;
  PERFORM public.lock_memberships_of(user_id);
  PERFORM FROM public.sessions s WHERE s.id_hash = sha256(credential) AND s.user_id IS NOT NULL
    FOR UPDATE;
  IF FOUND AND user_id IS NOT NULL THEN
    SELECT e.outcome, e.tenants, e.revocations INTO outcome, tenants, revocations
      FROM public.erase_person(user_id) e;
  END IF;
  RETURN NEXT;
END
$$;

-- Deletes the active tenant of an admin's session, if `confirmed_name` is its name. The session moves
-- to the tenant that its user was active in before, under a new id, and ends where there is none.
-- Outcome: moved, ended, no-admin, other-name, session-ended.
CREATE FUNCTION "delete_tenant"(credential bytea, new_credential bytea, confirmed_name text)
RETURNS TABLE (outcome text, user_id bigint, tenant_id uuid, revocations uuid[])
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
  current_session record;
  next_tenant uuid;
  is_admin boolean;
BEGIN
  SELECT s.id, s.user_id, s.tenant_id INTO current_session FROM public.sessions s
    WHERE s.id_hash = sha256(credential) AND s.expires_at > now() AND s.user_id IS NOT NULL;
  user_id := current_session.user_id;
  tenant_id := current_session.tenant_id;
  PERFORM FROM public.memberships m WHERE m.tenant_id = current_session.tenant_id
    ORDER BY m.user_id FOR UPDATE;
  is_admin := EXISTS (
    SELECT FROM public.memberships m WHERE m.tenant_id = current_session.tenant_id
      AND m.user_id = current_session.user_id AND m.role = 'admin');
  PERFORM FROM public.sessions s
    WHERE s.id = current_session.id AND s.id_hash = sha256(credential) FOR UPDATE;
  outcome := CASE
    WHEN NOT FOUND THEN 'session-ended'
    WHEN NOT is_admin THEN 'no-admin'
    WHEN public.tenant_name(current_session.tenant_id) IS DISTINCT FROM confirmed_name
      THEN 'other-name'
    ELSE 'ended'
  END;
  IF outcome <> 'ended' THEN
    RETURN NEXT;
    RETURN;
  END IF;
  UPDATE public.memberships t SET last_active_at = now()
    WHERE t.user_id = current_session.user_id AND t.tenant_id = (
      SELECT m.tenant_id FROM public.memberships m
      WHERE m.user_id = current_session.user_id AND m.tenant_id <> current_session.tenant_id
      ORDER BY m.last_active_at DESC NULLS LAST, m.created_at DESC, m.tenant_id LIMIT 1)
    RETURNING t.tenant_id INTO next_tenant;
  IF next_tenant IS NOT NULL THEN
    outcome := 'moved';
    UPDATE public.sessions s SET tenant_id = next_tenant, id_hash = sha256(new_credential)
      WHERE s.id = current_session.id;
  END IF;
  revocations := public.close_tenant(current_session.tenant_id);
  RETURN NEXT;
END
$$;

-- The same for the command line, which runs as the owner: no other role may call these.

-- The user with this id, else with this verified address; NULL when there is none.
CREATE FUNCTION "find_person"(holder bigint, address text) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT u.id FROM public.users u WHERE u.id = holder
    OR holder IS NULL AND u.email_verified
       AND lower(u.email COLLATE "C") = lower(address COLLATE "C"));
END
$$;

-- Outcome: deleted, no-tenant, other-name.
CREATE FUNCTION "delete_tenant_named"(tenant uuid, confirmed_name text)
RETURNS TABLE (outcome text, revocations uuid[])
LANGUAGE plpgsql VOLATILE ROWS 1 AS $$
DECLARE
  known text := public.tenant_name(tenant);
BEGIN
  outcome := CASE
    WHEN known IS NULL THEN 'no-tenant'
    WHEN known IS DISTINCT FROM confirmed_name THEN 'other-name'
    ELSE 'deleted'
  END;
  IF outcome = 'deleted' THEN
    PERFORM FROM public.memberships m WHERE m.tenant_id = tenant ORDER BY m.user_id FOR UPDATE;
    revocations := public.close_tenant(tenant);
  END IF;
  RETURN NEXT;
END
$$;

-- The worker.

-- Deletes one batch of the rows of a tenant without members, and at last the tenant. True when
-- nothing is left. A tenant that has members is left alone. Entries of the audit log about a person
-- stay theirs and lose the tenant.
-- Jobs are deleted last: a worker that records an attempt holds its delivery, which is deleted
-- before, and adds a job for the next one only while there is a delivery.
CREATE FUNCTION "purge_tenant"(tenant uuid, batch integer) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  person bigint;
  purged integer;
  scope_text text;
BEGIN
  IF EXISTS (SELECT FROM public.memberships m WHERE m.tenant_id = tenant) THEN RETURN true; END IF;
  scope_text := public.set_scope('erasure', '', NULL, tenant);
  DELETE FROM public.outbound_events e WHERE e.tenant_id = tenant AND e.id IN (
    SELECT o.id FROM public.outbound_events o WHERE o.tenant_id = tenant LIMIT batch);
  GET DIAGNOSTICS purged = ROW_COUNT;
  IF purged = batch THEN RETURN false; END IF;
  DELETE FROM public.posts p WHERE p.tenant_id = tenant AND p.id IN (
    SELECT o.id FROM public.posts o WHERE o.tenant_id = tenant LIMIT batch);
  GET DIAGNOSTICS purged = ROW_COUNT;
  IF purged = batch THEN RETURN false; END IF;
  DELETE FROM public.audit_log a WHERE a.id IN (
    SELECT o.id FROM public.audit_log o WHERE o.tenant_id = tenant AND o.user_id IS NULL LIMIT batch);
  GET DIAGNOSTICS purged = ROW_COUNT;
  IF purged = batch THEN RETURN false; END IF;
  LOOP
    SELECT a.user_id INTO person FROM public.audit_log a
      WHERE a.tenant_id = tenant AND a.user_id IS NOT NULL LIMIT 1;
    EXIT WHEN NOT FOUND;
    scope_text := public.set_scope('erasure', '', person, tenant);
    UPDATE public.audit_log a SET tenant_id = NULL, target = nullif(a.target, tenant::text)
      WHERE a.id IN (SELECT o.id FROM public.audit_log o
                     WHERE o.tenant_id = tenant AND o.user_id = person LIMIT batch);
    GET DIAGNOSTICS purged = ROW_COUNT;
    IF purged = batch THEN RETURN false; END IF;
  END LOOP;
  scope_text := public.set_scope('erasure', '', NULL, tenant);
  DELETE FROM public.tenants t WHERE t.id = tenant;
  DELETE FROM public.erasures e WHERE e.tenant_id = tenant AND e.user_id IS NOT NULL;
  DELETE FROM pgboss.job j WHERE j.data ->> 'tenantId' = tenant::text;
  RETURN true;
END
$$;

-- Takes the client and what names the person out of one batch of audit entries. True when none is left.
CREATE FUNCTION "erase_audit"(person bigint, batch integer) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  changed integer;
  scope_text text := public.set_scope('erasure', '', person, NULL);
BEGIN
  UPDATE public.audit_log a SET target = 'user ' || person
    WHERE a.action = 'customer-link' AND a.target LIKE '% user ' || person;
  UPDATE public.audit_log a SET ip = NULL, user_agent = NULL WHERE a.id IN (
    SELECT o.id FROM public.audit_log o
    WHERE o.user_id = person AND (o.ip IS NOT NULL OR o.user_agent IS NOT NULL) LIMIT batch);
  GET DIAGNOSTICS changed = ROW_COUNT;
  RETURN changed < batch;
END
$$;

-- Replaces the address and card digits in one batch of events about orders of a deleted user, and
-- drops what receivers answered to them, since they may repeat it. True when none is left.
CREATE FUNCTION "erase_events"(person bigint, tenant uuid, batch integer) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  erased constant jsonb := '{"shippingAddress": {"name": "erased", "line1": "erased", "city": "erased", "postalCode": "erased", "country": "ZZ"}, "cardLast4": "0000"}';
  changed integer;
  scope_text text := public.set_scope('erasure', '', NULL, tenant);
BEGIN
  WITH about AS (
    SELECT e.id, e.body::jsonb AS body FROM public.outbound_events e
    WHERE e.tenant_id = tenant AND e.type = 'order.updated'
      AND strpos(e.body, '"userId":' || person || ',') > 0
      AND NOT e.body::jsonb -> 'data' @> erased
    LIMIT batch FOR UPDATE
  ), answers AS (
    UPDATE public.delivery_attempts a SET response_excerpt = NULL
    FROM public.deliveries d JOIN about ON about.id = d.event_id
    WHERE d.tenant_id = tenant AND a.tenant_id = tenant AND a.delivery_id = d.id
  )
  UPDATE public.outbound_events e SET body = json_build_object(
      'id', e.id, 'type', e.type, 'createdAt', about.body -> 'createdAt',
      'data', (about.body -> 'data') - 'shippingAddress' - 'cardLast4' || erased)::text
    FROM about WHERE e.tenant_id = tenant AND e.id = about.id;
  GET DIAGNOSTICS changed = ROW_COUNT;
  RETURN changed < batch;
END
$$;

-- The erasure that has waited longest, or NULL when none is due. Its time is noted first, so that one
-- that fails holds up no other. Copies are left alone for `settle_seconds`, so that no attempt under
-- way records an answer afterwards; one that was tried rests for `rest_seconds`.
CREATE FUNCTION "claim_erasure"(settle_seconds integer, rest_seconds integer) RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  claimed bigint;
BEGIN
  UPDATE public.erasures e SET worked_at = clock_timestamp() WHERE e.id = (
    SELECT o.id FROM public.erasures o
    WHERE (o.user_id IS NULL OR o.created_at <= now() - make_interval(secs => settle_seconds))
      AND (o.worked_at IS NULL OR o.worked_at <= now() - make_interval(secs => rest_seconds))
    ORDER BY o.worked_at NULLS FIRST, o.id LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING e.id INTO claimed;
  RETURN claimed;
END
$$;

-- Works on one batch of an erasure. True when nothing of it is left.
CREATE FUNCTION "work_erasure"(erasure bigint, batch integer) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  due record;
  finished boolean;
  scope_text text;
BEGIN
  SELECT e.user_id, e.tenant_id INTO due FROM public.erasures e WHERE e.id = erasure FOR UPDATE;
  IF NOT FOUND THEN RETURN true; END IF;
  finished := CASE
    WHEN due.user_id IS NULL THEN public.purge_tenant(due.tenant_id, batch)
    WHEN due.tenant_id IS NULL THEN public.erase_audit(due.user_id, batch)
    ELSE public.erase_events(due.user_id, due.tenant_id, batch)
  END;
  IF finished THEN DELETE FROM public.erasures e WHERE e.id = erasure; END IF;
  scope_text := public.clear_scope();
  RETURN finished;
END
$$;

-- Export, section by section in pages. A section is one table without its secrets.

-- The table `source` without the columns `hidden`, in the order of `key`; `condition` selects its rows:
-- $1 is the person, $2 the tenant. Sections of a person with `by_tenant` are read for each of their
-- tenants. A new table with data of people or tenants gets a row here in its migration.
CREATE TABLE "export_sections" (
  "kind" text NOT NULL CHECK ("kind" IN ('person', 'tenant')),
  "section" text NOT NULL,
  "source" text NOT NULL,
  "key" text NOT NULL,
  "key_type" text NOT NULL,
  "condition" text NOT NULL,
  "hidden" text[] NOT NULL DEFAULT '{}',
  "by_tenant" boolean NOT NULL,
  CONSTRAINT "export_sections_pkey" PRIMARY KEY ("kind", "section")
);
-- No policy: its text becomes part of statements, so only migrations may write it.
ALTER TABLE "export_sections" ENABLE ROW LEVEL SECURITY;
INSERT INTO "export_sections"
  ("kind", "section", "source", "key", "key_type", "condition", "hidden", "by_tenant")
VALUES
  ('person', 'profile', 'users', 'r.id', 'bigint', 'r.id = $1', '{}', false),
  ('person', 'identities', 'oauth_identities', 'r.provider || '' '' || r.provider_user_id', 'text', 'r.user_id = $1', '{}', false),
  ('person', 'providerGrants', 'provider_grants', 'r.provider || '' '' || r.provider_user_id', 'text',
   'EXISTS (SELECT FROM public.oauth_identities i WHERE i.provider = r.provider AND i.provider_user_id = r.provider_user_id AND i.user_id = $1)',
   '{access_token,refresh_token,refresh_attempt}', false),
  ('person', 'providerRevocations', 'token_revocations', 'r.id', 'uuid', 'r.user_id = $1', '{token}', false),
  ('person', 'sessions', 'sessions', 'r.id', 'uuid', 'r.user_id = $1', '{id_hash}', false),
  ('person', 'pendingSignIns', 'sign_in_attempts', 'encode(r.state_hash, ''hex'')', 'text',
   'r.user_id = $1 OR r.session_id IN (SELECT s.id FROM public.sessions s WHERE s.user_id = $1)',
   '{state_hash,nonce,code_verifier}', false),
  ('person', 'submittedForms', 'form_submissions', 'encode(r.form_hash, ''hex'')', 'text', 'r.user_id = $1', '{form_hash,secret}', false),
  ('person', 'apiTokens', 'api_tokens', 'r.id', 'uuid', 'r.user_id = $1', '{hash}', false),
  ('person', 'memberships', 'memberships', 'r.tenant_id', 'uuid', 'r.user_id = $1', '{}', false),
  ('person', 'invitationsReceived', 'invitations', 'r.id', 'uuid', 'r.email = ANY (public.verified_emails($1))', '{invited_by}', false),
  ('person', 'invitationsSent', 'invitations', 'r.id', 'uuid', 'r.invited_by = $1', '{}', false),
  ('person', 'orders', 'orders', 'r.id', 'bigint', 'r.user_id = $1', '{}', false),
  ('person', 'auditLog', 'audit_log', 'r.id', 'bigint', 'r.user_id = $1', '{}', false),
  ('person', 'tenants', 'tenants', 'r.id', 'uuid', 'r.id = $2', '{}', true),
  ('person', 'posts', 'posts', 'r.id', 'bigint', 'r.tenant_id = $2 AND r.author_id = $1', '{}', true),
  ('person', 'teamMemberships', 'team_members', 'r.team_id', 'bigint', 'r.tenant_id = $2 AND r.user_id = $1', '{}', true),
  ('person', 'documents', 'documents', 'r.id', 'bigint', 'r.tenant_id = $2', '{}', true),
  ('person', 'invoices', 'invoices', 'r.id', 'bigint',
   'r.tenant_id = $2 AND EXISTS (SELECT FROM public.users u WHERE u.id = $1 AND u.own_tenant_id = $2)', '{}', true),
  ('person', 'events', 'outbound_events', 'r.id', 'text',
   'r.tenant_id = $2 AND strpos(r.body, ''"userId":'' || $1 || '','') > 0', '{xact_id,sequence}', true),
  ('tenant', 'tenant', 'tenants', 'r.id', 'uuid', 'r.id = $2', '{}', false),
  ('tenant', 'users', 'users', 'r.id', 'bigint',
   'EXISTS (SELECT FROM public.memberships m WHERE m.tenant_id = $2 AND m.user_id = r.id)',
   '{email_verified,plan,billing_customer,own_tenant_id}', false),
  ('tenant', 'memberships', 'memberships', 'r.user_id', 'bigint', 'r.tenant_id = $2', '{}', false),
  ('tenant', 'invitations', 'invitations', 'r.id', 'uuid', 'r.tenant_id = $2', '{}', false),
  ('tenant', 'apiTokens', 'api_tokens', 'r.id', 'uuid', 'r.tenant_id = $2', '{hash}', false),
  ('tenant', 'orders', 'orders', 'r.id', 'bigint', 'r.tenant_id = $2', '{}', false),
  ('tenant', 'posts', 'posts', 'r.id', 'bigint', 'r.tenant_id = $2', '{}', false),
  ('tenant', 'invoices', 'invoices', 'r.id', 'bigint', 'r.tenant_id = $2', '{}', false),
  ('tenant', 'teams', 'teams', 'r.id', 'bigint', 'r.tenant_id = $2', '{}', false),
  ('tenant', 'teamMembers', 'team_members', 'r.team_id || '' '' || r.user_id', 'text', 'r.tenant_id = $2', '{}', false),
  ('tenant', 'folders', 'folders', 'r.id', 'bigint', 'r.tenant_id = $2', '{}', false),
  ('tenant', 'documents', 'documents', 'r.id', 'bigint', 'r.tenant_id = $2', '{}', false),
  ('tenant', 'webhookEndpoints', 'webhook_endpoints', 'r.id', 'uuid', 'r.tenant_id = $2', '{secret,previous_secret}', false),
  ('tenant', 'events', 'outbound_events', 'r.id', 'text', 'r.tenant_id = $2', '{xact_id,sequence}', false),
  ('tenant', 'deliveries', 'deliveries', 'r.id', 'uuid', 'r.tenant_id = $2', '{}', false),
  ('tenant', 'deliveryAttempts', 'delivery_attempts', 'r.delivery_id || '' '' || r.series || '' '' || r.number', 'text', 'r.tenant_id = $2', '{cause}', false),
  ('tenant', 'notifications', 'notifications', 'r.id', 'bigint', 'r.tenant_id = $2', '{}', false),
  ('tenant', 'endpointReplays', 'endpoint_replays', 'r.id', 'uuid', 'r.tenant_id = $2', '{}', false),
  ('tenant', 'auditLog', 'audit_log', 'r.id', 'bigint', 'r.tenant_id = $2', '{}', false);

-- One page of a section, in the order of its key; times in UTC. Afterwards the scope is that of the
-- caller again.
CREATE FUNCTION "export_page"(
  kind text, section text, person bigint, tenant uuid, key_after text, batch integer
) RETURNS TABLE (key text, item jsonb)
LANGUAGE plpgsql VOLATILE
SET "TimeZone" = 'UTC' AS $$
DECLARE
  entered text := coalesce(current_setting('app.scope', true), '');
  described record;
  scope_text text;
BEGIN
  SELECT s.* INTO described FROM public.export_sections s
    WHERE s.kind = export_page.kind AND s.section = export_page.section;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'no section % of a %', section, kind USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF kind = 'tenant' THEN
    scope_text := public.set_scope('tenant-export', '', NULL, tenant);
  ELSE
    scope_text := public.set_scope('export', '', person, NULL);
    IF described.by_tenant AND NOT EXISTS (
        SELECT FROM public.memberships m WHERE m.tenant_id = tenant AND m.user_id = person)
      AND NOT EXISTS (
        SELECT FROM public.orders o WHERE o.tenant_id = tenant AND o.user_id = person)
    THEN
      scope_text := set_config('app.scope', entered, true);
      RETURN;
    END IF;
    scope_text := public.set_scope('export', '', person,
      CASE WHEN described.by_tenant THEN tenant END);
  END IF;
  RETURN QUERY EXECUTE format(
      'SELECT (%1$s)::text, to_jsonb(r) - $3 FROM public.%2$I r
       WHERE (%3$s) AND ($4 IS NULL OR %1$s > $4::%4$s) ORDER BY %1$s LIMIT $5',
      described.key, described.source, described.condition, described.key_type)
    USING person, tenant, described.hidden, key_after, batch;
  scope_text := set_config('app.scope', entered, true);
END
$$;

-- About the person of a session.
CREATE FUNCTION "export_own"(section text, tenant uuid, key_after text, batch integer)
RETURNS TABLE (key text, item jsonb)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN QUERY SELECT * FROM public.export_page(
    'person', section, public.session_user_id(), tenant, key_after, batch);
END
$$;

-- PostgreSQL lets everyone call a new function. Here only those may whom `gatehouse migrate` names.
DO $$
DECLARE
  own regprocedure;
BEGIN
  FOR own IN SELECT p.oid FROM pg_proc p
    WHERE p.pronamespace = 'public'::regnamespace AND p.proowner = current_user::regrole
  LOOP
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', own);
  END LOOP;
END
$$;
