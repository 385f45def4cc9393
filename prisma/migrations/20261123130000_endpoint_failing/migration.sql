-- Deliveries exhausted since `failing_since`. An endpoint that fails already starts at 0 and is
-- disabled a little later. Processes of the release before do not count; they need not stop.
ALTER TABLE "webhook_endpoints" ADD COLUMN "exhausted_deliveries" integer NOT NULL DEFAULT 0;
