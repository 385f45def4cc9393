-- Erasure. Access ends in one transaction, in constant time however much history there is. A worker deletes the rest in
-- batches (work_erasure).

-- Deletes a user, what belongs only to them, and the tenants of which they are the only member. Refuses the last admin
-- of an open tenant with other members. Outcome: erased, last-admin, no-user. `tenants` has the names of those that
-- refuse it, or the ids of the open ones that the user has left. Without sequential scans: if one tenant has most
-- members, PostgreSQL would read all memberships instead of using the keys.
CREATE OR REPLACE FUNCTION erase_person(person bigint)
RETURNS TABLE (outcome text, tenants text[], revocations uuid[])
LANGUAGE plpgsql VOLATILE ROWS 1 SET enable_seqscan = off AS $$
DECLARE
  tenant uuid;
BEGIN
  tenants := '{}';
  revocations := '{}';
  PERFORM public.lock_memberships_of(person);
  PERFORM FROM public.{users} u WHERE u.id = person FOR UPDATE;
  IF NOT FOUND THEN
    outcome := 'no-user';
    RETURN NEXT;
    RETURN;
  END IF;
  -- The locked row of the user prevents new memberships, so these are all of them.
  PERFORM public.lock_memberships_of(person);
  FOR tenant IN
    SELECT m.tenant_id FROM public.memberships m
    WHERE m.user_id = person AND m.role = public.managing_role() AND NOT public.is_closed(m.tenant_id)
      AND EXISTS (SELECT FROM public.memberships o
                  WHERE o.tenant_id = m.tenant_id AND o.user_id <> person)
      AND NOT EXISTS (SELECT FROM public.memberships o
                      WHERE o.tenant_id = m.tenant_id AND o.user_id <> person AND o.role = public.managing_role())
    ORDER BY m.tenant_id
  LOOP
    tenants := tenants || public.tenant_name(tenant);
  END LOOP;
  IF cardinality(tenants) > 0 THEN
    outcome := 'last-admin';
    RETURN NEXT;
    RETURN;
  END IF;
  revocations := public.retire_grants(person, NULL);
  DELETE FROM public.invitations i WHERE i.email = ANY (public.verified_emails(person));
  FOR tenant IN SELECT m.tenant_id FROM public.memberships m WHERE m.user_id = person ORDER BY 1 LOOP
    IF NOT EXISTS (SELECT FROM public.memberships o WHERE o.tenant_id = tenant AND o.user_id <> person) THEN
      PERFORM public.close_tenant(tenant);
    ELSIF NOT public.is_closed(tenant) THEN
      tenants := tenants || tenant::text;
    END IF;
    PERFORM public.remove_membership(tenant, person);
  END LOOP;
  PERFORM pg_advisory_xact_lock(7165230421);
  PERFORM public.note_erased_user(person);
  DELETE FROM public.users u WHERE u.id = person;
  outcome := 'erased';
  RETURN NEXT;
END
$$;

-- Queues the erasure of a deleted user.
CREATE OR REPLACE FUNCTION note_erasure() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO public.erasures (kind, user_id) VALUES ('person', OLD.id);
  PERFORM pg_advisory_xact_lock(7165230421);
  UPDATE public.tenants t SET name = 'Tenant ' || left(t.id::text, 8) WHERE t.id = OLD.own_tenant_id;
  RETURN OLD;
END
$$;

-- Closes the active tenant of an admin's session if `confirmed_name` is its name, and removes the admin. The session
-- gets a new id and the tenant that was active before, or ends. Outcome: moved, ended, no-admin, other-name,
-- session-ended.
CREATE OR REPLACE FUNCTION delete_tenant(credential bytea, new_credential bytea, confirmed_name text)
RETURNS TABLE (outcome text, user_id bigint, tenant_id uuid, revocations uuid[])
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
  current_session record;
  next_tenant uuid;
  is_admin boolean;
  is_named boolean;
