-- Every filter of a list has its index, in the order of the list. Deliveries have none by status or
-- event type: an index by status would make every attempt write to all indexes of the row (no HOT
-- update), and the index by endpoint and time bounds both filters.

CREATE INDEX "orders_user_id_tenant_id_id_idx" ON "orders" ("user_id", "tenant_id", "id");
CREATE INDEX "orders_user_id_created_at_id_idx" ON "orders" ("user_id", "created_at", "id");

CREATE INDEX "posts_tenant_id_author_id_id_idx" ON "posts" ("tenant_id", "author_id", "id");
DROP INDEX "posts_tenant_id_author_id_idx";
CREATE INDEX "posts_tenant_id_department_id_idx" ON "posts" ("tenant_id", "department", "id");
CREATE INDEX "posts_tenant_id_created_at_id_idx" ON "posts" ("tenant_id", "created_at", "id");

CREATE INDEX "invoices_tenant_id_currency_id_idx" ON "invoices" ("tenant_id", "currency", "id");
CREATE INDEX "invoices_tenant_id_created_at_id_idx" ON "invoices" ("tenant_id", "created_at", "id");

CREATE INDEX "documents_tenant_id_folder_id_team_id_id_idx"
  ON "documents" ("tenant_id", "folder_id", "team_id", "id");
DROP INDEX "documents_tenant_id_folder_id_team_id_idx";
CREATE INDEX "documents_tenant_id_team_id_created_at_id_idx"
  ON "documents" ("tenant_id", "team_id", "created_at", "id");

CREATE INDEX "memberships_tenant_id_role_created_at_user_id_idx"
  ON "memberships" ("tenant_id", "role", "created_at", "user_id");
CREATE INDEX "memberships_tenant_id_department_created_at_user_id_idx"
  ON "memberships" ("tenant_id", "department", "created_at", "user_id");

CREATE INDEX "outbound_events_tenant_id_type_xact_id_sequence_idx"
  ON "outbound_events" ("tenant_id", "type", "xact_id", "sequence");

CREATE INDEX "audit_log_tenant_id_action_id_idx" ON "audit_log" ("tenant_id", "action", "id");
CREATE INDEX "audit_log_tenant_id_user_id_id_idx" ON "audit_log" ("tenant_id", "user_id", "id");
CREATE INDEX "audit_log_tenant_id_at_id_idx" ON "audit_log" ("tenant_id", "at", "id");
CREATE INDEX "audit_log_user_id_action_id_idx" ON "audit_log" ("user_id", "action", "id");
CREATE INDEX "audit_log_user_id_at_id_idx" ON "audit_log" ("user_id", "at", "id");
