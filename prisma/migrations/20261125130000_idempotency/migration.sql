-- Requests with an Idempotency-Key: sent again within a day, they get the first result instead of a
-- second effect. `key_hash` is the SHA-256 of the key, `request_hash` of everything that the request
-- asked for, `result` the encrypted result (NULL while nothing was done).
CREATE TABLE "idempotency_keys" (
  "user_id" bigint NOT NULL,
  "key_hash" bytea NOT NULL CHECK (octet_length("key_hash") = 32),
  "tenant_id" uuid,
  "request_hash" bytea NOT NULL CHECK (octet_length("request_hash") = 32),
  "result" bytea,
  "created_at" timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "idempotency_keys_pkey" PRIMARY KEY ("user_id", "key_hash"),
  CONSTRAINT "idempotency_keys_user_id_fkey" FOREIGN KEY ("user_id")
    REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
  CONSTRAINT "idempotency_keys_tenant_id_fkey" FOREIGN KEY ("tenant_id")
    REFERENCES "tenants" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "idempotency_keys_tenant_id_idx" ON "idempotency_keys" ("tenant_id");
CREATE INDEX "idempotency_keys_created_at_idx" ON "idempotency_keys" ("created_at");

-- Not FORCEd: prune_idempotency_keys reads it as its owner.
ALTER TABLE "idempotency_keys" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "owner_scope" ON "idempotency_keys"
  USING ("user_id" = (SELECT current_user_id())) WITH CHECK ("user_id" = (SELECT current_user_id()));

-- Deletes one batch of keys that are older than a day.
CREATE FUNCTION "prune_idempotency_keys"(batch integer) RETURNS integer
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  deleted integer;
BEGIN
  DELETE FROM public.idempotency_keys k WHERE (k.user_id, k.key_hash) IN (
    SELECT o.user_id, o.key_hash FROM public.idempotency_keys o
    WHERE o.created_at < now() - interval '1 day' LIMIT batch);
  GET DIAGNOSTICS deleted = ROW_COUNT;
  RETURN deleted;
END
$$;
REVOKE ALL ON FUNCTION "prune_idempotency_keys"(integer) FROM PUBLIC;

INSERT INTO "export_sections" VALUES
  ('person', 'idempotencyKeys', 'idempotency_keys', 'encode(r.key_hash, ''hex'')', 'text', 'r.user_id = $1', '{key_hash,request_hash,result}', false);
