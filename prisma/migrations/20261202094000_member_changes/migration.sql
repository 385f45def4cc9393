-- Members are locked and changed by functions of the owner, as they are removed. On a database that is
-- distributed with Citus all of a transaction's changes of a row have to be of one role, because each role
-- has its own connection to a node. They do what the policies of `memberships` allow, and no more.

-- The lines of all admins and of one member of the current tenant, locked in one order.
CREATE FUNCTION "lock_members"(tenant uuid, member bigint)
RETURNS TABLE (user_id bigint, role text, department text)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 5
SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
BEGIN
  IF tenant IS DISTINCT FROM public.current_tenant_id() OR public.current_scope_kind() = 'service' THEN
    RETURN;
  END IF;
  RETURN QUERY
    SELECT m.user_id, m.role, m.department FROM public.memberships m
    WHERE m.tenant_id = tenant AND (m.role = 'admin' OR m.user_id = member)
    ORDER BY m.user_id FOR UPDATE;
END
$$;

-- Changes a member of the current tenant; no row if there is no such member.
CREATE FUNCTION "change_member"(
  tenant uuid, member bigint, new_role text, new_department text
) RETURNS TABLE (
  id bigint, name text, email text, role text, department text, created_at timestamptz,
  billing_customer text
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
BEGIN
  IF tenant IS DISTINCT FROM public.current_tenant_id() OR public.current_scope_kind() = 'service' THEN
    RETURN;
  END IF;
  UPDATE public.memberships m SET role = new_role, department = new_department
    WHERE m.tenant_id = tenant AND m.user_id = member;
  RETURN QUERY
    SELECT m.user_id, u.name, u.email, m.role, m.department, m.created_at::timestamptz,
      CASE WHEN u.own_tenant_id = m.tenant_id THEN u.billing_customer END
    FROM public.memberships m JOIN public.users u ON u.id = m.user_id
    WHERE m.tenant_id = tenant AND m.user_id = member;
END
$$;
REVOKE ALL ON FUNCTION "lock_members"(uuid, bigint), "change_member"(uuid, bigint, text, text) FROM PUBLIC;
