-- A credential opens a transaction: a session, an API, service or app token, a portal session, or a job of the worker. The program
-- sends the SHA-256 of a credential and the tables store the hash of that, so neither a row nor a logged statement
-- contains a usable one.

-- Makes another open tenant of the session's user the active one, gives the session a new id, and enters it.
-- Outcome: switched, no-member, session-ended.
CREATE OR REPLACE FUNCTION switch_tenant(credential bytea, new_credential bytea, target uuid)
RETURNS TABLE (outcome text, session_id uuid, user_id bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  is_closed boolean;
  scope_text text;
BEGIN
  SELECT s.id, s.user_id INTO session_id, user_id FROM public.sessions s
    WHERE s.id_hash = sha256(credential) AND s.expires_at > now() AND s.user_id IS NOT NULL;
  IF session_id IS NULL THEN
    outcome := 'session-ended';
    RETURN NEXT;
    RETURN;
  END IF;
  PERFORM pg_advisory_xact_lock(7165230421);
  is_closed := public.is_closed(target);
  UPDATE public.memberships m SET last_active_at = now()
    WHERE m.tenant_id = target AND m.user_id = switch_tenant.user_id AND NOT is_closed;
  IF NOT FOUND THEN
    outcome := 'no-member';
    RETURN NEXT;
    RETURN;
  END IF;
  UPDATE public.sessions s SET tenant_id = target, id_hash = sha256(new_credential)
    WHERE s.id_hash = sha256(credential);
  IF FOUND THEN
    outcome := 'switched';
    scope_text := public.set_scope('session', '', user_id, target);
  ELSE
    outcome := 'session-ended';
  END IF;
  RETURN NEXT;
END
$$;

-- Enters the tenant of active jobs of a queue. If it is closed or gone, the scope is a tenant that nobody has: the jobs
-- find nothing and end. A generic plan, because the number of jobs differs per call and planning each time took two
-- thirds of the function.
CREATE OR REPLACE FUNCTION enter_job(queue text, VARIADIC jobs uuid[])
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
  PERFORM FROM public.{tenants} t WHERE t.id = tenant_id AND t.closed_at IS NULL;
  IF NOT FOUND THEN
    tenant_id := '00000000-0000-0000-0000-000000000000';
  END IF;
  PERFORM pg_advisory_xact_lock_shared(hashtextextended('job ' || j::text, 0)) FROM unnest(jobs) AS j;
  scope_text := public.set_scope('job', '', NULL, tenant_id);
  RETURN NEXT;
END
$$;
