CREATE INDEX CONCURRENTLY "audit_log_tenant_id_outcome_id_idx" ON "audit_log" ("tenant_id", "outcome", "id");
