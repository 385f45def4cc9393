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

-- For operators, in the pages and the API.
CREATE OR REPLACE FUNCTION link_customer(customer text, holder bigint, address text)
RETURNS TABLE (outcome text, user_id bigint, previous_user_id bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM public.operator_user_id();
  RETURN QUERY SELECT * FROM public.assign_customer(customer, holder, address);
END
$$;

-- Whether no user has a billing customer, for a person who starts to pay with a new one.
CREATE OR REPLACE FUNCTION customer_is_free(customer text) RETURNS boolean
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM public.session_user_id();
  RETURN NOT EXISTS (SELECT FROM public.users u WHERE u.billing_customer = customer);
END
$$;

-- For operators: one page of the linked customers, sorted.
CREATE OR REPLACE FUNCTION list_customers(customer_after text, batch integer)
RETURNS TABLE (customer text, user_id bigint, email text)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM public.operator_user_id();
  RETURN QUERY
    SELECT u.billing_customer, u.id, u.email FROM public.users u
    WHERE u.billing_customer IS NOT NULL
      AND (customer_after IS NULL OR u.billing_customer > customer_after)
    ORDER BY u.billing_customer LIMIT batch;
END
$$;

-- For operators: customers with several subscriptions that give a plan, and the user who has each. Looks at the first
-- 10,000 customers who have had several at some time, by index: most have ended one since.
CREATE OR REPLACE FUNCTION list_double_payers(batch integer)
RETURNS TABLE (customer text, user_id bigint, email text, subscriptions text[])
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM public.operator_user_id();
  RETURN QUERY
  SELECT d.customer, u.id, u.email, g.ids
    FROM (SELECT DISTINCT o.customer FROM public.billing_objects o WHERE o.beside IS NOT NULL
          ORDER BY o.customer LIMIT 10000) d
    CROSS JOIN LATERAL (
      SELECT array_agg(o.object_id ORDER BY o.object_id) AS ids FROM public.billing_objects o
      WHERE o.customer = d.customer AND o.kind = 'subscription' AND o.plan IS NOT NULL
        AND coalesce(o.cancels_at > now(), true)) g
    LEFT JOIN public.users u ON u.billing_customer = d.customer
    WHERE cardinality(g.ids) > 1
    ORDER BY d.customer LIMIT batch;
END
$$;
