-- Written by `gatehouse generate` from the declarations. `gatehouse migrate` applies it after the migrations, with
-- a table of the declarations that functions of the owner read.

-- The columns of declared resources that name a member, and are cleared after that person has left.
CREATE OR REPLACE FUNCTION declared_members() RETURNS TABLE (name text, named text) LANGUAGE sql IMMUTABLE AS $$
SELECT * FROM (VALUES
  (NULL::text, NULL::text)
) t (name, named) WHERE t.name IS NOT NULL
$$;
