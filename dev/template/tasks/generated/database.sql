-- Written by `gatehouse generate` from the declarations. `gatehouse migrate` applies it after the migrations, with
-- a table of the declarations that functions of the owner read.

-- To the web role: GRANT SELECT, INSERT, UPDATE (title, details, due_on, status, updated_at), DELETE ON tasks

CREATE POLICY tenant_scope ON tasks USING (tenant_id = (SELECT current_tenant_id()));

SELECT count_table('tasks', 'resource', 'octet_length(r.title) + coalesce(octet_length(r.details), 0) + octet_length(r.status)');

-- The columns of declared resources that name a member, and are cleared after that person has left.
CREATE OR REPLACE FUNCTION declared_members() RETURNS TABLE (name text, named text) LANGUAGE sql IMMUTABLE AS $$
SELECT * FROM (VALUES
  (NULL::text, NULL::text)
) t (name, named) WHERE t.name IS NOT NULL
$$;
