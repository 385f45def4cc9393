-- Reads the rows of each table once. Only other changes of the schema wait for it.

ALTER TABLE "orders"
  VALIDATE CONSTRAINT "orders_tenant_id_fkey";

ALTER TABLE "posts"
  VALIDATE CONSTRAINT "posts_tenant_id_fkey";

ALTER TABLE "invoices"
  VALIDATE CONSTRAINT "invoices_tenant_id_fkey";

ALTER TABLE "teams"
  VALIDATE CONSTRAINT "teams_tenant_id_fkey";

ALTER TABLE "team_members"
  VALIDATE CONSTRAINT "team_members_tenant_id_team_id_fkey",
  VALIDATE CONSTRAINT "team_members_tenant_id_user_id_fkey";

ALTER TABLE "folders"
  VALIDATE CONSTRAINT "folders_tenant_id_fkey";

ALTER TABLE "documents"
  VALIDATE CONSTRAINT "documents_tenant_id_fkey";

ALTER TABLE "webhook_endpoints"
  VALIDATE CONSTRAINT "webhook_endpoints_tenant_id_fkey";

ALTER TABLE "outbound_events"
  VALIDATE CONSTRAINT "outbound_events_tenant_id_fkey";

ALTER TABLE "deliveries"
  VALIDATE CONSTRAINT "deliveries_tenant_id_endpoint_id_fkey",
  VALIDATE CONSTRAINT "deliveries_tenant_id_event_id_fkey";

ALTER TABLE "delivery_attempts"
  VALIDATE CONSTRAINT "delivery_attempts_tenant_id_delivery_id_fkey";

ALTER TABLE "notifications"
  VALIDATE CONSTRAINT "notifications_tenant_id_endpoint_id_fkey";

ALTER TABLE "endpoint_replays"
  VALIDATE CONSTRAINT "endpoint_replays_tenant_id_endpoint_id_fkey";

ALTER TABLE "due_attempts"
  VALIDATE CONSTRAINT "due_attempts_tenant_id_delivery_id_fkey";
