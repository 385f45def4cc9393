-- The same rules without restrictive policies: their conditions stand in the policies that permit. Citus
-- copies policies to its nodes without AS RESTRICTIVE, and there each of them would permit rows of every
-- tenant.

DROP POLICY "owner_scope" ON "orders";
DROP POLICY "placed_in_own_tenant" ON "orders";
CREATE POLICY "owner_scope" ON "orders" FOR SELECT
  USING ("user_id" = (SELECT current_user_id()));
CREATE POLICY "placed_in_own_tenant" ON "orders" FOR INSERT
  WITH CHECK ("user_id" = (SELECT current_user_id()) AND "tenant_id" = (SELECT current_tenant_id()));
CREATE POLICY "owner_change" ON "orders" FOR UPDATE
  USING ("user_id" = (SELECT current_user_id())) WITH CHECK ("user_id" = (SELECT current_user_id()));
CREATE POLICY "owner_removal" ON "orders" FOR DELETE
  USING ("user_id" = (SELECT current_user_id()));

DROP POLICY "tenant_scope" ON "invitations";
DROP POLICY "people_invite" ON "invitations";
DROP POLICY "people_change" ON "invitations";
DROP POLICY "people_withdraw" ON "invitations";
CREATE POLICY "tenant_scope" ON "invitations" FOR SELECT
  USING ("tenant_id" = (SELECT current_tenant_id()));
CREATE POLICY "people_invite" ON "invitations" FOR INSERT
  WITH CHECK ("tenant_id" = (SELECT current_tenant_id())
              AND (SELECT current_scope_kind()) IS DISTINCT FROM 'service');
CREATE POLICY "people_change" ON "invitations" FOR UPDATE
  USING ("tenant_id" = (SELECT current_tenant_id())
         AND (SELECT current_scope_kind()) IS DISTINCT FROM 'service')
  WITH CHECK ("tenant_id" = (SELECT current_tenant_id())
              AND (SELECT current_scope_kind()) IS DISTINCT FROM 'service');
CREATE POLICY "people_withdraw" ON "invitations" FOR DELETE
  USING ("tenant_id" = (SELECT current_tenant_id())
         AND (SELECT current_scope_kind()) IS DISTINCT FROM 'service');

DROP POLICY "tenant_change" ON "memberships";
DROP POLICY "tenant_removal" ON "memberships";
DROP POLICY "people_change" ON "memberships";
DROP POLICY "people_removal" ON "memberships";
CREATE POLICY "tenant_change" ON "memberships" FOR UPDATE
  USING ("tenant_id" = (SELECT current_tenant_id())
         AND (SELECT current_scope_kind()) IS DISTINCT FROM 'service')
  WITH CHECK ("tenant_id" = (SELECT current_tenant_id())
              AND (SELECT current_scope_kind()) IS DISTINCT FROM 'service');
CREATE POLICY "tenant_removal" ON "memberships" FOR DELETE
  USING ("tenant_id" = (SELECT current_tenant_id())
         AND (SELECT current_scope_kind()) IS DISTINCT FROM 'service');

DROP POLICY "own_tenant" ON "users";
DROP POLICY "people_change" ON "users";
CREATE POLICY "own_tenant" ON "users" FOR UPDATE
  USING (("id" = (SELECT current_user_id()) OR "own_tenant_id" = (SELECT current_tenant_id()))
         AND (SELECT current_scope_kind()) IS DISTINCT FROM 'service')
  WITH CHECK ("own_tenant_id" = (SELECT current_tenant_id())
              AND (SELECT current_scope_kind()) IS DISTINCT FROM 'service');
