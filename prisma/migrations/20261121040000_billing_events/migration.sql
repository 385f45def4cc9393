-- Received events as operators see them: filtered, replayed, kept for a time; and what is known
-- of the provider's objects.

-- The raw bytes go after their time, the row stays. Copies of a known id with another body are
-- counted; the first body stays.
ALTER TABLE "received_events"
  ALTER COLUMN "body" DROP NOT NULL,
  ADD COLUMN "other_bodies" integer NOT NULL DEFAULT 0,
  ADD COLUMN "outcome" text;

-- Pages are cut by (received_at, event_id); rows that need somebody's eye are few and have an
-- index of their own, so that finding them does not grow with what was processed.
DROP INDEX "received_events_received_at_idx";
CREATE INDEX "received_events_received_at_event_id_idx" ON "received_events" ("received_at", "event_id");
CREATE INDEX "received_events_unprocessed_idx" ON "received_events" ("status", "received_at", "event_id")
  WHERE "status" <> 'processed';

-- The newest state of a provider's object that was applied. `revision` moves with every one, so
-- that a state judged against an older row is judged again.
CREATE TABLE "billing_objects" (
  "object_id" text NOT NULL,
  "newest_created" double precision,
  "revision" bigint NOT NULL DEFAULT 1,
  "updated_at" timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "billing_objects_pkey" PRIMARY KEY ("object_id")
);

-- One request to run many events again, and how far it has come.
CREATE TABLE "billing_replays" (
  "id" uuid NOT NULL,
  "status" text CHECK ("status" IN ('recorded', 'processed', 'ignored', 'failed', 'dead')),
  "event_ids" text[],
  "received_from" timestamptz(6),
  "received_to" timestamptz(6) NOT NULL,
  "total" integer NOT NULL,
  "succeeded" integer NOT NULL DEFAULT 0,
  "failed" integer NOT NULL DEFAULT 0,
  "cursor_received_at" timestamptz(6),
  "cursor_event_id" text,
  "created_at" timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "finished_at" timestamptz(6),
  CONSTRAINT "billing_replays_pkey" PRIMARY KEY ("id"),
  CHECK ("status" IS NOT NULL OR "event_ids" IS NOT NULL)
);

-- The bytes as received are evidence: they can be let go of, never changed.
CREATE FUNCTION "refuse_changed_body"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW."body" IS NOT NULL AND NEW."body" IS DISTINCT FROM OLD."body" THEN
    RAISE EXCEPTION 'a received body is never changed' USING ERRCODE = '42501';
  END IF;
  RETURN NEW;
END
$$;
CREATE TRIGGER "received_body_is_kept" BEFORE UPDATE OF "body" ON "received_events"
  FOR EACH ROW EXECUTE FUNCTION "refuse_changed_body"();
