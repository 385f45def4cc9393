-- A sign-in that changes neither the person's name nor their address asks first. On a database that is
-- distributed with Citus a statement that could change people waits for all others, even if it finds
-- nothing.
CREATE OR REPLACE FUNCTION "record_name"(told text) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  attempt record := public.current_attempt('sign-in', 'link', 'reauthenticate');
  trimmed text := nullif(left(btrim(told), 200), '');
BEGIN
  IF NOT EXISTS (SELECT FROM public.users u
                 WHERE u.id = attempt.user_id AND trimmed IS NOT NULL AND u.name IS DISTINCT FROM trimmed)
  THEN RETURN; END IF;
  UPDATE public.users u SET name = trimmed
    WHERE u.id = attempt.user_id AND u.name IS DISTINCT FROM trimmed
      AND (attempt.purpose <> 'link' OR u.name IS NULL);
END
$$;

CREATE OR REPLACE FUNCTION "prove_address"(address text) RETURNS TABLE (user_id bigint, verified boolean)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  attempt record := public.current_attempt('sign-in', 'link', 'reauthenticate');
BEGIN
  IF attempt.user_id IS NULL THEN
    RAISE EXCEPTION 'nobody has signed in' USING ERRCODE = 'insufficient_privilege';
  END IF;
  IF NOT EXISTS (SELECT FROM public.users u WHERE u.id = attempt.user_id AND NOT u.email_verified)
  THEN RETURN; END IF;
  UPDATE public.users u SET email = address, email_verified = true
    WHERE u.id = attempt.user_id AND NOT u.email_verified AND NOT EXISTS (
      SELECT FROM public.users o
      WHERE lower(o.email COLLATE "C") = lower(address COLLATE "C") AND o.email_verified);
  IF NOT FOUND THEN RETURN; END IF;
  user_id := attempt.user_id;
  verified := true;
  RETURN NEXT;
  RETURN QUERY
    UPDATE public.users u SET email = NULL
    WHERE lower(u.email COLLATE "C") = lower(address COLLATE "C") AND NOT u.email_verified
    RETURNING u.id, false;
END
$$;
