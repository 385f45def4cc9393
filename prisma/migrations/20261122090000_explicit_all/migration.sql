-- An endpoint for every kind of event and a token without limits were a NULL array, which Prisma
-- reads as an empty one. A boolean column says it now, and the array is never NULL.
-- This is not an expand step (docs/upgrades.md): code from before this migration cannot write these
-- rows. Stop its processes first.

-- The owner is under row-level security, so an UPDATE would change no row. USING fills the values
-- while the table is rewritten, which no policy applies to. `created_at` keeps milliseconds, like a
-- JavaScript date, because it is part of a list's cursor.
ALTER TABLE "webhook_endpoints" DROP CONSTRAINT "webhook_endpoints_event_types_check";
ALTER TABLE "webhook_endpoints" ADD COLUMN "all_event_types" boolean NOT NULL DEFAULT true;
ALTER TABLE "webhook_endpoints"
  ALTER COLUMN "all_event_types" TYPE boolean USING "event_types" IS NULL,
  ALTER COLUMN "event_types" TYPE text[] USING COALESCE("event_types", '{}'),
  ALTER COLUMN "event_types" SET DEFAULT '{}',
  ALTER COLUMN "event_types" SET NOT NULL,
  ALTER COLUMN "created_at" TYPE timestamptz(3),
  ADD CONSTRAINT "webhook_endpoints_event_types_check"
    CHECK ("all_event_types" = (cardinality("event_types") = 0));

ALTER TABLE "api_tokens" ADD COLUMN "all_permissions" boolean NOT NULL DEFAULT false;
ALTER TABLE "api_tokens"
  ALTER COLUMN "all_permissions" TYPE boolean USING "permissions" IS NULL,
  ALTER COLUMN "permissions" TYPE text[] USING COALESCE("permissions", '{}'),
  ALTER COLUMN "permissions" SET DEFAULT '{}',
  ALTER COLUMN "permissions" SET NOT NULL,
  ALTER COLUMN "created_at" TYPE timestamptz(3),
  ALTER COLUMN "expires_at" TYPE timestamptz(3),
  ADD CONSTRAINT "api_tokens_permissions_check"
    CHECK (NOT "all_permissions" OR cardinality("permissions") = 0);
