-- No id of a row ever changes, so ON UPDATE CASCADE of these keys has never fired. A distributed table
-- (Citus) may not have it on a key with the column that it is distributed by. NOT VALID, because the
-- rows satisfied the key before: the next migration reads them without keeping writers out.

ALTER TABLE "orders"
  DROP CONSTRAINT "orders_tenant_id_fkey",
  ADD CONSTRAINT "orders_tenant_id_fkey" FOREIGN KEY ("tenant_id")
    REFERENCES "tenants" ("id") ON DELETE CASCADE ON UPDATE NO ACTION NOT VALID;

ALTER TABLE "posts"
  DROP CONSTRAINT "posts_tenant_id_fkey",
  ADD CONSTRAINT "posts_tenant_id_fkey" FOREIGN KEY ("tenant_id")
    REFERENCES "tenants" ("id") ON DELETE CASCADE ON UPDATE NO ACTION NOT VALID;

ALTER TABLE "invoices"
  DROP CONSTRAINT "invoices_tenant_id_fkey",
  ADD CONSTRAINT "invoices_tenant_id_fkey" FOREIGN KEY ("tenant_id")
    REFERENCES "tenants" ("id") ON DELETE CASCADE ON UPDATE NO ACTION NOT VALID;

ALTER TABLE "teams"
  DROP CONSTRAINT "teams_tenant_id_fkey",
  ADD CONSTRAINT "teams_tenant_id_fkey" FOREIGN KEY ("tenant_id")
    REFERENCES "tenants" ("id") ON DELETE CASCADE ON UPDATE NO ACTION NOT VALID;

ALTER TABLE "team_members"
  DROP CONSTRAINT "team_members_tenant_id_team_id_fkey",
  ADD CONSTRAINT "team_members_tenant_id_team_id_fkey" FOREIGN KEY ("tenant_id", "team_id")
    REFERENCES "teams" ("tenant_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION NOT VALID,
  DROP CONSTRAINT "team_members_tenant_id_user_id_fkey",
  ADD CONSTRAINT "team_members_tenant_id_user_id_fkey" FOREIGN KEY ("tenant_id", "user_id")
    REFERENCES "memberships" ("tenant_id", "user_id") ON DELETE CASCADE ON UPDATE NO ACTION NOT VALID;

ALTER TABLE "folders"
  DROP CONSTRAINT "folders_tenant_id_fkey",
  ADD CONSTRAINT "folders_tenant_id_fkey" FOREIGN KEY ("tenant_id")
    REFERENCES "tenants" ("id") ON DELETE CASCADE ON UPDATE NO ACTION NOT VALID;

ALTER TABLE "documents"
  DROP CONSTRAINT "documents_tenant_id_fkey",
  ADD CONSTRAINT "documents_tenant_id_fkey" FOREIGN KEY ("tenant_id")
    REFERENCES "tenants" ("id") ON DELETE CASCADE ON UPDATE NO ACTION NOT VALID;

ALTER TABLE "webhook_endpoints"
  DROP CONSTRAINT "webhook_endpoints_tenant_id_fkey",
  ADD CONSTRAINT "webhook_endpoints_tenant_id_fkey" FOREIGN KEY ("tenant_id")
    REFERENCES "tenants" ("id") ON DELETE CASCADE ON UPDATE NO ACTION NOT VALID;

ALTER TABLE "outbound_events"
  DROP CONSTRAINT "outbound_events_tenant_id_fkey",
  ADD CONSTRAINT "outbound_events_tenant_id_fkey" FOREIGN KEY ("tenant_id")
    REFERENCES "tenants" ("id") ON DELETE CASCADE ON UPDATE NO ACTION NOT VALID;

ALTER TABLE "deliveries"
  DROP CONSTRAINT "deliveries_tenant_id_endpoint_id_fkey",
  ADD CONSTRAINT "deliveries_tenant_id_endpoint_id_fkey" FOREIGN KEY ("tenant_id", "endpoint_id")
    REFERENCES "webhook_endpoints" ("tenant_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION NOT VALID,
  DROP CONSTRAINT "deliveries_tenant_id_event_id_fkey",
  ADD CONSTRAINT "deliveries_tenant_id_event_id_fkey" FOREIGN KEY ("tenant_id", "event_id")
    REFERENCES "outbound_events" ("tenant_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION NOT VALID;

ALTER TABLE "delivery_attempts"
  DROP CONSTRAINT "delivery_attempts_tenant_id_delivery_id_fkey",
  ADD CONSTRAINT "delivery_attempts_tenant_id_delivery_id_fkey" FOREIGN KEY ("tenant_id", "delivery_id")
    REFERENCES "deliveries" ("tenant_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION NOT VALID;

ALTER TABLE "notifications"
  DROP CONSTRAINT "notifications_tenant_id_endpoint_id_fkey",
  ADD CONSTRAINT "notifications_tenant_id_endpoint_id_fkey" FOREIGN KEY ("tenant_id", "endpoint_id")
    REFERENCES "webhook_endpoints" ("tenant_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION NOT VALID;

ALTER TABLE "endpoint_replays"
  DROP CONSTRAINT "endpoint_replays_tenant_id_endpoint_id_fkey",
  ADD CONSTRAINT "endpoint_replays_tenant_id_endpoint_id_fkey" FOREIGN KEY ("tenant_id", "endpoint_id")
    REFERENCES "webhook_endpoints" ("tenant_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION NOT VALID;

ALTER TABLE "due_attempts"
  DROP CONSTRAINT "due_attempts_tenant_id_delivery_id_fkey",
  ADD CONSTRAINT "due_attempts_tenant_id_delivery_id_fkey" FOREIGN KEY ("tenant_id", "delivery_id")
    REFERENCES "deliveries" ("tenant_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION NOT VALID;
