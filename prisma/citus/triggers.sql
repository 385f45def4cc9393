-- Triggers, and column defaults that call functions. `gatehouse migrate` drops every trigger of these tables
-- and creates these.

-- An identity never moves to another user, not even by the owner of the table. ALWAYS: the setting
-- session_replication_role does not switch it off.
CREATE TRIGGER identity_keeps_owner
  BEFORE UPDATE OF provider, provider_user_id, user_id, issuer ON oauth_identities
  FOR EACH ROW EXECUTE FUNCTION refuse_identity_change();

ALTER TABLE oauth_identities ENABLE ALWAYS TRIGGER identity_keeps_owner;

CREATE TRIGGER key_stays_in_tenant BEFORE UPDATE OF tenant_id ON idempotency_keys
  FOR EACH ROW WHEN (NEW.tenant_id IS NOT NULL AND NEW.tenant_id IS DISTINCT FROM OLD.tenant_id)
  EXECUTE FUNCTION refuse_foreign_tenant();

CREATE TRIGGER received_body_is_kept BEFORE UPDATE OF body ON received_events
  FOR EACH ROW EXECUTE FUNCTION refuse_changed_body();

-- Citus runs no triggers of reference tables. Instead of them, note_erased_user queues the erasure of a user, and the
-- functions that create and delete tenants add and remove their counters.

-- ---- Event feed ----

CREATE TRIGGER assign_feed_position BEFORE INSERT ON outbound_events
  FOR EACH ROW EXECUTE FUNCTION assign_feed_position();

-- ---- Commits on a node and the coordinator ----
-- These tables are on the coordinator and are written together with rows on a node. A change of a reference
-- table always has two phases.

CREATE SCHEMA IF NOT EXISTS distribution;

CREATE TABLE IF NOT EXISTS distribution.two_phase_commits (id integer PRIMARY KEY);

SELECT citus_add_local_table_to_metadata('distribution.two_phase_commits')
WHERE NOT EXISTS (
  SELECT 1 FROM pg_dist_partition WHERE logicalrelid = 'distribution.two_phase_commits'::regclass);

CREATE OR REPLACE TRIGGER lock_new_jobs AFTER INSERT ON pgboss.job_common REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION lock_new_jobs();

CREATE OR REPLACE TRIGGER commit_in_two_phases AFTER INSERT OR UPDATE OR DELETE ON pgboss.job_common
  FOR EACH STATEMENT EXECUTE FUNCTION commit_in_two_phases();

CREATE TRIGGER commit_in_two_phases AFTER INSERT OR UPDATE OR DELETE ON audit_log
  FOR EACH STATEMENT EXECUTE FUNCTION commit_in_two_phases();

CREATE TRIGGER commit_in_two_phases AFTER INSERT OR UPDATE ON idempotency_keys
  FOR EACH STATEMENT EXECUTE FUNCTION commit_in_two_phases();

CREATE TRIGGER commit_in_two_phases AFTER INSERT OR UPDATE OR DELETE ON invitations
  FOR EACH STATEMENT EXECUTE FUNCTION commit_in_two_phases();

CREATE TRIGGER commit_in_two_phases AFTER UPDATE ON received_events
  FOR EACH STATEMENT EXECUTE FUNCTION commit_in_two_phases();

CREATE TRIGGER commit_in_two_phases AFTER INSERT OR UPDATE ON billing_objects
  FOR EACH STATEMENT EXECUTE FUNCTION commit_in_two_phases();

CREATE TRIGGER commit_in_two_phases AFTER INSERT OR UPDATE OR DELETE ON erasures
  FOR EACH STATEMENT EXECUTE FUNCTION commit_in_two_phases();

-- ---- Services ----
-- The database fills in the service that writes the row, so that no statement can omit it.

ALTER TABLE audit_log ALTER COLUMN service_id SET DEFAULT current_service_id(),
  ALTER COLUMN service_name SET DEFAULT current_service_name(),
  ALTER COLUMN portal_session_id SET DEFAULT CASE WHEN current_scope_kind() = 'portal' THEN current_key_holder() END;

-- ---- Quotas ----
-- Every table with rows of tenants is counted here, by its declaration (src/resources/kit/sql.ts), or a test names it as
-- an exception. The attempts of a delivery are counted with the delivery, because they are deleted with it by the
-- foreign key.

-- Creates the function and the triggers that count a table with a column tenant_id. `budget` is `resource` or
-- `event`; `bytes` and `rows` are expressions over a row `r`. Triggers run once per statement, so a bulk
-- change is counted once per tenant. measured_usage reads the expressions from the arguments of the trigger.
CREATE OR REPLACE FUNCTION count_table(
  counted text, budget text, bytes text, rows text DEFAULT '1'
) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  name text := 'count_' || counted;
  change text := format(CASE budget
    WHEN 'resource' THEN 'sum(r.sign * (%1$s))::bigint, sum(r.sign * (%2$s))::bigint, 0, 0'
    WHEN 'event' THEN '0, 0, sum(r.sign * (%1$s))::bigint, sum(r.sign * (%2$s))::bigint' END, rows, bytes);
  trigger record;
BEGIN
  EXECUTE format($function$
    CREATE OR REPLACE FUNCTION public.%1$I() RETURNS trigger
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $body$
    BEGIN
      IF TG_OP = 'INSERT' THEN
        PERFORM public.add_usage(r.tenant_id, %2$s) FROM (SELECT 1 AS sign, n.* FROM new_rows n) r
          GROUP BY r.tenant_id;
      ELSIF TG_OP = 'DELETE' THEN
        PERFORM public.add_usage(r.tenant_id, %2$s) FROM (SELECT -1 AS sign, o.* FROM old_rows o) r
          GROUP BY r.tenant_id;
      ELSE
        PERFORM public.add_usage(r.tenant_id, %2$s) FROM (
          SELECT 1 AS sign, n.* FROM new_rows n UNION ALL SELECT -1, o.* FROM old_rows o) r
          GROUP BY r.tenant_id;
      END IF;
      RETURN NULL;
    END
    $body$
    $function$, name, change);
  FOR trigger IN SELECT * FROM (VALUES
    ('insert', 'NEW TABLE AS new_rows'),
    ('update', 'OLD TABLE AS old_rows NEW TABLE AS new_rows'),
    ('delete', 'OLD TABLE AS old_rows')
  ) t ("event", "tables") LOOP
    EXECUTE format(
      'CREATE TRIGGER %I AFTER %s ON public.%I REFERENCING %s FOR EACH STATEMENT
       EXECUTE FUNCTION public.%I(%L, %L, %L)',
      'count_' || trigger.event, trigger.event, counted, trigger.tables, name, budget, rows, bytes);
  END LOOP;
END
$$;

SELECT count_table('folders', 'resource', 'octet_length(r.name)');

SELECT count_table('teams', 'resource', 'octet_length(r.name)');

SELECT count_table('team_members', 'resource', '0');

SELECT count_table('invitations', 'resource',
  'octet_length(r.email) + coalesce(octet_length(r.department), 0)');

-- Stored results of requests are not counted here: their tables are on the coordinator, so the owner would count them
-- on a node where the role of the program has changed rows in the same transaction, which Citus refuses.
SELECT count_table('outbound_events', 'event', 'octet_length(r.body)');

SELECT count_table('deliveries', 'event', 'r.stored_bytes', '1 + r.stored_attempts');

SELECT count_table('notifications', 'event', 'octet_length(r.message)');

SELECT count_table('endpoint_replays', 'event', '0');
