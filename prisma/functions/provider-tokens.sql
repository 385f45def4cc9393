-- Tokens of providers: the grant of an identity, its refresh, and tokens to revoke.

-- Finds the grant of an identity. `fresh` means that the access token is valid for margin_seconds, or for half its
-- lifetime if that is shorter.
CREATE OR REPLACE FUNCTION find_grant(grant_provider text, subject text, margin_seconds integer)
RETURNS TABLE (
  user_id bigint, access_token bytea, refresh_token bytea, scope text, expires_at timestamptz,
  generation integer, status text, refresh_attempt uuid, fresh boolean
) LANGUAGE sql STABLE SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
  SELECT i.user_id, g.access_token, g.refresh_token, g.scope, g.expires_at, g.generation,
         g.status, g.refresh_attempt,
         coalesce(now() < g.expires_at - least(make_interval(secs => margin_seconds),
                                               (g.expires_at - g.issued_at) / 2), true)
  FROM public.provider_grants g
  JOIN public.oauth_identities i USING (provider, provider_user_id)
  WHERE g.provider = grant_provider AND g.provider_user_id = subject
$$;

-- Records a refresh before its token is sent. Returns false if the grant has changed since it was read.
CREATE OR REPLACE FUNCTION mark_refresh(
  grant_provider text, subject text, read_generation integer, attempt uuid
) RETURNS boolean LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE public.provider_grants g SET refresh_attempt = attempt, updated_at = now()
    WHERE g.provider = grant_provider AND g.provider_user_id = subject
      AND g.generation = read_generation AND g.status = 'active' AND g.refresh_attempt IS NULL;
  RETURN FOUND;
END
$$;

-- Ends a refresh whose token the provider has not used up.
CREATE OR REPLACE FUNCTION clear_refresh(grant_provider text, subject text, attempt uuid) RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  UPDATE public.provider_grants g SET refresh_attempt = NULL, updated_at = now()
    WHERE g.provider = grant_provider AND g.provider_user_id = subject
      AND g.refresh_attempt = attempt
$$;

-- Requires a new sign-in for the grant. Returns false if the grant has another refresh attempt.
CREATE OR REPLACE FUNCTION end_refresh(
  grant_provider text, subject text, attempt uuid, drop_refresh_token boolean
) RETURNS boolean LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE public.provider_grants g SET status = 'needs-sign-in', updated_at = now(),
      refresh_token = CASE WHEN NOT drop_refresh_token THEN g.refresh_token END
    WHERE g.provider = grant_provider AND g.provider_user_id = subject
      AND g.refresh_attempt = attempt AND g.status = 'active';
  RETURN FOUND;
END
$$;

-- Stores the tokens of a refresh. Returns false if the grant was replaced or removed meanwhile.
CREATE OR REPLACE FUNCTION store_refreshed(
  grant_provider text, subject text, attempt uuid, new_access_token bytea, new_refresh_token bytea,
  new_scope text, expires_in integer
) RETURNS boolean LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE public.provider_grants g SET access_token = new_access_token,
      refresh_token = coalesce(new_refresh_token, g.refresh_token), scope = new_scope,
      issued_at = now(), expires_at = now() + make_interval(secs => expires_in),
      generation = g.generation + 1, status = 'active', refresh_attempt = NULL, updated_at = now()
    WHERE g.provider = grant_provider AND g.provider_user_id = subject
      AND g.refresh_attempt = attempt;
  RETURN FOUND;
END
$$;

-- Keeps a refresh token whose grant was removed or replaced meanwhile. Without a grant it must be revoked, and its id
-- is returned; with a new grant it becomes `superseded` and is revoked later.
CREATE OR REPLACE FUNCTION retire_late_token(
  grant_provider text, subject text, owner_id bigint, late_token bytea
) RETURNS uuid LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  replaced boolean;
  retired uuid;
BEGIN
  PERFORM FROM public.provider_grants g WHERE g.provider = grant_provider AND g.provider_user_id = subject FOR UPDATE;
  replaced := FOUND;
  INSERT INTO public.token_revocations (provider, provider_user_id, user_id, token, kind, status)
    VALUES (grant_provider, subject, owner_id, late_token, 'refresh_token',
            CASE WHEN replaced THEN 'superseded' ELSE 'revoking' END)
    RETURNING id INTO retired;
  RETURN CASE WHEN NOT replaced THEN retired END;
END
$$;

-- A provider token to revoke. A job names the random id of its row.
CREATE OR REPLACE FUNCTION find_revocation(revocation uuid) RETURNS SETOF token_revocations
LANGUAGE sql STABLE SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
  SELECT r.* FROM public.token_revocations r WHERE r.id = revocation AND r.status = 'revoking'
$$;

CREATE OR REPLACE FUNCTION settle_revocation(revocation uuid) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  DELETE FROM public.token_revocations r WHERE r.id = revocation AND r.status = 'revoking';
  RETURN FOUND;
END
$$;

CREATE OR REPLACE FUNCTION fail_revocation(revocation uuid, reason text, is_final boolean) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE public.token_revocations r
    SET attempts = r.attempts + 1, last_error = reason, tried_at = now(),
        status = CASE WHEN is_final THEN 'failed' ELSE 'revoking' END,
        failed_at = CASE WHEN is_final THEN coalesce(r.failed_at, now()) ELSE r.failed_at END
    WHERE r.id = revocation AND r.status = 'revoking';
  RETURN FOUND;
END
$$;

-- Starts another round for a batch of tokens that were not tried for `wait_seconds`; each returned id needs a job. A
-- superseded token waits until its grant is gone, because its revocation could revoke the grant that replaced it.
CREATE OR REPLACE FUNCTION retry_revocations(wait_seconds integer, batch integer) RETURNS SETOF uuid
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  UPDATE public.token_revocations r SET status = 'revoking', tried_at = now()
  WHERE r.id IN (
    SELECT o.id FROM public.token_revocations o
    WHERE o.tried_at < now() - make_interval(secs => wait_seconds)
      AND (o.status <> 'superseded' OR NOT EXISTS (
        SELECT FROM public.provider_grants g
        WHERE g.provider = o.provider AND g.provider_user_id = o.provider_user_id))
    ORDER BY o.tried_at LIMIT batch FOR UPDATE SKIP LOCKED)
  RETURNING r.id
$$;

-- Deletes a batch of tokens that are older than `max_days`, in any state.
CREATE OR REPLACE FUNCTION expire_revocations(max_days integer, batch integer)
RETURNS TABLE (provider text, user_id bigint, tenant_id uuid, status text)
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  DELETE FROM public.token_revocations r
  WHERE r.id IN (
    SELECT o.id FROM public.token_revocations o
    WHERE o.created_at < now() - make_interval(days => max_days)
    ORDER BY o.created_at LIMIT batch FOR UPDATE SKIP LOCKED)
  RETURNING r.provider, r.user_id, r.tenant_id, r.status
$$;
