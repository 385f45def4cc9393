-- The feed shows events before this position alone. It is a function, because a database that is
-- distributed with Citus orders its events in another way (src/schema/citus/functions.sql).
--
-- Here the position of an event is its transaction and then its sequence. The feed stops before the
-- oldest transaction in progress, so that it never skips a late commit. Inlined in the statement.
CREATE FUNCTION "feed_horizon"() RETURNS xid8
LANGUAGE sql STABLE PARALLEL SAFE
RETURN pg_snapshot_xmin(pg_current_snapshot());
