-- What tells two installations on one database apart, and a clock that is wrong; null for processes of
-- the release before.
ALTER TABLE "running_processes"
  ADD COLUMN "base_url" text,
  ADD COLUMN "clock_offset_ms" bigint;