BEGIN
  SELECT s.id, s.user_id, s.tenant_id INTO current_session FROM public.sessions s
    WHERE s.id_hash = sha256(credential) AND s.expires_at > now() AND s.user_id IS NOT NULL;
  user_id := current_session.user_id;
  tenant_id := current_session.tenant_id;
  is_admin := EXISTS (
    SELECT FROM public.memberships m WHERE m.tenant_id = current_session.tenant_id
      AND m.user_id = current_session.user_id AND m.role = public.managing_role());
  is_named := public.tenant_name(current_session.tenant_id) = confirmed_name;
  IF is_admin AND is_named THEN
    PERFORM FROM public.{tenants} t WHERE t.id = current_session.tenant_id FOR UPDATE;
    PERFORM FROM public.{memberships} m WHERE m.tenant_id = current_session.tenant_id
      AND m.user_id = current_session.user_id AND m.role = public.managing_role() FOR UPDATE;
    is_admin := FOUND;
  END IF;
  PERFORM FROM public.sessions s WHERE s.id = current_session.id AND s.id_hash = sha256(credential)
    AND NOT public.is_closed(s.tenant_id) FOR UPDATE;
  outcome := CASE
    WHEN NOT FOUND THEN 'session-ended'
    WHEN NOT is_admin THEN 'no-admin'
    WHEN is_named THEN 'ended'
    ELSE 'other-name'
  END;
  IF outcome <> 'ended' THEN RETURN NEXT; RETURN; END IF;
  PERFORM pg_advisory_xact_lock(7165230421);
  next_tenant := public.activate_other_tenant(current_session.user_id, current_session.tenant_id);
  IF next_tenant IS NOT NULL THEN
    outcome := 'moved';
    UPDATE public.sessions s SET tenant_id = next_tenant, id_hash = sha256(new_credential)
      WHERE s.id = current_session.id;
  END IF;
  PERFORM public.close_tenant(current_session.tenant_id);
  SELECT r.revocations INTO revocations
    FROM public.remove_membership(current_session.tenant_id, current_session.user_id) r;
  RETURN NEXT;
END
$$;

-- Ends all access to a tenant, in constant time: no credential and no job enters a closed tenant, and its members count
-- as members nowhere. Waits for the writes in the tenant, which hold it FOR KEY SHARE. Queues the deletion of its
-- members (end_memberships) and rows (purge_tenant).
CREATE OR REPLACE FUNCTION close_tenant(tenant uuid) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  closing timestamptz := now(); -- the same on every node
BEGIN
  PERFORM FROM public.{tenants} t WHERE t.id = tenant FOR UPDATE;
  PERFORM pg_advisory_xact_lock(7165230421);
  UPDATE public.tenants t SET closed_at = closing, billing_customer = NULL, plan = NULL, subscription_status = NULL,
      subscription_period_end = NULL, subscription_cancels_at = NULL, seats = NULL
    WHERE t.id = tenant AND t.closed_at IS NULL;
  IF NOT FOUND THEN RETURN; END IF;
  -- The plan ends with the tenant: billing events change a plan through the user's own tenant, so it could never end
  -- later.
  UPDATE public.users u SET own_tenant_id = NULL, plan = NULL, subscription_status = NULL,
      subscription_period_end = NULL, subscription_cancels_at = NULL
    WHERE u.own_tenant_id = tenant;
  INSERT INTO public.erasures (kind, tenant_id) VALUES ('tenant', tenant);
END
$$;

-- Deletes one batch of the rows of a closed tenant without members, and finally the tenant. Returns true if nothing is
-- left, also for an open tenant. Audit entries about a person stay with the person and lose the tenant. Jobs are
-- deleted last: a worker adds a job for the next attempt only while it has locked the delivery. Tables that are not
-- named here have few rows, which foreign keys delete.
CREATE OR REPLACE FUNCTION purge_tenant(tenant uuid, batch integer) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  person bigint;
  purged integer;
  source record;
  scope_text text;
