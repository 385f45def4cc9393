CREATE INDEX CONCURRENTLY "deliveries_unusual_status_idx"
  ON "deliveries" ("tenant_id", "endpoint_id", "unusual_status", "created_at", "id") WHERE "unusual_status" IS NOT NULL;
