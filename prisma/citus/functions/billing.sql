-- Billing events and customers.

-- Links a billing customer to the user with this id or this verified address, and takes it from the user who had
-- it. The plan follows the customer. With neither id nor address it only unlinks. Outcome: linked, unlinked, no-user, has-another.
CREATE OR REPLACE FUNCTION assign_customer(customer text, holder bigint, address text)
RETURNS TABLE (outcome text, user_id bigint, previous_user_id bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  held text;
  best public.billing_objects;
BEGIN
  PERFORM pg_advisory_xact_lock(7165230420);
  SELECT u.id, u.billing_customer INTO user_id, held FROM public.{users} u
    WHERE u.id = holder
      OR holder IS NULL AND u.email_verified
         AND lower(u.email COLLATE "C") = lower(address COLLATE "C")
    FOR UPDATE;
  outcome := CASE
    WHEN holder IS NULL AND address IS NULL THEN 'unlinked'
    WHEN user_id IS NULL THEN 'no-user'
    WHEN held <> customer THEN 'has-another'
    ELSE 'linked'
  END;
  IF outcome IN ('linked', 'unlinked') THEN
  PERFORM pg_advisory_xact_lock(7165230421);
    UPDATE public.users u SET billing_customer = NULL, plan = NULL, subscription_status = NULL,
        subscription_period_end = NULL, subscription_cancels_at = NULL
      WHERE u.billing_customer = customer AND u.id IS DISTINCT FROM assign_customer.user_id
      RETURNING u.id INTO previous_user_id;
  PERFORM pg_advisory_xact_lock(7165230421);
    UPDATE public.users u SET billing_customer = customer WHERE u.id = assign_customer.user_id;
    SELECT * INTO best FROM public.leading_subscription(customer);
    IF FOUND THEN
      UPDATE public.users u SET plan = best.plan, subscription_status = best.status,
          subscription_period_end = best.period_end, subscription_cancels_at = best.cancels_at
        WHERE u.id = assign_customer.user_id AND u.own_tenant_id IS NOT NULL;
    END IF;
  END IF;
  RETURN NEXT;
END
$$;