BEGIN
  IF NOT public.is_closed(tenant) THEN RETURN true; END IF;
  IF EXISTS (SELECT FROM public.memberships m WHERE m.tenant_id = tenant) THEN RETURN false; END IF;
  scope_text := public.set_scope('erasure', '', NULL, tenant);
  DELETE FROM public.deliveries d WHERE d.tenant_id = tenant AND d.id IN (
    SELECT o.id FROM public.deliveries o WHERE o.tenant_id = tenant LIMIT batch);
  GET DIAGNOSTICS purged = ROW_COUNT;
  IF purged = batch THEN RETURN false; END IF;
  DELETE FROM public.outbound_events e WHERE e.tenant_id = tenant AND e.id IN (
    SELECT o.id FROM public.outbound_events o WHERE o.tenant_id = tenant ORDER BY o.id LIMIT batch);
  GET DIAGNOSTICS purged = ROW_COUNT;
  IF purged = batch THEN RETURN false; END IF;
  -- Rows in folders go before the folders.
  FOR source IN
    SELECT * FROM (VALUES
      (1, 'endpoint_replays', 'id', 'id'), (2, 'notifications', 'id', 'id'),
      (4, 'folders', 'id', 'depth DESC'), (5, 'team_members', 'team_id, user_id', 'team_id'),
      (6, 'teams', 'id', 'id'), (7, 'invitations', 'id', 'id'),
      (8, 'idempotency_keys', 'holder, key_hash', 'holder')
    ) t ("step", "name", "key", "order")
    UNION ALL SELECT 3, d.name, 'id', 'id' FROM public.declared_tables() d
    ORDER BY 1, 2
  LOOP
    EXECUTE format('DELETE FROM public.%1$I WHERE tenant_id = $1 AND (%2$s) IN (
        SELECT %2$s FROM public.%1$I WHERE tenant_id = $1 ORDER BY %3$s LIMIT $2)',
      source."name", source."key", source."order") USING tenant, batch;
    GET DIAGNOSTICS purged = ROW_COUNT;
    IF purged = batch THEN RETURN false; END IF;
  END LOOP;
  UPDATE public.token_revocations r SET tenant_id = NULL WHERE r.tenant_id = tenant;
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
  PERFORM pg_advisory_xact_lock(7165230421);
  DELETE FROM public.tenants t WHERE t.id = tenant;
  DELETE FROM public.tenant_usage u WHERE u.tenant_id = tenant;
  DELETE FROM public.usage_changes c WHERE c.tenant_id = tenant;
  DELETE FROM public.erasures e WHERE e.tenant_id = tenant AND e.kind <> 'tenant';
  DELETE FROM pgboss.job j WHERE j.data ->> 'tenantId' = tenant::text;
  RETURN true;
END
$$;

-- Deletes an endpoint of the current tenant and its open replays, in constant time. A worker deletes its deliveries,
-- finished replays and notifications. Returns false if there is no such endpoint. Runs as its caller, who may have
-- locked the endpoint: the owner has another connection to the node and would wait for that lock.
CREATE OR REPLACE FUNCTION drop_endpoint(tenant uuid, endpoint uuid) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  IF NOT public.delete_endpoint(tenant, endpoint) THEN RETURN false; END IF;
  DELETE FROM public.webhook_endpoints e WHERE e.tenant_id = tenant AND e.id = endpoint;
  IF NOT FOUND THEN RETURN false; END IF;
  DELETE FROM public.endpoint_replays r
    WHERE r.tenant_id = tenant AND r.endpoint_id = endpoint AND r.finished_at IS NULL;
  RETURN true;
END
$$;

-- Queues the deletion of the history of an endpoint of the current tenant, and permits this transaction to delete the
-- endpoint and its open replays (may_delete_endpoint). It changes no row on the node: the caller could not use the rows
-- of the tenant afterwards.
CREATE OR REPLACE FUNCTION delete_endpoint(tenant uuid, endpoint uuid) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF tenant IS DISTINCT FROM public.current_webhook_tenant_id() THEN RETURN false; END IF;
  PERFORM 1 FROM public.webhook_endpoints e WHERE e.tenant_id = tenant AND e.id = endpoint;
  IF NOT FOUND THEN RETURN false; END IF;
  INSERT INTO public.erasures (kind, tenant_id, endpoint_id) VALUES ('endpoint', tenant, endpoint);
  PERFORM public.put_setting('app.deletion', public.deletion_seal(endpoint));
  RETURN true;
END
$$;

-- Deletes one batch of the history of a deleted endpoint. Returns true if nothing is left, or if the endpoint still
-- exists, because the transaction that queued the erasure did not delete it. A deletion commits on the coordinator
-- first; until it commits on the node it holds the lock that this function waits for.
CREATE OR REPLACE FUNCTION purge_endpoint(tenant uuid, endpoint uuid, batch integer) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  purged integer;
  scope_text text := public.set_scope('erasure', '', NULL, tenant);
