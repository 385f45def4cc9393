-- Row-level security, table by table. `gatehouse migrate` drops every policy of these tables and creates
-- these. A table without a policy shows no row to the application roles.
--
-- Three kinds of scope:
--   owner   the user of the credential               user_id = (SELECT current_user_id())
--   tenant  the tenant of the credential             tenant_id = (SELECT current_tenant_id())
--   chain   the tenant, and a team of the user       through the folder of the row
--
-- Only a live credential or a job sets the scope (functions/scope.sql); without one each function returns
-- NULL and no row matches. The scalar subselect calls the function once per statement, not once per row. A policy
-- without WITH CHECK applies USING to written rows too.
--
-- Policies TO CURRENT_USER are for the owner, who is subject to FORCE. Its functions need them, and each
-- sets a scope of its own kind first. No application role is a member of the owner.

-- ---- Tenants and people ----

-- A person sees the open tenants of which they are a member, not only the current one.
CREATE POLICY tenant_scope ON tenants USING (id = (SELECT current_tenant_id()));
CREATE POLICY member_scope ON tenants FOR SELECT
  USING (closed_at IS NULL AND EXISTS (
    SELECT FROM memberships m
    WHERE m.tenant_id = tenants.id AND m.user_id = (SELECT current_user_id())));

-- People see themselves, the user whose own tenant this is, and the members of the tenant.
CREATE POLICY self_or_tenant ON users FOR SELECT
  USING (id = (SELECT current_user_id())
         OR own_tenant_id = (SELECT current_tenant_id())
         OR EXISTS (SELECT FROM memberships m
                    WHERE m.tenant_id = (SELECT current_tenant_id()) AND m.user_id = users.id));
-- The worker changes the plan in the scope of a billing event, whose tenant is the user's own.
CREATE POLICY own_tenant ON users FOR UPDATE USING (own_tenant_id = (SELECT current_tenant_id()));

CREATE POLICY owner_scope ON oauth_identities USING (user_id = (SELECT current_user_id()));

-- A service or an app never changes who belongs to the tenant, whatever its permissions are.
CREATE POLICY own_or_tenant ON memberships FOR SELECT
  USING (user_id = (SELECT current_user_id()) OR tenant_id = (SELECT current_tenant_id()));
CREATE POLICY tenant_change ON memberships FOR UPDATE
  USING (tenant_id = (SELECT current_tenant_id()) AND (SELECT current_scope_kind()) NOT IN ('service', 'app'));
CREATE POLICY tenant_removal ON memberships FOR DELETE
  USING (tenant_id = (SELECT current_tenant_id()) AND (SELECT current_scope_kind()) NOT IN ('service', 'app'));

CREATE POLICY tenant_scope ON invitations FOR SELECT USING (tenant_id = (SELECT current_tenant_id()));
CREATE POLICY people_invite ON invitations
  USING (tenant_id = (SELECT current_tenant_id()) AND (SELECT current_scope_kind()) NOT IN ('service', 'app'));

-- security_invoker applies the policies of the caller: the owner of the views owns the tables too, which are not under
-- FORCE. The condition restricts the views to the tenant.
CREATE OR REPLACE VIEW tenant_members WITH (security_invoker = true) AS
  SELECT tenant_id, user_id, role, department, created_at FROM memberships
  WHERE tenant_id = (SELECT current_tenant_id());
CREATE OR REPLACE VIEW tenant_invitations WITH (security_invoker = true) AS
  SELECT tenant_id, id, email, role, department, invited_by, created_at, expires_at, accepted_at,
    link_hash,
    greatest(created_at, mailed_at) AS sent_at
  FROM invitations
  WHERE tenant_id = (SELECT current_tenant_id());

-- ---- Signing in ----
-- sign_in_attempts and logout_tokens have no policy: only functions of the owner read them.

-- Sessions and API tokens in a closed tenant have ended, though a worker deletes their rows later.
CREATE POLICY owner_scope ON sessions
  USING (user_id = (SELECT current_user_id())
         AND (tenant_id IS NULL OR EXISTS (SELECT FROM tenants t WHERE t.id = sessions.tenant_id)));

-- A grant belongs to the user of its identity.
CREATE POLICY owner_scope ON provider_grants
  USING (EXISTS (
    SELECT FROM oauth_identities i
    WHERE i.provider = provider_grants.provider
      AND i.provider_user_id = provider_grants.provider_user_id
      AND i.user_id = (SELECT current_user_id())));

CREATE POLICY owner_scope ON token_revocations USING (user_id = (SELECT current_user_id()));

-- A new key belongs to the tenant of the request, whose quota counts the result. A person may also change a key of
-- another tenant of theirs, because a repeated request must find it; a key moves only into the current tenant
-- (key_stays_in_tenant). The holder of a service, app or portal session contains the tenant.
CREATE POLICY holder_scope ON idempotency_keys FOR SELECT USING (holder = (SELECT current_idempotency_holder()));
CREATE POLICY placed_in_tenant ON idempotency_keys FOR INSERT
  WITH CHECK (holder = (SELECT current_idempotency_holder())
              AND (tenant_id IS NULL OR tenant_id = (SELECT current_webhook_tenant_id())));
CREATE POLICY holder_change ON idempotency_keys FOR UPDATE
  USING (holder = (SELECT current_idempotency_holder()));

-- ---- Tokens ----

