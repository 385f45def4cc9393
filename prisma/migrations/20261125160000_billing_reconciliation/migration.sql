-- Reconciliation with the billing provider: runs that read its list of events and record what never
-- arrived as a webhook.

-- NULL: the event came from the provider's list, so no secret has verified its bytes.
ALTER TABLE "received_events" ALTER COLUMN "secret_index" DROP NOT NULL;

-- One run over the events that the provider created from created_from until before created_to, and
-- how far it has come. The newest created_to of a finished scheduled run is where the next one begins.
CREATE TABLE "billing_reconciliations" (
  "id" uuid NOT NULL,
  "created_from" timestamptz(6) NOT NULL,
  "created_to" timestamptz(6) NOT NULL,
  "dry_run" boolean NOT NULL,
  "scheduled" boolean NOT NULL,
  "status" text NOT NULL DEFAULT 'running' CHECK ("status" IN ('running', 'finished', 'failed')),
  "cursor" text,
  "pages" integer NOT NULL DEFAULT 0,
  "seen" integer NOT NULL DEFAULT 0,
  "missed" integer NOT NULL DEFAULT 0,
  "different" integer NOT NULL DEFAULT 0,
  "refused" integer NOT NULL DEFAULT 0,
  "missed_ids" text[] NOT NULL DEFAULT '{}',
  "different_ids" text[] NOT NULL DEFAULT '{}',
  "error" text,
  "created_at" timestamptz(6) NOT NULL DEFAULT clock_timestamp(),
  "finished_at" timestamptz(6),
  CONSTRAINT "billing_reconciliations_pkey" PRIMARY KEY ("id"),
  CHECK ("created_from" < "created_to"),
  CHECK (("status" = 'running') = ("finished_at" IS NULL))
);
CREATE INDEX "billing_reconciliations_created_at_id_idx"
  ON "billing_reconciliations" ("created_at", "id");
CREATE INDEX "billing_reconciliations_watermark_idx" ON "billing_reconciliations" ("created_to")
  WHERE "scheduled" AND "status" = 'finished';
-- At most one scheduled run at a time, however many workers there are.
CREATE UNIQUE INDEX "billing_reconciliations_running_idx" ON "billing_reconciliations" ("scheduled")
  WHERE "scheduled" AND "status" = 'running';
