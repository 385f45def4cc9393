-- Billing events and customers.

-- The subscription of a customer that decides the plan: one that gives a plan comes before one that does not, then
-- the plan that the operator lists later, then the one in the better state, then the one that is paid for longest.
CREATE OR REPLACE FUNCTION leading_subscription(owner text) RETURNS SETOF public.billing_objects
LANGUAGE sql STABLE SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
  SELECT o.* FROM public.billing_objects o
  WHERE o.customer = owner AND o.kind = 'subscription'
  ORDER BY (o.plan IS NOT NULL AND coalesce(o.cancels_at > now(), true)) DESC,
    o.plan_rank DESC NULLS LAST, array_position(ARRAY['active', 'trialing', 'past_due'], o.status),
    o.period_end DESC NULLS LAST, o.newest_created DESC NULLS LAST, o.object_id
  LIMIT 1
$$;

-- Links a billing customer to the user with this id or this verified address, and takes it from the user who had
-- it. The plan follows the customer. With neither id nor address it only unlinks. Outcome: linked, unlinked, no-user, has-another.
CREATE OR REPLACE FUNCTION assign_customer(customer text, holder bigint, address text)
RETURNS TABLE (outcome text, user_id bigint, previous_user_id bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  held text;
  best public.billing_objects;
BEGIN
  PERFORM pg_advisory_xact_lock(7165230420);
  SELECT u.id, u.billing_customer INTO user_id, held FROM public.users u
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
    UPDATE public.users u SET billing_customer = NULL, plan = NULL, subscription_status = NULL,
        subscription_period_end = NULL, subscription_cancels_at = NULL
      WHERE u.billing_customer = customer AND u.id IS DISTINCT FROM assign_customer.user_id
      RETURNING u.id INTO previous_user_id;
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

-- assign_customer for an operator with a session.
CREATE OR REPLACE FUNCTION link_customer(customer text, holder bigint, address text)
RETURNS TABLE (outcome text, user_id bigint, previous_user_id bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM public.operator_user_id();
  RETURN QUERY SELECT * FROM public.assign_customer(customer, holder, address);
END
$$;

-- Links a customer without a user to the user for whom this program created it. Outcome: linked, taken (a user has
-- it, perhaps this one), no-user, has-another.
CREATE OR REPLACE FUNCTION claim_customer(customer text, holder bigint) RETURNS text
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(7165230420);
  IF EXISTS (SELECT FROM public.users u WHERE u.billing_customer = customer) THEN RETURN 'taken'; END IF;
  RETURN (SELECT a.outcome FROM public.assign_customer(customer, holder, NULL) a);
END
$$;

-- The customer that a user has at a billing provider which is not used any more, by the form of its id. NULL while its
-- plan runs: then an operator decides.
CREATE OR REPLACE FUNCTION former_customer(holder bigint, form text) RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT u.billing_customer FROM public.users u
  WHERE u.id = holder AND u.billing_customer ~ form AND (u.plan IS NULL OR u.subscription_cancels_at <= now())
$$;

-- What is left of billing providers that are not used any more: linked customers, how many of their users have a plan
-- and when the last of these is paid until, and events that wait for a link.
CREATE OR REPLACE FUNCTION count_former(form text)
RETURNS TABLE (customers integer, plans integer, paid_until timestamptz, events integer)
LANGUAGE sql STABLE SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
  SELECT count(*)::integer, (count(*) FILTER (WHERE has_plan))::integer, max(period_end) FILTER (WHERE has_plan),
    (SELECT count(*)::integer FROM public.received_events e WHERE e.status = 'unlinked' AND e.customer ~ form)
  FROM (
    SELECT u.subscription_period_end AS period_end,
      u.plan IS NOT NULL AND coalesce(u.subscription_cancels_at > now(), true) AS has_plan
    FROM public.users u WHERE u.billing_customer ~ form) linked
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

-- The subscriptions of the person who is asking, the newest first.
CREATE OR REPLACE FUNCTION own_subscriptions()
RETURNS TABLE (id text, status text, plan text, period_end timestamptz, cancels_at timestamptz, details jsonb)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT o.object_id, o.status, CASE WHEN o.cancels_at <= now() THEN NULL ELSE o.plan END, o.period_end, o.cancels_at,
         o.details
  FROM public.users u JOIN public.billing_objects o ON o.customer = u.billing_customer
  WHERE u.id = (SELECT public.current_user_id()) AND o.kind = 'subscription'
  ORDER BY o.newest_created DESC NULLS LAST, o.object_id LIMIT 100
$$;

-- For operators: one page of the subscriptions of all customers, sorted by id.
CREATE OR REPLACE FUNCTION list_subscriptions(subscription_after text, batch integer)
RETURNS TABLE (id text, customer text, user_id bigint, status text, plan text, period_end timestamptz,
               cancels_at timestamptz, details jsonb)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM public.operator_user_id();
  RETURN QUERY
    SELECT o.object_id, o.customer, u.id, o.status, CASE WHEN o.cancels_at <= now() THEN NULL ELSE o.plan END,
           o.period_end, o.cancels_at, o.details
    FROM public.billing_objects o LEFT JOIN public.users u ON u.billing_customer = o.customer
    WHERE o.kind = 'subscription' AND (subscription_after IS NULL OR o.object_id > subscription_after)
    ORDER BY o.object_id LIMIT batch;
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

-- For operators: dismisses a dead or unlinked event. The web role may not update events itself. Returns the status
-- before; NULL if there is no such event.
CREATE OR REPLACE FUNCTION dismiss_event(event text, reason text) RETURNS text
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  before text;
BEGIN
  PERFORM public.operator_user_id();
  SELECT e.status INTO before FROM public.received_events e WHERE e.event_id = event FOR UPDATE;
  IF before IN ('dead', 'unlinked') THEN
    UPDATE public.received_events e SET status = 'dismissed', dismissed_reason = reason WHERE e.event_id = event;
  END IF;
  RETURN before;
END
$$;

-- A received body may be deleted after its retention period and is never changed.
CREATE OR REPLACE FUNCTION refuse_changed_body() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW."body" IS NOT NULL AND NEW."body" IS DISTINCT FROM OLD."body" THEN
    RAISE EXCEPTION 'a received body is never changed' USING ERRCODE = '42501';
  END IF;
  RETURN NEW;
END
$$;