-- Only a session creates a token: a token cannot create another one.
CREATE POLICY owner_scope ON api_tokens
  USING (user_id = (SELECT current_user_id()) AND EXISTS (SELECT FROM tenants t WHERE t.id = api_tokens.tenant_id))
  WITH CHECK (user_id = (SELECT current_user_id()) AND tenant_id = (SELECT current_tenant_id())
              AND (SELECT current_scope_kind()) = 'session');

-- Only people with a session create and change service tokens. Every credential of the tenant reads them,
-- for the names of services that did something.
CREATE POLICY tenant_scope ON service_tokens
  USING (tenant_id = (SELECT current_tenant_id()) AND (SELECT current_scope_kind()) = 'session');
CREATE POLICY tenant_names ON service_tokens FOR SELECT USING (tenant_id = (SELECT current_tenant_id()));

-- Only the session of an operator sees and changes app tokens.
CREATE POLICY operators ON app_tokens USING ((SELECT is_operator()));

-- The app makes links in the tenant that its request names, and ends the oldest when there are too many.
CREATE POLICY app_scope ON portal_sessions
  USING (tenant_id = (SELECT current_tenant_id()) AND (SELECT current_scope_kind()) = 'app')
  WITH CHECK (tenant_id = (SELECT current_tenant_id()) AND app_token_id = (SELECT current_service_id()));

-- ---- Resources ----

-- Policies of the declared resources follow from their scope (src/resources/kit/sql.ts).
CREATE POLICY tenant_scope ON teams USING (tenant_id = (SELECT current_tenant_id()));
CREATE POLICY tenant_scope ON team_members USING (tenant_id = (SELECT current_tenant_id()));
CREATE POLICY tenant_scope ON folders USING (tenant_id = (SELECT current_tenant_id()));

-- ---- Outbound webhooks ----
-- The policies `all_tenants` are for functions that look for rows in all tenants. These are the only tables
-- that a portal session reaches: in its scope current_tenant_id() is NULL.

CREATE POLICY tenant_scope ON webhook_endpoints USING (tenant_id = (SELECT current_webhook_tenant_id()));
CREATE POLICY all_tenants ON webhook_endpoints FOR SELECT TO CURRENT_USER
  USING ((SELECT current_scope_kind()) = 'ledger');

CREATE POLICY tenant_scope ON endpoint_states USING (tenant_id = (SELECT current_webhook_tenant_id()));
CREATE POLICY all_tenants ON endpoint_states FOR SELECT TO CURRENT_USER
  USING ((SELECT current_scope_kind()) = 'ledger');
CREATE POLICY tenant_scope ON endpoint_probes USING (tenant_id = (SELECT current_webhook_tenant_id()));

CREATE POLICY tenant_scope ON outbound_events USING (tenant_id = (SELECT current_webhook_tenant_id()));
CREATE POLICY all_tenants ON outbound_events FOR SELECT TO CURRENT_USER
  USING ((SELECT current_scope_kind()) IN ('ledger', 'trace'));

CREATE POLICY tenant_scope ON deliveries USING (tenant_id = (SELECT current_webhook_tenant_id()));
CREATE POLICY all_tenants ON deliveries FOR SELECT TO CURRENT_USER
  USING ((SELECT current_scope_kind()) IN ('ledger', 'trace'));
CREATE POLICY tenant_scope ON delivery_attempts USING (tenant_id = (SELECT current_webhook_tenant_id()));
CREATE POLICY tenant_scope ON due_attempts USING (tenant_id = (SELECT current_webhook_tenant_id()));
CREATE POLICY all_tenants ON due_attempts FOR SELECT TO CURRENT_USER
  USING ((SELECT current_scope_kind()) = 'ledger');

CREATE POLICY tenant_scope ON endpoint_replays USING (tenant_id = (SELECT current_webhook_tenant_id()));
CREATE POLICY tenant_scope ON notifications USING (tenant_id = (SELECT current_webhook_tenant_id()));

-- ---- Quotas ----
-- Written by triggers and functions of the owner, in every scope.

CREATE POLICY tenant_scope ON tenant_usage FOR SELECT USING (tenant_id = (SELECT current_tenant_id()));
CREATE POLICY tenant_scope ON member_usage FOR SELECT USING (tenant_id = (SELECT current_tenant_id()));
CREATE POLICY tenant_scope ON usage_changes FOR SELECT USING (tenant_id = (SELECT current_tenant_id()));

-- ---- Operations ----
-- erasures, scope_keys and installation have no policy: only functions of the owner read them.

-- Every role appends entries about any user and tenant. The user and the tenant of an entry read it.
-- Erasure, retention and tracing are functions of the owner.
CREATE POLICY append ON audit_log FOR INSERT WITH CHECK (true);
CREATE POLICY own_or_tenant ON audit_log FOR SELECT
  USING (user_id = (SELECT current_user_id()) OR tenant_id = (SELECT current_tenant_id()));
CREATE POLICY erasure ON audit_log TO CURRENT_USER
  USING ((SELECT current_scope_kind()) = 'erasure' AND (
    tenant_id = (SELECT current_tenant_id()) OR user_id = (SELECT current_user_id())
    OR target LIKE '%user ' || (SELECT current_user_id())));
CREATE POLICY all_tenants ON audit_log FOR SELECT TO CURRENT_USER
  USING ((SELECT current_scope_kind()) IN ('retention', 'trace'));
CREATE POLICY retention ON audit_log FOR DELETE TO CURRENT_USER USING ((SELECT current_scope_kind()) = 'retention');
