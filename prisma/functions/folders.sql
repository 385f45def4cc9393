-- Folders.

-- Moves a folder of the current tenant, with its contents, into another folder or to a team, and renames it unless the
-- name is NULL. No row if there is no such folder; a foreign key refuses a target that is missing or inside the folder.
-- Locks the folders first, so that a row being added to one of them is committed before they change.
CREATE OR REPLACE FUNCTION place_folder(
  folder bigint, new_team bigint, new_parent bigint, new_parent_depth integer,
  new_name text, changed timestamptz
) RETURNS SETOF folders LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  entered text := coalesce(current_setting('app.scope', true), '');
  tenant uuid := public.current_tenant_id();
  person bigint := public.current_user_id();
  old_depth integer;
  subtree bigint[];
  scope_text text;
BEGIN
  IF tenant IS NULL THEN
    RAISE EXCEPTION 'no tenant was entered' USING ERRCODE = 'insufficient_privilege';
  END IF;
  SELECT f.depth INTO old_depth FROM public.folders f WHERE f.tenant_id = tenant AND f.id = folder FOR UPDATE;
  IF NOT FOUND THEN RETURN; END IF;
  subtree := ARRAY(
    WITH RECURSIVE subtree AS (
      SELECT folder AS id
      UNION -- without duplicates, so that it ends whatever the rows are
      SELECT f.id FROM public.folders f JOIN subtree s ON f.parent_id = s.id
      WHERE f.tenant_id = tenant)
    SELECT s.id FROM subtree s);
  PERFORM FROM public.folders f WHERE f.tenant_id = tenant AND f.id = ANY (subtree) ORDER BY f.id FOR UPDATE;
  scope_text := public.set_scope('move', '', person, tenant);
  -- One statement, because the foreign keys of the rows in folders are checked at its end.
  EXECUTE format($statement$
    WITH moved AS (
      UPDATE public.folders f SET team_id = $1,
        parent_id = CASE WHEN f.id = $2 THEN $3 ELSE f.parent_id END,
        parent_depth = CASE WHEN f.id = $2 THEN $4 ELSE f.parent_depth + coalesce($4, 0) + 1 - $5 END,
        name = CASE WHEN f.id = $2 THEN coalesce($6, f.name) ELSE f.name END,
        updated_at = CASE WHEN f.id = $2 THEN $7 ELSE f.updated_at END
      WHERE f.tenant_id = $8 AND f.id = ANY ($9)
    )%s SELECT $statement$, (
      SELECT string_agg(format(', %I AS (UPDATE public.%I r SET team_id = $1
          WHERE r.tenant_id = $8 AND r.folder_id = ANY ($9) AND r.team_id <> $1)', 'of_' || d.name, d.name), '')
      FROM public.declared_tables() d WHERE d.scope = 'chain'))
    USING new_team, folder, new_parent, new_parent_depth, old_depth, new_name, changed, tenant, subtree;
  RETURN QUERY SELECT f.* FROM public.folders f WHERE f.tenant_id = tenant AND f.id = folder;
  scope_text := public.put_scope(entered);
END
$$;
