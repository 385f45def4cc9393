CREATE INDEX CONCURRENTLY "deliveries_unusual_class_idx"
  ON "deliveries" ("tenant_id", "endpoint_id", "unusual_class", "created_at", "id") WHERE "unusual_class" IS NOT NULL;
