-- The latest probe of an endpoint (src/webhooks/probe): when it began, and its report.
ALTER TABLE "webhook_endpoints"
  ADD COLUMN "probed_at" timestamptz(6),
  ADD COLUMN "probe" jsonb;
