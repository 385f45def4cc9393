-- Outbound webhooks: where to, what, and what became of it. Every table is under the tenant lock.

-- `enabled_at` begins the present life of an endpoint: created, or enabled again. Secrets are sealed.
CREATE TABLE "webhook_endpoints" (
  "tenant_id" uuid NOT NULL,
  "id" uuid NOT NULL DEFAULT gen_random_uuid(),
  "url" text NOT NULL CHECK (length("url") BETWEEN 1 AND 2048),
  "description" text CHECK (length("description") <= 500),
  "event_types" text[] CHECK (cardinality("event_types") > 0),
  "signature" text NOT NULL CHECK ("signature" IN ('spec', 'standard', 'both')),
  "secret" bytea NOT NULL,
  "previous_secret" bytea,
  "previous_secret_expires_at" timestamptz(6),
  "secret_rotated_at" timestamptz(6),
  "status" text NOT NULL DEFAULT 'active' CHECK ("status" IN ('active', 'failing', 'disabled')),
  "created_at" timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "enabled_at" timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "failing_since" timestamptz(6),
  "disabled_at" timestamptz(6),
  "last_success_at" timestamptz(6),
  CONSTRAINT "webhook_endpoints_pkey" PRIMARY KEY ("tenant_id", "id"),
  CONSTRAINT "webhook_endpoints_tenant_id_fkey" FOREIGN KEY ("tenant_id")
    REFERENCES "tenants" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
  CHECK (("previous_secret" IS NULL) = ("previous_secret_expires_at" IS NULL)),
  CHECK ("status" <> 'active' OR "failing_since" IS NULL),
  CHECK ("status" <> 'failing' OR "failing_since" IS NOT NULL),
  CHECK (("status" = 'disabled') = ("disabled_at" IS NOT NULL))
);

