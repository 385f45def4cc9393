-- Which database this is. A copy of it (a dump that was loaded elsewhere, a database made from it as a
-- template) contains the same jobs, and would send every webhook a second time. So the first worker
-- notes the cluster and the database; in another one workers do nothing until an operator adopts it.
CREATE TABLE "installation" (
  "id" boolean NOT NULL DEFAULT true CHECK ("id"), -- one row
  "place" text NOT NULL,
  "quarantined_at" timestamptz(6),
  "reason" text CHECK ("reason" IN ('copied', 'by-hand')),
  CONSTRAINT "installation_pkey" PRIMARY KEY ("id"),
  CONSTRAINT "installation_quarantine_check" CHECK (("quarantined_at" IS NULL) = ("reason" IS NULL))
);
-- No policy: only the functions below read and change it.
ALTER TABLE "installation" ENABLE ROW LEVEL SECURITY;

-- The cluster, whose identifier a standby shares with its primary, and the database in it.
CREATE FUNCTION "installation_place"() RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
RETURN (SELECT c.system_identifier FROM pg_control_system() c) || '/' ||
       (SELECT d.oid FROM pg_database d WHERE d.datname = current_database());

-- Why workers may not work, and since when; both NULL if they may. With `record`, as workers ask, it
-- notes the place the first time, and the quarantine when it is another place; it writes nothing else,
-- so every worker may ask often.
CREATE FUNCTION "installation_state"(
  record boolean, OUT quarantined_at timestamptz, OUT reason text
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  here text := public.installation_place();
  noted text;
BEGIN
  SELECT i.place, i.quarantined_at, i.reason INTO noted, quarantined_at, reason
    FROM public.installation i;
  IF noted IS NULL AND record THEN
    INSERT INTO public.installation (place) VALUES (here) ON CONFLICT DO NOTHING;
  ELSIF noted <> here AND quarantined_at IS NULL THEN
    quarantined_at := now();
    reason := 'copied';
    IF record THEN
      UPDATE public.installation i
        SET quarantined_at = installation_state.quarantined_at, reason = installation_state.reason
        WHERE i.quarantined_at IS NULL;
    END IF;
  END IF;
END
$$;

-- Ends a quarantine: from now on this database is the one that works.
CREATE FUNCTION "adopt_installation"() RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO public.installation (place) VALUES (public.installation_place())
    ON CONFLICT (id) DO UPDATE SET place = excluded.place, quarantined_at = NULL, reason = NULL;
END
$$;

-- For copies that cannot be told from the original: a base backup, a snapshot of a disk.
CREATE FUNCTION "quarantine_installation"() RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO public.installation AS i (place, quarantined_at, reason)
    VALUES (public.installation_place(), now(), 'by-hand')
    ON CONFLICT (id) DO UPDATE SET quarantined_at = now(), reason = 'by-hand'
    WHERE i.quarantined_at IS NULL;
END
$$;

REVOKE ALL ON FUNCTION "installation_place"(), "installation_state"(boolean), "adopt_installation"(),
  "quarantine_installation"() FROM PUBLIC;
