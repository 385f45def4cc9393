-- Erasure. Access ends in one transaction, in constant time however much history there is. A worker deletes the rest in
-- batches (work_erasure).

-- Deletes the account of the user of a session. Outcome: as erase_person, or session-ended.
CREATE OR REPLACE FUNCTION erase_account(credential bytea)
RETURNS TABLE (outcome text, user_id bigint, tenants text[], revocations uuid[])
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  outcome := 'session-ended';
  SELECT s.user_id INTO user_id FROM public.sessions s
    WHERE s.id_hash = sha256(credential) AND s.expires_at > now() AND s.user_id IS NOT NULL;
  PERFORM public.lock_memberships_of(user_id);
  PERFORM FROM public.sessions s WHERE s.id_hash = sha256(credential) AND s.user_id IS NOT NULL FOR UPDATE;
  IF FOUND AND user_id IS NOT NULL THEN
    SELECT e.outcome, e.tenants, e.revocations INTO outcome, tenants, revocations FROM public.erase_person(user_id) e;
  END IF;
  RETURN NEXT;
END
$$;

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
  PERFORM FROM public.users u WHERE u.id = person FOR UPDATE;
  IF NOT FOUND THEN outcome := 'no-user'; RETURN NEXT; RETURN; END IF;
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
  IF cardinality(tenants) > 0 THEN outcome := 'last-admin'; RETURN NEXT; RETURN; END IF;
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
  DELETE FROM public.users u WHERE u.id = person;
  outcome := 'erased';
  RETURN NEXT;
END
$$;

-- Deletes a user whose tenants are all closed, and returns the provider tokens to revoke. A worker does this later;
-- people who sign in before it need it at once.
CREATE OR REPLACE FUNCTION erase_departed(person bigint) RETURNS uuid[] LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  revocations uuid[] := '{}';
  tenant uuid;
BEGIN
  IF EXISTS (SELECT FROM public.memberships m JOIN public.tenants t ON t.id = m.tenant_id
             WHERE m.user_id = person AND t.closed_at IS NULL) THEN RETURN revocations; END IF;
  FOR tenant IN SELECT m.tenant_id FROM public.memberships m WHERE m.user_id = person ORDER BY 1 LOOP
    revocations := revocations || (SELECT r.revocations FROM public.remove_membership(tenant, person) r);
  END LOOP;
  RETURN revocations;
END
$$;

-- Queues the erasure of a deleted user. Renames their own tenant, whose name may contain theirs, to `Tenant` and its
-- id.
CREATE OR REPLACE FUNCTION note_erasure() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO public.erasures (kind, user_id) VALUES ('person', OLD.id);
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
    PERFORM FROM public.tenants t WHERE t.id = current_session.tenant_id FOR UPDATE;
    PERFORM FROM public.memberships m WHERE m.tenant_id = current_session.tenant_id
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
CREATE OR REPLACE FUNCTION close_tenant(tenant uuid) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  PERFORM FROM public.tenants t WHERE t.id = tenant FOR UPDATE;
  UPDATE public.tenants t SET closed_at = now(), billing_customer = NULL, plan = NULL, subscription_status = NULL,
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

-- Removes up to `batch` members of a closed tenant; users without another tenant are deleted. Returns the provider
-- tokens to revoke.
CREATE OR REPLACE FUNCTION end_memberships(tenant uuid, batch integer) RETURNS uuid[] LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  revocations uuid[] := '{}';
  member bigint;
BEGIN
  IF NOT public.is_closed(tenant) THEN RETURN revocations; END IF;
  FOR member IN
    SELECT m.user_id FROM public.memberships m WHERE m.tenant_id = tenant ORDER BY m.user_id LIMIT batch
  LOOP
    revocations := revocations || (SELECT r.revocations FROM public.remove_membership(tenant, member) r);
  END LOOP;
  RETURN revocations;
END
$$;

