-- Replays of endpoints take turns: the one of its tenant whose last page is oldest comes next.
ALTER TABLE "endpoint_replays" ADD COLUMN "worked_at" timestamptz(6);
CREATE INDEX "endpoint_replays_open_idx" ON "endpoint_replays" ("tenant_id")
  WHERE "finished_at" IS NULL;

-- The keys that each process has, in their order, so that a rotation can be followed: ids of
-- encryption keys and short fingerprints of session secrets. A process renews `seen_at` while it runs
-- and sets `ended_at` when it stops.
CREATE TABLE "running_processes" (
  "id" uuid NOT NULL,
  "role" text NOT NULL,
  "encryption_keys" text[] NOT NULL,
  "session_secrets" text[] NOT NULL,
  "started_at" timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "seen_at" timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "ended_at" timestamptz(6),
  CONSTRAINT "running_processes_pkey" PRIMARY KEY ("id")
);
