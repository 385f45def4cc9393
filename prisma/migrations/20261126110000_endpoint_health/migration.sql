-- The facts from which the health of an endpoint is derived (src/webhooks/health): when the latest
-- period of failures ended, when the present one began, and how the latest attempt in it failed.
ALTER TABLE "webhook_endpoints"
  ADD COLUMN "healthy_since" timestamptz(6),
  ADD COLUMN "retrying_since" timestamptz(6),
  ADD COLUMN "failure_status" integer,
  ADD COLUMN "failure_cause" text;

-- The cause names addresses and errors of our network, as that of an attempt does: not for customers.
UPDATE "export_sections" SET "hidden" = "hidden" || '{failure_cause}'
  WHERE "section" = 'webhookEndpoints';
