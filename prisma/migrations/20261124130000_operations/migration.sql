-- An operator can dismiss a dead event that need not be processed, with a reason: it is no longer
-- counted as dead, and not replayed with the dead events.

-- The wider condition holds for every existing row, so none is read to validate it.
ALTER TABLE "received_events"
  ADD COLUMN "dismissed_reason" text,
  DROP CONSTRAINT "received_events_status_check",
  ADD CONSTRAINT "received_events_status_check" CHECK ("status" IN
    ('recorded', 'processed', 'ignored', 'failed', 'dead', 'dismissed')) NOT VALID;
ALTER TABLE "billing_replays"
  DROP CONSTRAINT "billing_replays_status_check",
  ADD CONSTRAINT "billing_replays_status_check" CHECK ("status" IN
    ('recorded', 'processed', 'ignored', 'failed', 'dead', 'dismissed')) NOT VALID;

-- Dismisses an event if it is dead. Returns the status it had; NULL if there is no such event. The
-- web role may not write the state of events, so this is all it can change in one.
CREATE FUNCTION "dismiss_event"(event text, reason text) RETURNS text
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  before text;
BEGIN
  PERFORM public.session_user_id();
  SELECT e.status INTO before FROM public.received_events e WHERE e.event_id = event FOR UPDATE;
  IF before = 'dead' THEN
    UPDATE public.received_events e SET status = 'dismissed', dismissed_reason = reason
      WHERE e.event_id = event;
  END IF;
  RETURN before;
END
$$;

-- PostgreSQL lets everyone call a new function. `gatehouse migrate` names those that may.
REVOKE ALL ON FUNCTION "dismiss_event"(text, text) FROM PUBLIC;
