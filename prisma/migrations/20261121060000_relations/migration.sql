-- Access by relationship: a person is a member of a team, the team owns a folder with all that is
-- nested in it, a folder holds documents.

CREATE TABLE "teams" (
  "tenant_id" uuid NOT NULL,
  "id" bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  "name" text NOT NULL CHECK (length("name") BETWEEN 1 AND 200),
  "created_at" timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "teams_pkey" PRIMARY KEY ("tenant_id", "id"),
  CONSTRAINT "teams_tenant_id_fkey" FOREIGN KEY ("tenant_id")
    REFERENCES "tenants" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- The key to memberships takes whoever is removed from the tenant out of its teams.
CREATE TABLE "team_members" (
  "tenant_id" uuid NOT NULL,
  "team_id" bigint NOT NULL,
  "user_id" bigint NOT NULL,
  "created_at" timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "team_members_pkey" PRIMARY KEY ("tenant_id", "team_id", "user_id"),
  CONSTRAINT "team_members_tenant_id_team_id_fkey" FOREIGN KEY ("tenant_id", "team_id")
    REFERENCES "teams" ("tenant_id", "id") ON DELETE CASCADE ON UPDATE CASCADE,
  CONSTRAINT "team_members_tenant_id_user_id_fkey" FOREIGN KEY ("tenant_id", "user_id")
    REFERENCES "memberships" ("tenant_id", "user_id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "team_members_tenant_id_user_id_team_id_idx" ON "team_members" ("tenant_id", "user_id", "team_id");

-- The team of a nested folder is that of the folder it is nested in: the key to the parent has the
-- team in it, so the two cannot differ, and ON UPDATE CASCADE carries a new team down to the last
-- document in the same statement. So the chain never has to be walked when it is checked.
-- The key has the depth in it too: a folder is one deeper than its parent, which on a circle of
-- folders is impossible. No race can make one; closing it counts up to the limit and is refused.
CREATE TABLE "folders" (
  "tenant_id" uuid NOT NULL,
  "id" bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  "team_id" bigint NOT NULL,
  "parent_id" bigint,
  "parent_depth" integer,
  "depth" integer NOT NULL GENERATED ALWAYS AS (COALESCE("parent_depth", 0) + 1) STORED,
  "name" text NOT NULL CHECK (length("name") BETWEEN 1 AND 200),
  "created_at" timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "folders_pkey" PRIMARY KEY ("tenant_id", "id"),
  CONSTRAINT "folders_parent_check" CHECK (("parent_id" IS NULL) = ("parent_depth" IS NULL)),
  CONSTRAINT "folders_depth_check" CHECK ("depth" BETWEEN 1 AND 32),
  CONSTRAINT "folders_tenant_id_id_team_id_key" UNIQUE ("tenant_id", "id", "team_id"),
  CONSTRAINT "folders_tenant_id_id_team_id_depth_key" UNIQUE ("tenant_id", "id", "team_id", "depth"),
  CONSTRAINT "folders_tenant_id_fkey" FOREIGN KEY ("tenant_id")
    REFERENCES "tenants" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
  CONSTRAINT "folders_tenant_id_team_id_fkey" FOREIGN KEY ("tenant_id", "team_id")
    REFERENCES "teams" ("tenant_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION,
  CONSTRAINT "folders_tenant_id_parent_id_team_id_parent_depth_fkey"
    FOREIGN KEY ("tenant_id", "parent_id", "team_id", "parent_depth")
    REFERENCES "folders" ("tenant_id", "id", "team_id", "depth") ON DELETE NO ACTION ON UPDATE CASCADE
);
CREATE INDEX "folders_tenant_id_team_id_idx" ON "folders" ("tenant_id", "team_id");
CREATE INDEX "folders_tenant_id_parent_id_idx" ON "folders" ("tenant_id", "parent_id");

-- The team of a document is that of its folder, by the key as well. The index by team is what a
-- page of a list is read from: a few entries of each team, however many documents there are.
CREATE TABLE "documents" (
  "tenant_id" uuid NOT NULL,
  "id" bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  "folder_id" bigint NOT NULL,
  "team_id" bigint NOT NULL,
  "title" text NOT NULL,
  "body" text NOT NULL,
  "created_at" timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "documents_pkey" PRIMARY KEY ("tenant_id", "id"),
  CONSTRAINT "documents_tenant_id_fkey" FOREIGN KEY ("tenant_id")
    REFERENCES "tenants" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
  CONSTRAINT "documents_tenant_id_folder_id_team_id_fkey" FOREIGN KEY ("tenant_id", "folder_id", "team_id")
    REFERENCES "folders" ("tenant_id", "id", "team_id") ON DELETE NO ACTION ON UPDATE CASCADE
);
CREATE INDEX "documents_tenant_id_team_id_id_idx" ON "documents" ("tenant_id", "team_id", "id");
CREATE INDEX "documents_tenant_id_folder_id_team_id_idx" ON "documents" ("tenant_id", "folder_id", "team_id");

-- The second lock. Teams and folders belong to the tenant; documents to the members of their team
-- alone. The subselect depends on no row, so it is read once per statement; it names no table that
-- is under a policy like this one, so there is no recursion.

ALTER TABLE "teams" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY "tenant_scope" ON "teams"
  USING ("tenant_id" = (SELECT current_tenant_id())) WITH CHECK ("tenant_id" = (SELECT current_tenant_id()));

ALTER TABLE "team_members" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY "tenant_scope" ON "team_members"
  USING ("tenant_id" = (SELECT current_tenant_id())) WITH CHECK ("tenant_id" = (SELECT current_tenant_id()));

ALTER TABLE "folders" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY "tenant_scope" ON "folders"
  USING ("tenant_id" = (SELECT current_tenant_id())) WITH CHECK ("tenant_id" = (SELECT current_tenant_id()));

ALTER TABLE "documents" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY "chain_scope" ON "documents"
  USING (
    "tenant_id" = (SELECT current_tenant_id()) AND "team_id" IN (
      SELECT m.team_id FROM team_members m
      WHERE m.tenant_id = (SELECT current_tenant_id()) AND m.user_id = (SELECT current_user_id())))
  WITH CHECK (
    "tenant_id" = (SELECT current_tenant_id()) AND "team_id" IN (
      SELECT m.team_id FROM team_members m
      WHERE m.tenant_id = (SELECT current_tenant_id()) AND m.user_id = (SELECT current_user_id())));
