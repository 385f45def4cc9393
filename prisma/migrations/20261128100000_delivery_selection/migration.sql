-- The HTTP status of the latest attempt, 0 without a response, null before the first one. The unusual
-- ones, which have an index, are those other than 2xx: a delivery that succeeds at once then changes no
-- indexed column. The class (4 for 404) is a column of its own because under row-level security no index
-- on an expression with `/` is used.
ALTER TABLE "deliveries"
  ADD COLUMN "http_status" integer,
  ADD COLUMN "unusual_status" integer,
  ADD COLUMN "unusual_class" integer;

-- A replay of a selection: all filters of the list of deliveries, or the ids of deliveries.
ALTER TABLE "endpoint_replays"
  ADD COLUMN "event_type" text,
  ADD COLUMN "event_id" text,
  ADD COLUMN "http_status" text,
  ADD COLUMN "delivery_ids" uuid[] NOT NULL DEFAULT '{}',
  ADD COLUMN "cancelled_at" timestamptz(6);
