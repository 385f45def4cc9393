-- The name of a person, as their provider told it at the latest sign-in. NULL if it told none.
ALTER TABLE "users" ADD COLUMN "name" text
  CONSTRAINT "users_name_check" CHECK (length("name") BETWEEN 1 AND 200);

-- Keeps the name that came with a sign-in. A link of a second identity changes no name.
CREATE FUNCTION "record_name"(told text) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  attempt record := public.current_attempt('sign-in', 'link', 'reauthenticate');
  trimmed text := nullif(left(btrim(told), 200), '');
BEGIN
  UPDATE public.users u SET name = trimmed
    WHERE u.id = attempt.user_id AND trimmed IS NOT NULL AND u.name IS DISTINCT FROM trimmed
      AND (attempt.purpose <> 'link' OR u.name IS NULL);
END
$$;
REVOKE ALL ON FUNCTION "record_name"(text) FROM PUBLIC;
