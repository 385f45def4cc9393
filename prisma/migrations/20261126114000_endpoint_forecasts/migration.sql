-- Warnings before an endpoint fails (src/webhooks/health/forecast.ts): the expiry of the certificate
-- that its receiver showed in the latest handshake, the warnings that hold, and the next look.
ALTER TABLE "webhook_endpoints"
  ADD COLUMN "certificate_expires_at" timestamptz(6),
  ADD COLUMN "forecasts" jsonb NOT NULL DEFAULT '[]',
  ADD COLUMN "forecast_at" timestamptz(6);

ALTER TABLE "notifications" DROP CONSTRAINT "notifications_kind_check";
ALTER TABLE "notifications" ADD CONSTRAINT "notifications_kind_check" CHECK ("kind" IN
  ('endpoint.failing', 'endpoint.disabled', 'endpoint.recovering', 'endpoint.recovered',
   'endpoint.certificate', 'endpoint.response-time', 'endpoint.success-rate')) NOT VALID;
ALTER TABLE "notifications" VALIDATE CONSTRAINT "notifications_kind_check";
