-- Reads the rows of both tables once. Only other changes of the schema wait for it.

ALTER TABLE "folders" VALIDATE CONSTRAINT "folders_tenant_id_parent_id_team_id_parent_depth_fkey";
ALTER TABLE "documents" VALIDATE CONSTRAINT "documents_tenant_id_folder_id_team_id_fkey";
