-- Reads by id, instead of the statements of src/domain/rows.ts (src/schema/citus/statements.ts). In PL/pgSQL the tenant is
-- a parameter, which tells the coordinator the node to ask. In a plain statement it is a setting that is read
-- while the statement runs, so every node would be asked.

-- Asks the node of the tenant of the scope first, and every node only if the order is in another tenant.
CREATE OR REPLACE FUNCTION find_order(tenant uuid, person bigint, wanted bigint) RETURNS SETOF orders
LANGUAGE plpgsql STABLE ROWS 1 AS $$
BEGIN
  RETURN QUERY SELECT o.* FROM public.orders o
    WHERE o.tenant_id = tenant AND o.user_id = person AND o.id = wanted;
  IF FOUND THEN RETURN; END IF;
  RETURN QUERY SELECT o.* FROM public.orders o WHERE o.user_id = person AND o.id = wanted;
END
$$;

-- Finds the tenant first, because a lock needs one node.
CREATE OR REPLACE FUNCTION lock_order(person bigint, wanted bigint) RETURNS SETOF orders
LANGUAGE plpgsql VOLATILE ROWS 1 AS $$
DECLARE
  tenant uuid;
BEGIN
  SELECT o.tenant_id INTO tenant FROM public.orders o WHERE o.user_id = person AND o.id = wanted;
  RETURN QUERY SELECT o.* FROM public.orders o
    WHERE o.tenant_id = tenant AND o.user_id = person AND o.id = wanted FOR UPDATE;
END
$$;

CREATE OR REPLACE FUNCTION find_post(tenant uuid, wanted bigint) RETURNS SETOF posts
LANGUAGE plpgsql STABLE ROWS 1 AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT p.* FROM public.posts p WHERE p.tenant_id = tenant AND p.id = wanted;
END
$$;

CREATE OR REPLACE FUNCTION find_invoice(tenant uuid, wanted bigint) RETURNS SETOF invoices
LANGUAGE plpgsql STABLE ROWS 1 AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT i.* FROM public.invoices i WHERE i.tenant_id = tenant AND i.id = wanted;
END
$$;

-- A document of one of the person's teams.
CREATE OR REPLACE FUNCTION find_document(tenant uuid, person bigint, wanted bigint) RETURNS SETOF documents
LANGUAGE plpgsql STABLE ROWS 1 AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT d.* FROM public.documents d
  WHERE d.tenant_id = tenant AND d.id = wanted AND d.team_id IN (
    SELECT m.team_id FROM public.team_members m WHERE m.tenant_id = tenant AND m.user_id = person);
END
$$;

-- A document in two statements: what is selected into a table with an identity is copied by Citus.
CREATE OR REPLACE FUNCTION create_document(
  tenant uuid, person bigint, folder bigint, document_title text, document_body text, created timestamptz
) RETURNS SETOF documents
LANGUAGE plpgsql VOLATILE ROWS 1 AS $$
DECLARE
  team bigint;
BEGIN
  SELECT f.team_id INTO team FROM public.folders f
    WHERE f.tenant_id = tenant AND f.id = folder AND f.team_id IN (
      SELECT m.team_id FROM public.team_members m WHERE m.tenant_id = tenant AND m.user_id = person)
    FOR KEY SHARE OF f;
  IF NOT FOUND THEN RETURN; END IF;
  RETURN QUERY
    INSERT INTO public.documents (tenant_id, folder_id, team_id, title, body, created_at, updated_at)
    VALUES (tenant, folder, team, document_title, document_body, created, created)
    RETURNING *;
END
$$;
