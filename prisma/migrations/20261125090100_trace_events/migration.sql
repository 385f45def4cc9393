CREATE INDEX CONCURRENTLY "outbound_events_cause_idx" ON "outbound_events" ("tenant_id", "cause")
  WHERE "cause" IS NOT NULL;
