-- Sets a setting `app.…` of the transaction: its cause, its budgets. It is a function, because on a database
-- that is distributed with Citus its body also sets it on the nodes, where triggers read it
-- (src/schema/citus/data-flow.sql). Inlined here, so that it costs what set_config does, and it gives its
-- caller nothing that set_config does not.
CREATE FUNCTION "put_setting"(setting text, content text) RETURNS text
LANGUAGE sql VOLATILE
RETURN set_config(setting, content, true);
