-- Two more statements as functions, for the same reason as those that schedule attempts.

-- Ends the turns of endpoints, and returns the first attempt that is due later to each of them.
CREATE FUNCTION "end_turns"(tenant uuid, endpoints uuid[], ended_at timestamptz)
RETURNS TABLE (endpoint_id uuid, second bigint, wait_seconds double precision, priority integer)
LANGUAGE plpgsql VOLATILE ROWS 5
SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
BEGIN
  UPDATE public.webhook_endpoints e SET in_turn = false
    WHERE e.tenant_id = tenant AND e.id = ANY (endpoints) AND e.in_turn;
  RETURN QUERY
    SELECT a.endpoint_id, floor(extract(epoch FROM a.due_at))::bigint,
      greatest(extract(epoch FROM a.due_at - ended_at), 0)::double precision, 0
    FROM unnest(endpoints) AS endpoint (id)
    CROSS JOIN LATERAL (
      SELECT d.endpoint_id, d.due_at FROM public.due_attempts d
      WHERE d.tenant_id = tenant AND d.endpoint_id = endpoint.id
      ORDER BY d.due_at LIMIT 1) AS a;
END
$$;

-- Creates a document in a folder of one of the person's teams; no row if they cannot reach the folder.
-- The folder is locked so that it keeps its team until the document is inserted.
CREATE FUNCTION "create_document"(
  tenant uuid, person bigint, folder bigint, document_title text, document_body text, created timestamptz
) RETURNS SETOF documents
LANGUAGE plpgsql VOLATILE ROWS 1
SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN QUERY
    INSERT INTO public.documents (tenant_id, folder_id, team_id, title, body, created_at, updated_at)
    SELECT f.tenant_id, f.id, f.team_id, document_title, document_body, created, created
    FROM public.folders f
    WHERE f.tenant_id = tenant AND f.id = folder AND f.team_id IN (
      SELECT m.team_id FROM public.team_members m WHERE m.tenant_id = tenant AND m.user_id = person)
    FOR KEY SHARE OF f
    RETURNING *;
END
$$;
