-- Optional limits of an endpoint: deliveries per second, and only the id of an object instead of its
-- content. `rate_next_at` is the time from which the next delivery is within the limit, if the endpoint
-- had no burst (the theoretical arrival time of the generic cell rate algorithm).
ALTER TABLE "webhook_endpoints"
  ADD COLUMN "rate_per_second" integer CHECK ("rate_per_second" BETWEEN 1 AND 1000),
  ADD COLUMN "rate_burst" integer CHECK ("rate_burst" BETWEEN 1 AND 1000),
  ADD COLUMN "rate_next_at" timestamptz(6),
  ADD COLUMN "thin" boolean NOT NULL DEFAULT false,
  ADD CHECK (("rate_per_second" IS NULL) = ("rate_burst" IS NULL));

-- A delivery that waits for its endpoint and has no job: for its rate (then it is pending), or until it
-- recovers (then it is exhausted).
ALTER TABLE "deliveries" ADD COLUMN "held_for" text CHECK ("held_for" IN ('rate', 'recovery'));