-- Returns the erasure that has waited longest, or NULL if none is due. Sets its worked_at first, so that a failing
-- erasure blocks no other. Erasures of events wait `settle_seconds`, until no attempt can store a response any more; an
-- erasure that was tried waits `rest_seconds`.
CREATE OR REPLACE FUNCTION claim_erasure(settle_seconds integer, rest_seconds integer) RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  claimed bigint;
BEGIN
  UPDATE public.erasures e SET worked_at = clock_timestamp() WHERE e.id = (
    SELECT o.id FROM public.erasures o
    WHERE (o.kind <> 'events' OR o.created_at <= now() - make_interval(secs => settle_seconds))
      AND (o.worked_at IS NULL OR o.worked_at <= now() - make_interval(secs => rest_seconds))
    ORDER BY o.worked_at NULLS FIRST, o.id LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING e.id INTO claimed;
  RETURN claimed;
END
$$;

-- Deletes one batch of an erasure. Locks its row, so that no other worker claims it meanwhile. `finished` is true if
-- nothing is left; `revocations` are provider tokens to revoke. Removing a member takes locks that their other tenants
-- wait for, so a batch has at most 100 members. Later batches delete the rows of the tenant.
CREATE OR REPLACE FUNCTION work_erasure(erasure bigint, batch integer, OUT finished boolean, OUT revocations uuid[])
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  due public.erasures;
  scope_text text;
BEGIN
  revocations := '{}';
  UPDATE public.erasures e SET worked_at = clock_timestamp() WHERE e.id = erasure RETURNING e.* INTO due;
  IF NOT FOUND THEN finished := true; RETURN; END IF;
  IF due.kind = 'tenant' AND public.is_closed(due.tenant_id)
    AND EXISTS (SELECT FROM public.memberships m WHERE m.tenant_id = due.tenant_id)
  THEN
    revocations := public.end_memberships(due.tenant_id, least(batch, 100));
    finished := false;
    scope_text := public.clear_scope();
    RETURN;
  END IF;
  finished := CASE due.kind
    WHEN 'tenant' THEN public.purge_tenant(due.tenant_id, batch)
    WHEN 'person' THEN public.purge_person(due.user_id, batch)
    WHEN 'events' THEN public.erase_events(erasure, due.user_id, due.tenant_id, batch)
    WHEN 'member' THEN public.purge_member(due.tenant_id, due.user_id, batch)
    WHEN 'endpoint' THEN public.purge_endpoint(due.tenant_id, due.endpoint_id, batch)
  END;
  IF finished THEN DELETE FROM public.erasures e WHERE e.id = erasure; END IF;
  scope_text := public.clear_scope();
END
$$;

-- The erasures that are not finished, and the age of the oldest in seconds, by kind.
CREATE OR REPLACE FUNCTION measure_erasures() RETURNS TABLE (kind text, open bigint, age double precision)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT e.kind, count(*), extract(epoch FROM now() - min(e.created_at))::float8
  FROM public.erasures e GROUP BY e.kind
$$;

-- Deletes one batch of the rows of a closed tenant without members, and finally the tenant. Returns true if nothing is
-- left, also for an open tenant. Audit entries about a person stay with the person and lose the tenant. Jobs are
-- deleted last: a worker adds a job for the next attempt only while it has locked the delivery. Tables that are not
-- named here have few rows, which foreign keys delete.
CREATE OR REPLACE FUNCTION purge_tenant(tenant uuid, batch integer) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  person bigint;
  purged integer;
  source record;
BEGIN
  IF NOT public.is_closed(tenant) THEN RETURN true; END IF;
  IF EXISTS (SELECT FROM public.memberships m WHERE m.tenant_id = tenant) THEN RETURN false; END IF;
  PERFORM public.set_scope('erasure', '', NULL, tenant);
  -- Rows in folders go before the folders.
  FOR source IN
    SELECT * FROM (VALUES
      (1, 'deliveries', 'id', 'id'), (2, 'outbound_events', 'id', 'id'), (3, 'endpoint_replays', 'id', 'id'),
      (4, 'notifications', 'id', 'id'),
      (6, 'folders', 'id', 'depth DESC'), (7, 'team_members', 'team_id, user_id', 'team_id'),
      (8, 'teams', 'id', 'id'), (9, 'invitations', 'id', 'id'),
      (10, 'idempotency_keys', 'holder, key_hash', 'holder')
    ) t ("step", "name", "key", "order")
    UNION ALL SELECT 5, d.name, 'id', 'id' FROM public.declared_tables() d
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
    SELECT a.user_id INTO person FROM public.audit_log a WHERE a.tenant_id = tenant AND a.user_id IS NOT NULL LIMIT 1;
    EXIT WHEN NOT FOUND;
    PERFORM public.set_scope('erasure', '', person, tenant);
    UPDATE public.audit_log a SET tenant_id = NULL, target = nullif(a.target, tenant::text)
      WHERE a.id IN (SELECT o.id FROM public.audit_log o
                     WHERE o.tenant_id = tenant AND o.user_id = person LIMIT batch);
    GET DIAGNOSTICS purged = ROW_COUNT;
    IF purged = batch THEN RETURN false; END IF;
  END LOOP;
  PERFORM public.set_scope('erasure', '', NULL, tenant);
  DELETE FROM public.tenants t WHERE t.id = tenant;
  DELETE FROM public.erasures e WHERE e.tenant_id = tenant AND e.kind <> 'tenant';
  DELETE FROM pgboss.job j WHERE j.data ->> 'tenantId' = tenant::text;
  RETURN true;
END
$$;

-- Deletes an endpoint of the current tenant and its open replays, in constant time. A worker deletes its deliveries,
-- finished replays and notifications. Returns false if there is no such endpoint.
CREATE OR REPLACE FUNCTION delete_endpoint(tenant uuid, endpoint uuid) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF tenant IS DISTINCT FROM public.current_webhook_tenant_id() THEN RETURN false; END IF;
  DELETE FROM public.webhook_endpoints e WHERE e.tenant_id = tenant AND e.id = endpoint;
  IF NOT FOUND THEN RETURN false; END IF;
  DELETE FROM public.endpoint_replays r
    WHERE r.tenant_id = tenant AND r.endpoint_id = endpoint AND r.finished_at IS NULL;
  INSERT INTO public.erasures (kind, tenant_id, endpoint_id) VALUES ('endpoint', tenant, endpoint);
  RETURN true;
END
$$;

-- Deletes one batch of the history of a deleted endpoint. Returns true if nothing is left.
CREATE OR REPLACE FUNCTION purge_endpoint(tenant uuid, endpoint uuid, batch integer) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  source text;
  purged integer;
BEGIN
  PERFORM public.set_scope('erasure', '', NULL, tenant);
  FOREACH source IN ARRAY ARRAY['deliveries', 'endpoint_replays', 'notifications'] LOOP
    EXECUTE format('DELETE FROM public.%1$I WHERE tenant_id = $1 AND id IN (
        SELECT id FROM public.%1$I WHERE tenant_id = $1 AND endpoint_id = $2 ORDER BY created_at LIMIT $3)', source)
      USING tenant, endpoint, batch;
    GET DIAGNOSTICS purged = ROW_COUNT;
    IF purged = batch THEN RETURN false; END IF;
  END LOOP;
  RETURN true;
END
$$;

-- Does one batch of the erasure of a former member: deletes the results of their requests, which no other member could
-- delete, then clears the author of what they have written, in every table with a column author_id, and what names them
-- as a member. Returns true if nothing is left. Does nothing once the person is a member again, or for a deleted tenant.
CREATE OR REPLACE FUNCTION purge_member(tenant uuid, member bigint, batch integer) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  written text;
  named text;
  changed integer;
  scope_text text;
BEGIN
  IF public.is_closed(tenant) THEN RETURN true; END IF;
  scope_text := public.set_scope('erasure', '', NULL, tenant);
  DELETE FROM public.idempotency_keys k
    WHERE k.holder = 'person ' || member AND k.tenant_id = tenant AND k.key_hash IN (
      SELECT o.key_hash FROM public.idempotency_keys o
      WHERE o.holder = 'person ' || member AND o.tenant_id = tenant LIMIT batch)
    AND NOT EXISTS (SELECT FROM public.memberships m WHERE m.tenant_id = tenant AND m.user_id = member);
  GET DIAGNOSTICS changed = ROW_COUNT;
  IF changed = batch THEN RETURN false; END IF;
  FOR written, named IN
    SELECT c.relname::text, a.attname::text FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
    WHERE a.attname = 'author_id' AND c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace
    UNION SELECT d.name, d.named FROM public.declared_members() d ORDER BY 1, 2
  LOOP
    EXECUTE format('UPDATE public.%1$I SET %2$I = NULL WHERE tenant_id = $1 AND %2$I = $2
        AND id IN (SELECT id FROM public.%1$I WHERE tenant_id = $1 AND %2$I = $2 ORDER BY id LIMIT $3)
        AND NOT EXISTS (SELECT FROM public.memberships m WHERE m.tenant_id = $1 AND m.user_id = $2)', written, named)
      USING tenant, member, batch;
    GET DIAGNOSTICS changed = ROW_COUNT;
    IF changed = batch THEN RETURN false; END IF;
  END LOOP;
  RETURN true;
END
$$;

-- Does one batch of the erasure of a deleted user: deletes what they own in tables of declared resources,
-- then their keys of requests, then clears the inviter in invitations, then the client and what identifies the person in
-- audit entries. Returns true if nothing is left. Queues the erasure of events of each tenant in which they owned rows.
CREATE OR REPLACE FUNCTION purge_person(person bigint, batch integer) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  owned text;
  tenant uuid;
  remains boolean;
  changed integer;
BEGIN
  PERFORM public.set_scope('erasure', '', person, NULL);
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

-- Removes personal data from one batch of events of a tenant, after the last one that was read. Returns true if none is
-- left. Events of the app stay as they are, and are never parsed: jsonb refuses some JSON that it may publish.
CREATE OR REPLACE FUNCTION erase_events(erasure bigint, person bigint, tenant uuid, batch integer) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  -- For each resource, the values that replace what the owner of a row wrote.
  erased constant jsonb := (
    SELECT coalesce(jsonb_object_agg(d.resource, d.erased), '{}') FROM public.declared_tables() d
    WHERE d.erased IS NOT NULL);
  after text := (SELECT e.cursor FROM public.erasures e WHERE e.id = erasure);
  read text[];
  of_app text[];
  ids text[];
  bodies text[];
  scope_text text := public.set_scope('erasure', '', NULL, tenant);
BEGIN
  read := ARRAY(
    SELECT e.id FROM public.outbound_events e WHERE e.tenant_id = tenant AND e.id > coalesce(after, '')
    ORDER BY e.id LIMIT batch);
  -- Read after the events: a type is registered before its events are published, and stays.
  of_app := ARRAY(SELECT t.name FROM public.app_event_types t);
  ids := ARRAY(
    SELECT e.id FROM public.outbound_events e
    WHERE e.tenant_id = tenant AND e.id = ANY (read) AND erased ? split_part(e.type, '.', 1)
      AND e.type <> ALL (of_app) AND strpos(e.body, '"userId":' || person || ',') > 0);
  SELECT array_agg(a.id), array_agg(a.body) INTO ids, bodies FROM (
    SELECT e.id, json_build_object('id', e.id, 'type', e.type, 'createdAt', e.body::jsonb -> 'createdAt',
        'data', (e.body::jsonb -> 'data') || (erased -> split_part(e.type, '.', 1)))::text AS body
    FROM public.outbound_events e
    WHERE e.tenant_id = tenant AND e.id = ANY (ids)
      AND NOT e.body::jsonb -> 'data' @> (erased -> split_part(e.type, '.', 1))
    FOR UPDATE) a;
  UPDATE public.delivery_attempts a SET response_excerpt = NULL
    FROM public.deliveries d
    WHERE d.tenant_id = tenant AND d.event_id = ANY (ids) AND a.tenant_id = tenant
      AND a.delivery_id = d.id;
  UPDATE public.outbound_events e SET body = made.body
    FROM unnest(ids, bodies) AS made (id, body) WHERE e.tenant_id = tenant AND e.id = made.id;
  UPDATE public.erasures e SET cursor = read[cardinality(read)] WHERE e.id = erasure;
  RETURN cardinality(read) < batch;
END
$$;
