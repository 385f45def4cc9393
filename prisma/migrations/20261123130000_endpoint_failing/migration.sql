-- Deliveries exhausted since `failing_since`. An endpoint that fails already starts at 0 and is
-- disabled a little later. Processes of the release before do not count; they need not stop.
ALTER TABLE "webhook_endpoints" ADD COLUMN "exhausted_deliveries" integer NOT NULL DEFAULT 0;

-- Events of a replay whose job was added. The next page follows when as many have ended.
ALTER TABLE "billing_replays" ADD COLUMN "queued" integer NOT NULL DEFAULT 0;
