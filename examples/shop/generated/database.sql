-- Written by `gatehouse generate` from the declarations. `gatehouse migrate` applies it after the migrations, with
-- a table of the declarations that functions of the owner read.

-- To the web role: GRANT SELECT, INSERT, UPDATE (shipping_address, updated_at) ON orders
-- To the web role: GRANT SELECT, INSERT, UPDATE (title, body, updated_at), DELETE ON posts
-- To the web role: GRANT SELECT ON posts_words
-- To the web role: GRANT SELECT, INSERT, UPDATE (title, body, updated_at) ON documents

CREATE POLICY owner_scope ON orders FOR SELECT USING (user_id = (SELECT current_user_id()));

CREATE POLICY placed_in_own_tenant ON orders FOR INSERT
  WITH CHECK (user_id = (SELECT current_user_id()) AND tenant_id = (SELECT current_tenant_id()));

CREATE POLICY owner_change ON orders FOR UPDATE USING (user_id = (SELECT current_user_id()));

CREATE POLICY owner_removal ON orders FOR DELETE USING (user_id = (SELECT current_user_id()));

CREATE POLICY whole_tenant ON orders FOR SELECT TO CURRENT_USER
  USING (tenant_id = (SELECT current_tenant_id()) AND (SELECT current_scope_kind()) IN ('usage', 'tenant-export'));

CREATE POLICY erasure ON orders TO CURRENT_USER
  USING (tenant_id = (SELECT current_tenant_id()) AND (SELECT current_scope_kind()) = 'erasure');

CREATE POLICY tenant_scope ON posts USING (tenant_id = (SELECT current_tenant_id()));

CREATE POLICY tenant_scope ON posts_words USING (tenant_id = (SELECT current_tenant_id()));

CREATE POLICY kept_by_triggers ON posts_words TO CURRENT_USER USING (pg_trigger_depth() > 0);

CREATE POLICY chain_scope ON documents 
  USING (tenant_id = (SELECT current_tenant_id()) AND team_id IN (
    SELECT m.team_id FROM team_members m
    WHERE m.tenant_id = (SELECT current_tenant_id()) AND m.user_id = (SELECT current_user_id())));

CREATE POLICY whole_tenant ON documents FOR SELECT TO CURRENT_USER
  USING (tenant_id = (SELECT current_tenant_id()) AND (SELECT current_scope_kind()) IN ('move', 'usage', 'tenant-export'));

CREATE POLICY move_to_team ON documents FOR UPDATE TO CURRENT_USER
  USING (tenant_id = (SELECT current_tenant_id()) AND (SELECT current_scope_kind()) = 'move');

CREATE POLICY erasure ON documents TO CURRENT_USER
  USING (tenant_id = (SELECT current_tenant_id()) AND (SELECT current_scope_kind()) = 'erasure');

SELECT count_table('orders', 'resource', 'octet_length(r.line_items::text) + 1024 + octet_length(r.card_last4)');

ALTER TABLE posts ALTER COLUMN author_service_id SET DEFAULT current_service_id();

SELECT count_table('posts', 'resource', 'octet_length(r.title) + octet_length(r.body) + coalesce(octet_length(r.department), 0)');

SELECT count_table('documents', 'resource', 'octet_length(r.title) + octet_length(r.body)');

CREATE TRIGGER keep_posts_words AFTER INSERT OR UPDATE OR DELETE ON posts
  FOR EACH ROW EXECUTE FUNCTION keep_posts_words();

SELECT fill_words('posts', 'tenant_id, id', 'r.title', 180);

SELECT count_table('posts_words', 'resource', '180', '0');

-- The columns of declared resources that name a member, and are cleared after that person has left.
CREATE OR REPLACE FUNCTION declared_members() RETURNS TABLE (name text, named text) LANGUAGE sql IMMUTABLE AS $$
SELECT * FROM (VALUES
  (NULL::text, NULL::text)
) t (name, named) WHERE t.name IS NOT NULL
$$;

-- Enters the tenant of a row of orders that the current user owns, and returns it. NULL if there is no such
-- row, if its owner is not a member of the tenant, or if the tenant is closed. Locks the tenant and the membership
-- until the transaction ends.
CREATE OR REPLACE FUNCTION enter_order_tenant(order_id bigint) RETURNS uuid
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  scope text[] := public.verified_scope();
  tenant uuid;
BEGIN
  IF scope IS NULL OR scope[2] NOT IN ('session', 'token') THEN
    RAISE EXCEPTION 'no person has entered' USING ERRCODE = 'insufficient_privilege';
  END IF;
  SELECT r.tenant_id INTO tenant FROM public.orders r WHERE r.id = order_id AND r.user_id = scope[4]::bigint;
  IF tenant IS NULL THEN RETURN NULL; END IF;
  PERFORM FROM public.memberships m JOIN public.tenants t ON t.id = m.tenant_id
    WHERE m.tenant_id = tenant AND m.user_id = scope[4]::bigint AND t.closed_at IS NULL
    FOR KEY SHARE OF t FOR KEY SHARE OF m;
  IF NOT FOUND THEN RETURN NULL; END IF;
  PERFORM public.set_scope('order', scope[2] || '/' || scope[5], scope[4]::bigint, tenant);
  RETURN tenant;
END
$$;

-- Keeps the words of title of a row of posts in posts_words.
CREATE OR REPLACE FUNCTION keep_posts_words() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  kept text[];
BEGIN
  IF TG_OP = 'DELETE' THEN
    DELETE FROM public.posts_words w WHERE w.tenant_id = OLD.tenant_id AND w.id = OLD.id;
    RETURN NULL;
  END IF;
  IF TG_OP = 'UPDATE' AND ROW(OLD.title) IS NOT DISTINCT FROM ROW(NEW.title) THEN
    RETURN NULL;
  END IF;
  kept := public.search_words(concat_ws(' ', NEW.title));
  IF TG_OP = 'UPDATE' THEN
    DELETE FROM public.posts_words w WHERE w.tenant_id = NEW.tenant_id AND w.id = NEW.id AND w.word <> ALL (kept);
  END IF;
  INSERT INTO public.posts_words (tenant_id, id, word)
  SELECT NEW.tenant_id, NEW.id, unnest(kept) ON CONFLICT DO NOTHING;
  RETURN NULL;
END
$$;
