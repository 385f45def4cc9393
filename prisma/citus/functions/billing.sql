-- Billing events and customers.

-- Links a billing customer to the user with this id or this verified address, or to this tenant, and takes it from the
-- user or tenant that had it. The plan follows the customer. Without any of them it only unlinks. Outcome: linked,
-- unlinked, no-user, no-tenant, has-another.
CREATE OR REPLACE FUNCTION assign_customer(customer text, holder bigint, address text, tenant uuid)
RETURNS TABLE (outcome text, user_id bigint, tenant_id uuid, previous_user_id bigint, previous_tenant_id uuid)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  held text;
  best public.billing_objects;
BEGIN
  PERFORM pg_advisory_xact_lock(7165230420);
  PERFORM FROM public.{tenants} t WHERE t.id = tenant OR t.billing_customer = customer ORDER BY t.id FOR NO KEY UPDATE;
  IF tenant IS NOT NULL THEN
    SELECT t.id, t.billing_customer INTO tenant_id, held FROM public.tenants t
      WHERE t.id = tenant AND t.closed_at IS NULL;
  ELSE
    SELECT u.id, u.billing_customer INTO user_id, held FROM public.{users} u
      WHERE u.id = holder
        OR holder IS NULL AND u.email_verified
           AND lower(u.email COLLATE "C") = lower(address COLLATE "C")
      FOR UPDATE;
  END IF;
  outcome := CASE
    WHEN holder IS NULL AND address IS NULL AND tenant IS NULL THEN 'unlinked'
    WHEN tenant IS NOT NULL AND tenant_id IS NULL THEN 'no-tenant'
    WHEN tenant IS NULL AND user_id IS NULL THEN 'no-user'
    WHEN held <> customer THEN 'has-another'
    ELSE 'linked'
  END;
  IF outcome IN ('linked', 'unlinked') THEN
    PERFORM pg_advisory_xact_lock(7165230421);
    UPDATE public.tenants t SET billing_customer = NULL, plan = NULL, subscription_status = NULL,
        subscription_period_end = NULL, subscription_cancels_at = NULL, seats = NULL
      WHERE t.billing_customer = customer AND t.id IS DISTINCT FROM assign_customer.tenant_id
      RETURNING t.id INTO previous_tenant_id;
    UPDATE public.users u SET billing_customer = NULL, plan = NULL, subscription_status = NULL,
        subscription_period_end = NULL, subscription_cancels_at = NULL
      WHERE u.billing_customer = customer AND u.id IS DISTINCT FROM assign_customer.user_id
      RETURNING u.id INTO previous_user_id;
    UPDATE public.tenants t SET billing_customer = customer WHERE t.id = assign_customer.tenant_id;
    UPDATE public.users u SET billing_customer = customer WHERE u.id = assign_customer.user_id;
    SELECT * INTO best FROM public.leading_subscription(customer);
    IF FOUND THEN
      UPDATE public.tenants t SET plan = best.plan, subscription_status = best.status,
          subscription_period_end = best.period_end, subscription_cancels_at = best.cancels_at, seats = best.seats
        WHERE t.id = assign_customer.tenant_id;
      UPDATE public.users u SET plan = best.plan, subscription_status = best.status,
          subscription_period_end = best.period_end, subscription_cancels_at = best.cancels_at
        WHERE u.id = assign_customer.user_id AND u.own_tenant_id IS NOT NULL;
    END IF;
  END IF;
  RETURN NEXT;
END
$$;