-- `body` is the exact text that is sent and signed. Rows become visible in the order of their
-- commits, not of `sequence`: a reader who stops below the oldest transaction still under way
-- (pg_snapshot_xmin) and orders by (xact_id, sequence) never passes one that commits late.
CREATE TABLE "outbound_events" (
  "tenant_id" uuid NOT NULL,
  "id" text NOT NULL CHECK ("id" ~ '^msg_[0-9A-Za-z_-]{16,64}$'),
  "type" text NOT NULL,
  "body" text NOT NULL,
  "created_at" timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "sequence" bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  "xact_id" xid8 NOT NULL DEFAULT pg_current_xact_id(),
  CONSTRAINT "outbound_events_pkey" PRIMARY KEY ("tenant_id", "id"),
  CONSTRAINT "outbound_events_tenant_id_fkey" FOREIGN KEY ("tenant_id")
    REFERENCES "tenants" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "outbound_events_tenant_id_xact_id_sequence_idx" ON "outbound_events" ("tenant_id", "xact_id", "sequence");
CREATE INDEX "outbound_events_tenant_id_created_at_idx" ON "outbound_events" ("tenant_id", "created_at");

-- One event for one endpoint. Series 0 is the schedule, every manual request begins the next one;
-- `attempts` counts within the present series. What changes with every attempt stands in no index,
-- and pages keep room, so that an update stays on its page.
CREATE TABLE "deliveries" (
  "tenant_id" uuid NOT NULL,
  "id" uuid NOT NULL DEFAULT gen_random_uuid(),
  "event_id" text NOT NULL,
  "endpoint_id" uuid NOT NULL,
  "event_type" text NOT NULL,
  "status" text NOT NULL DEFAULT 'pending' CHECK ("status" IN ('pending', 'succeeded', 'exhausted')),
  "series" integer NOT NULL DEFAULT 0,
  "attempts" integer NOT NULL DEFAULT 0,
  "next_attempt_at" timestamptz(6),
  "created_at" timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "finished_at" timestamptz(6),
  CONSTRAINT "deliveries_pkey" PRIMARY KEY ("tenant_id", "id"),
  CONSTRAINT "deliveries_tenant_id_event_id_fkey" FOREIGN KEY ("tenant_id", "event_id")
    REFERENCES "outbound_events" ("tenant_id", "id") ON DELETE CASCADE ON UPDATE CASCADE,
  CONSTRAINT "deliveries_tenant_id_endpoint_id_fkey" FOREIGN KEY ("tenant_id", "endpoint_id")
    REFERENCES "webhook_endpoints" ("tenant_id", "id") ON DELETE CASCADE ON UPDATE CASCADE,
  CHECK (("status" = 'pending') = ("finished_at" IS NULL)),
  CHECK ("status" = 'pending' OR "next_attempt_at" IS NULL)
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX "deliveries_tenant_id_event_id_endpoint_id_key" ON "deliveries" ("tenant_id", "event_id", "endpoint_id");
CREATE INDEX "deliveries_tenant_id_endpoint_id_created_at_idx" ON "deliveries" ("tenant_id", "endpoint_id", "created_at");

-- `error` is what the customer is told, `cause` what the operator needs to know.
CREATE TABLE "delivery_attempts" (
  "tenant_id" uuid NOT NULL,
  "delivery_id" uuid NOT NULL,
  "series" integer NOT NULL,
  "number" integer NOT NULL,
  "started_at" timestamptz(6) NOT NULL,
  "duration_ms" integer NOT NULL,
  "status_code" integer,
  "error" text,
  "cause" text,
  "response_excerpt" text,
  CONSTRAINT "delivery_attempts_pkey" PRIMARY KEY ("tenant_id", "delivery_id", "series", "number"),
  CONSTRAINT "delivery_attempts_tenant_id_delivery_id_fkey" FOREIGN KEY ("tenant_id", "delivery_id")
    REFERENCES "deliveries" ("tenant_id", "id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- What the owners of a tenant are told of an endpoint, by mail too when there is a mail server.
CREATE TABLE "notifications" (
  "tenant_id" uuid NOT NULL,
  "id" bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  "kind" text NOT NULL CHECK ("kind" IN ('endpoint.failing', 'endpoint.disabled', 'endpoint.recovered')),
  "endpoint_id" uuid NOT NULL,
  "message" text NOT NULL,
  "created_at" timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "mailed_at" timestamptz(6),
  CONSTRAINT "notifications_pkey" PRIMARY KEY ("tenant_id", "id"),
  CONSTRAINT "notifications_tenant_id_endpoint_id_fkey" FOREIGN KEY ("tenant_id", "endpoint_id")
    REFERENCES "webhook_endpoints" ("tenant_id", "id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "notifications_tenant_id_endpoint_id_created_at_idx" ON "notifications" ("tenant_id", "endpoint_id", "created_at");

-- One request to send a range of deliveries again, and how far it has come.
CREATE TABLE "endpoint_replays" (
  "tenant_id" uuid NOT NULL,
  "id" uuid NOT NULL DEFAULT gen_random_uuid(),
  "endpoint_id" uuid NOT NULL,
  "replay_from" timestamptz(6) NOT NULL,
  "replay_to" timestamptz(6) NOT NULL,
  "status" text CHECK ("status" IN ('pending', 'succeeded', 'exhausted')),
  "total" integer NOT NULL,
  "done" integer NOT NULL DEFAULT 0,
  "cursor_created_at" timestamptz(6),
  "cursor_delivery_id" uuid,
  "created_at" timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "finished_at" timestamptz(6),
  CONSTRAINT "endpoint_replays_pkey" PRIMARY KEY ("tenant_id", "id"),
  CONSTRAINT "endpoint_replays_tenant_id_endpoint_id_fkey" FOREIGN KEY ("tenant_id", "endpoint_id")
    REFERENCES "webhook_endpoints" ("tenant_id", "id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "endpoint_replays_tenant_id_endpoint_id_idx" ON "endpoint_replays" ("tenant_id", "endpoint_id");

ALTER TABLE "webhook_endpoints" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY "tenant_scope" ON "webhook_endpoints"
  USING ("tenant_id" = (SELECT current_tenant_id())) WITH CHECK ("tenant_id" = (SELECT current_tenant_id()));

ALTER TABLE "outbound_events" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY "tenant_scope" ON "outbound_events"
  USING ("tenant_id" = (SELECT current_tenant_id())) WITH CHECK ("tenant_id" = (SELECT current_tenant_id()));

ALTER TABLE "deliveries" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY "tenant_scope" ON "deliveries"
  USING ("tenant_id" = (SELECT current_tenant_id())) WITH CHECK ("tenant_id" = (SELECT current_tenant_id()));

ALTER TABLE "delivery_attempts" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY "tenant_scope" ON "delivery_attempts"
  USING ("tenant_id" = (SELECT current_tenant_id())) WITH CHECK ("tenant_id" = (SELECT current_tenant_id()));

ALTER TABLE "notifications" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY "tenant_scope" ON "notifications"
  USING ("tenant_id" = (SELECT current_tenant_id())) WITH CHECK ("tenant_id" = (SELECT current_tenant_id()));

ALTER TABLE "endpoint_replays" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY "tenant_scope" ON "endpoint_replays"
  USING ("tenant_id" = (SELECT current_tenant_id())) WITH CHECK ("tenant_id" = (SELECT current_tenant_id()));
