CREATE INDEX CONCURRENTLY "deliveries_held_idx"
  ON "deliveries" ("tenant_id", "endpoint_id", "held_for", "created_at") WHERE "held_for" IS NOT NULL;
