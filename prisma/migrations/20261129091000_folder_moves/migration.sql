-- A folder moves with one statement for everything in it, instead of by ON UPDATE CASCADE, which a
-- distributed table (Citus) may not have on these keys. The keys stay: a document has the team of its
-- folder, a nested folder the team of its parent and one level more, after every statement.
--
-- A process of the release before this one is refused a move of a folder that is not empty.

ALTER TABLE "folders"
  DROP CONSTRAINT "folders_tenant_id_parent_id_team_id_parent_depth_fkey",
  ADD CONSTRAINT "folders_tenant_id_parent_id_team_id_parent_depth_fkey"
    FOREIGN KEY ("tenant_id", "parent_id", "team_id", "parent_depth")
    REFERENCES "folders" ("tenant_id", "id", "team_id", "depth")
    ON DELETE NO ACTION ON UPDATE NO ACTION NOT VALID;

ALTER TABLE "documents"
  DROP CONSTRAINT "documents_tenant_id_folder_id_team_id_fkey",
  ADD CONSTRAINT "documents_tenant_id_folder_id_team_id_fkey"
    FOREIGN KEY ("tenant_id", "folder_id", "team_id")
    REFERENCES "folders" ("tenant_id", "id", "team_id")
    ON DELETE NO ACTION ON UPDATE NO ACTION NOT VALID;

-- The person who moves a folder may be in neither team. For the owner alone, whose function below sets this
-- scope.
CREATE POLICY "move" ON "documents" FOR SELECT TO CURRENT_USER
  USING ("tenant_id" = (SELECT current_tenant_id()) AND (SELECT current_scope_kind()) = 'move');
CREATE POLICY "move_to_team" ON "documents" FOR UPDATE TO CURRENT_USER
  USING ("tenant_id" = (SELECT current_tenant_id()) AND (SELECT current_scope_kind()) = 'move')
  WITH CHECK ("tenant_id" = (SELECT current_tenant_id()) AND (SELECT current_scope_kind()) = 'move');

-- Moves a folder of the current tenant, with everything in it, into another folder or to a team. False
-- if there is no such folder. A foreign key refuses a place that is not there or is inside the folder.
-- The folders are locked first: a document that is being added to one of them is committed before
-- they change, and so the next statement sees it.
CREATE FUNCTION "move_folder"(
  folder bigint, new_team bigint, new_parent bigint, new_parent_depth integer
) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
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
  SELECT f.depth INTO old_depth FROM public.folders f
    WHERE f.tenant_id = tenant AND f.id = folder FOR UPDATE;
  IF NOT FOUND THEN RETURN false; END IF;
  subtree := ARRAY(
    WITH RECURSIVE subtree AS (
      SELECT folder AS id
      UNION -- without duplicates, so that it ends whatever the rows are
      SELECT f.id FROM public.folders f JOIN subtree s ON f.parent_id = s.id
      WHERE f.tenant_id = tenant)
    SELECT s.id FROM subtree s);
  PERFORM FROM public.folders f
    WHERE f.tenant_id = tenant AND f.id = ANY (subtree) ORDER BY f.id FOR UPDATE;
  scope_text := public.set_scope('move', '', person, tenant);
  WITH moved AS (
    UPDATE public.folders f SET team_id = new_team,
      parent_id = CASE WHEN f.id = folder THEN new_parent ELSE f.parent_id END,
      parent_depth = CASE WHEN f.id = folder THEN new_parent_depth
        ELSE f.parent_depth + coalesce(new_parent_depth, 0) + 1 - old_depth END
    WHERE f.tenant_id = tenant AND f.id = ANY (subtree)
  )
  UPDATE public.documents d SET team_id = new_team
    WHERE d.tenant_id = tenant AND d.folder_id = ANY (subtree) AND d.team_id <> new_team;
  scope_text := set_config('app.scope', entered, true);
  RETURN true;
END
$$;
REVOKE ALL ON FUNCTION "move_folder"(bigint, bigint, bigint, integer) FROM PUBLIC;
