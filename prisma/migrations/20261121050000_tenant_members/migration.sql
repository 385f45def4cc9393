-- What those who manage a tenant reach of the identity plane: its members and invitations. The
-- tables themselves are read before any tenant is known and carry no row-level security, so here
-- the second lock is the view: it has the rows of the transaction's tenant, and none without one.

CREATE VIEW "tenant_members" WITH (security_invoker = true) AS
  SELECT "tenant_id", "user_id", "role", "department" FROM "memberships"
  WHERE "tenant_id" = (SELECT current_tenant_id());

CREATE VIEW "tenant_invitations" WITH (security_invoker = true) AS
  SELECT "tenant_id", "id", "email", "role", "department", "invited_by", "created_at", "expires_at", "accepted_at"
  FROM "invitations"
  WHERE "tenant_id" = (SELECT current_tenant_id());

-- Posts stay in the tenant when their author leaves it.
ALTER TABLE "posts" DROP CONSTRAINT "posts_tenant_id_author_id_fkey",
  ADD CONSTRAINT "posts_tenant_id_author_id_fkey" FOREIGN KEY ("tenant_id", "author_id")
    REFERENCES "memberships" ("tenant_id", "user_id") ON DELETE SET NULL ("author_id") ON UPDATE NO ACTION;

-- Invitations and first sign-ins look for the holder of an address, verified or not.
CREATE INDEX "users_email_idx" ON "users" (lower("email" COLLATE "C"));
