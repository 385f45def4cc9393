-- Submitted forms: the same form submitted twice has one effect, and a secret that it created is
-- shown once. `form_hash` is the SHA-256 of the form with its random id, `location` where its result
-- is shown (NULL until it has one), `secret` the encrypted secret until it is shown.
CREATE TABLE "form_submissions" (
  "user_id" bigint NOT NULL,
  "form_hash" bytea NOT NULL CHECK (octet_length("form_hash") = 32),
  "location" text,
  "secret" bytea,
  "created_at" timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "form_submissions_pkey" PRIMARY KEY ("user_id", "form_hash"),
  CONSTRAINT "form_submissions_user_id_fkey" FOREIGN KEY ("user_id")
    REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "form_submissions_created_at_idx" ON "form_submissions" ("created_at");

-- Not FORCEd: prune_form_submissions reads it as its owner.
ALTER TABLE "form_submissions" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "owner_scope" ON "form_submissions"
  USING ("user_id" = (SELECT current_user_id())) WITH CHECK ("user_id" = (SELECT current_user_id()));

-- Deletes one batch of submissions that are older than a day, and secrets that were not fetched
-- within five minutes.
CREATE FUNCTION "prune_form_submissions"(batch integer) RETURNS integer
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  deleted integer;
BEGIN
  UPDATE public.form_submissions s SET secret = NULL
    WHERE s.secret IS NOT NULL AND s.created_at < now() - interval '5 minutes';
  DELETE FROM public.form_submissions s WHERE (s.user_id, s.form_hash) IN (
    SELECT o.user_id, o.form_hash FROM public.form_submissions o
    WHERE o.created_at < now() - interval '1 day' LIMIT batch);
  GET DIAGNOSTICS deleted = ROW_COUNT;
  RETURN deleted;
END
$$;
REVOKE ALL ON FUNCTION "prune_form_submissions"(integer) FROM PUBLIC;
