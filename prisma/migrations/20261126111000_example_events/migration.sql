-- An event of `…/test` with a chosen type: it reports no change, so the feed and the statistics leave
-- it out.
ALTER TABLE "outbound_events" ADD COLUMN "example" boolean NOT NULL DEFAULT false;
ALTER TABLE "deliveries" ADD COLUMN "example" boolean NOT NULL DEFAULT false;