BEGIN
  PERFORM 1 FROM public.webhook_endpoints e WHERE e.tenant_id = tenant AND e.id = endpoint FOR KEY SHARE;
  IF FOUND THEN RETURN true; END IF;
  DELETE FROM public.deliveries d WHERE d.tenant_id = tenant AND d.id IN (
    SELECT o.id FROM public.deliveries o WHERE o.tenant_id = tenant AND o.endpoint_id = endpoint
    ORDER BY o.created_at LIMIT batch);
  GET DIAGNOSTICS purged = ROW_COUNT;
  IF purged = batch THEN RETURN false; END IF;
  DELETE FROM public.endpoint_replays r WHERE r.tenant_id = tenant AND r.id IN (
    SELECT o.id FROM public.endpoint_replays o WHERE o.tenant_id = tenant AND o.endpoint_id = endpoint LIMIT batch);
  GET DIAGNOSTICS purged = ROW_COUNT;
  IF purged = batch THEN RETURN false; END IF;
  DELETE FROM public.notifications n WHERE n.tenant_id = tenant AND n.id IN (
    SELECT o.id FROM public.notifications o WHERE o.tenant_id = tenant AND o.endpoint_id = endpoint LIMIT batch);
  GET DIAGNOSTICS purged = ROW_COUNT;
  RETURN purged < batch;
END
$$;

-- Does one batch of the erasure of a deleted user: deletes what they own in tables of declared resources, then their
-- keys of requests, then clears the inviter in invitations, then the client and what identifies the person in audit
-- entries. Returns true if nothing is left. Queues the erasure of events of each tenant in which they owned rows.
CREATE OR REPLACE FUNCTION purge_person(person bigint, batch integer) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  owned text;
  tenant uuid;
  remains boolean;
  changed integer;
  scope_text text := public.set_scope('erasure', '', person, NULL);
BEGIN
  FOR owned IN SELECT d.name FROM public.declared_tables() d WHERE d.scope = 'owner' ORDER BY 1 LOOP
    EXECUTE format('SELECT tenant_id FROM public.%I WHERE user_id = $1 ORDER BY tenant_id LIMIT 1', owned)
      INTO tenant USING person;
    CONTINUE WHEN tenant IS NULL;
    EXECUTE format('DELETE FROM public.%1$I WHERE tenant_id = $1 AND user_id = $2 AND id IN (
        SELECT id FROM public.%1$I WHERE tenant_id = $1 AND user_id = $2 ORDER BY id LIMIT $3)', owned)
      USING tenant, person, batch;
    EXECUTE format('SELECT EXISTS (SELECT FROM public.%I WHERE tenant_id = $1 AND user_id = $2)', owned)
      INTO remains USING tenant, person;
    IF NOT remains THEN
      INSERT INTO public.erasures (kind, user_id, tenant_id) VALUES ('events', person, tenant);
    END IF;
    RETURN false;
  END LOOP;
  DELETE FROM public.idempotency_keys k WHERE k.holder = 'person ' || person AND k.key_hash IN (
    SELECT o.key_hash FROM public.idempotency_keys o WHERE o.holder = 'person ' || person LIMIT batch);
  GET DIAGNOSTICS changed = ROW_COUNT;
  IF changed = batch THEN RETURN false; END IF;
  UPDATE public.invitations i SET invited_by = NULL WHERE i.id IN (
    SELECT o.id FROM public.invitations o WHERE o.invited_by = person LIMIT batch) AND i.invited_by = person;
  GET DIAGNOSTICS changed = ROW_COUNT;
  IF changed = batch THEN RETURN false; END IF;
  UPDATE public.audit_log a SET ip = NULL, user_agent = NULL WHERE a.id IN (
    SELECT o.id FROM public.audit_log o
    WHERE o.user_id = person AND (o.ip IS NOT NULL OR o.user_agent IS NOT NULL) LIMIT batch);
  GET DIAGNOSTICS changed = ROW_COUNT;
  IF changed = batch THEN RETURN false; END IF;
  UPDATE public.audit_log a SET target = 'user ' || person
    WHERE a.action = 'customer-link' AND a.target LIKE '% user ' || person;
  RETURN true;
END
$$;
