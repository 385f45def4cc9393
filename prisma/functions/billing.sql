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
  PERFORM FROM public.tenants t WHERE t.id = tenant OR t.billing_customer = customer ORDER BY t.id FOR NO KEY UPDATE;
  IF tenant IS NOT NULL THEN
    SELECT t.id, t.billing_customer INTO tenant_id, held FROM public.tenants t
      WHERE t.id = tenant AND t.closed_at IS NULL;
  ELSE
    SELECT u.id, u.billing_customer INTO user_id, held FROM public.users u
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

-- assign_customer for an operator with a session.
CREATE OR REPLACE FUNCTION link_customer(customer text, holder bigint, address text, tenant uuid)
RETURNS TABLE (outcome text, user_id bigint, tenant_id uuid, previous_user_id bigint, previous_tenant_id uuid)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM public.operator_user_id();
  RETURN QUERY SELECT * FROM public.assign_customer(customer, holder, address, tenant);
END
$$;

-- The user or the tenant that has a customer. No row for a customer that is not linked.
CREATE OR REPLACE FUNCTION customer_holder(customer text)
RETURNS TABLE (user_id bigint, email text, tenant_id uuid, tenant_name text) LANGUAGE sql STABLE ROWS 1 AS $$
  SELECT u.id, u.email, NULL::uuid, NULL::text FROM public.users u WHERE u.billing_customer = customer
  UNION ALL
  SELECT NULL, NULL, t.id, t.name FROM public.tenants t WHERE t.billing_customer = customer
$$;

-- Links a customer that is not linked yet to the user or tenant for which this program created it. Outcome: linked, taken
-- (somebody has it, perhaps this one), no-user, no-tenant, has-another.
CREATE OR REPLACE FUNCTION claim_customer(customer text, holder bigint, tenant uuid) RETURNS text
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(7165230420);
  IF EXISTS (SELECT FROM public.customer_holder(customer)) THEN RETURN 'taken'; END IF;
  RETURN (SELECT a.outcome FROM public.assign_customer(customer, holder, NULL, tenant) a);
END
$$;

-- The customer that a user or a tenant has at a billing provider which is not used any more, by the form of its id. NULL
-- while its plan runs: then an operator decides.
CREATE OR REPLACE FUNCTION former_customer(holder bigint, tenant uuid, form text) RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT u.billing_customer FROM public.users u
  WHERE u.id = holder AND u.billing_customer ~ form AND public.valid_plan(u.plan, u.subscription_cancels_at) IS NULL
  UNION ALL
  SELECT t.billing_customer FROM public.tenants t
  WHERE t.id = tenant AND t.billing_customer ~ form AND public.valid_plan(t.plan, t.subscription_cancels_at) IS NULL
$$;

-- Linked customers of people and of tenants whose ids have a form: how many there are, how many have a plan, when the
-- last of these is paid until, and how many events wait for the link of a customer with such an id.
CREATE OR REPLACE FUNCTION count_customers(form text)
RETURNS TABLE (of_tenants boolean, customers integer, plans integer, paid_until timestamptz, events integer)
LANGUAGE sql STABLE SECURITY DEFINER ROWS 2 SET search_path = pg_catalog, pg_temp AS $$
  SELECT k.of_tenants, count(l.customer)::integer, count(l.plan)::integer,
    max(l.period_end) FILTER (WHERE l.plan IS NOT NULL),
    (SELECT count(*)::integer FROM public.received_events e WHERE e.status = 'unlinked' AND e.customer ~ form)
  FROM (VALUES (false), (true)) k (of_tenants) LEFT JOIN (
    SELECT false AS of_tenants, u.billing_customer AS customer, u.subscription_period_end AS period_end,
      public.valid_plan(u.plan, u.subscription_cancels_at) AS plan
    FROM public.users u WHERE u.billing_customer ~ form
    UNION ALL
    SELECT true, t.billing_customer, t.subscription_period_end, public.valid_plan(t.plan, t.subscription_cancels_at)
    FROM public.tenants t WHERE t.billing_customer ~ form) l ON l.of_tenants = k.of_tenants
  GROUP BY k.of_tenants
$$;

-- Whether a billing customer is not linked, for a person who starts to pay with a new one.
CREATE OR REPLACE FUNCTION customer_is_free(customer text) RETURNS boolean
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM public.session_user_id();
  RETURN NOT EXISTS (SELECT FROM public.customer_holder(customer));
END
$$;

-- For operators: one page of the linked customers, sorted.
CREATE OR REPLACE FUNCTION list_customers(customer_after text, batch integer)
RETURNS TABLE (customer text, user_id bigint, email text, tenant_id uuid, tenant_name text)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM public.operator_user_id();
  RETURN QUERY
    (SELECT u.billing_customer, u.id, u.email, NULL::uuid, NULL::text FROM public.users u
     WHERE u.billing_customer IS NOT NULL
       AND (customer_after IS NULL OR u.billing_customer > customer_after)
     ORDER BY u.billing_customer LIMIT batch)
    UNION ALL
    (SELECT t.billing_customer, NULL, NULL, t.id, t.name FROM public.tenants t
     WHERE t.billing_customer IS NOT NULL
       AND (customer_after IS NULL OR t.billing_customer > customer_after)
     ORDER BY t.billing_customer LIMIT batch)
    ORDER BY 1 LIMIT batch;
END
$$;

-- The subscriptions of the person who is asking, and those of their tenant if they manage it, the newest first.
CREATE OR REPLACE FUNCTION own_subscriptions()
RETURNS TABLE (id text, status text, plan text, period_end timestamptz, cancels_at timestamptz, details jsonb)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT o.object_id, o.status, public.valid_plan(o.plan, o.cancels_at), o.period_end, o.cancels_at, o.details
  FROM public.billing_objects o
  WHERE o.kind = 'subscription' AND o.customer IN (
    SELECT u.billing_customer FROM public.users u WHERE u.id = (SELECT public.current_user_id())
    UNION ALL
    SELECT t.billing_customer FROM public.tenants t
    WHERE t.id = (SELECT public.current_tenant_id()) AND (SELECT public.is_manager()))
  ORDER BY o.newest_created DESC NULLS LAST, o.object_id LIMIT 100
$$;

-- The customer that a tenant is, its seats and who needs one, for a person who manages it; no row for anybody else.
-- `seats` is NULL without a plan. Counts up to 100,000 members; `but` is an address whose invitation is not counted.
CREATE OR REPLACE FUNCTION tenant_billing(but text)
RETURNS TABLE (customer text, seats integer, members integer, invitations integer)
LANGUAGE sql STABLE SECURITY DEFINER ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
  SELECT t.billing_customer,
    CASE WHEN public.valid_plan(t.plan, t.subscription_cancels_at) IS NOT NULL THEN t.seats::integer END,
    (SELECT count(*)::integer FROM (
      SELECT FROM public.memberships m WHERE m.tenant_id = t.id LIMIT 100000) one),
    (SELECT count(*)::integer FROM public.invitations i
     WHERE i.tenant_id = t.id AND i.accepted_at IS NULL AND i.expires_at > now()
       AND i.email IS DISTINCT FROM lower(but COLLATE "C"))
  FROM public.tenants t
  WHERE t.id = (SELECT public.current_tenant_id()) AND t.closed_at IS NULL AND (SELECT public.is_manager())
$$;

-- For operators: one page of the subscriptions of all customers, sorted by id.
CREATE OR REPLACE FUNCTION list_subscriptions(subscription_after text, batch integer)
RETURNS TABLE (id text, customer text, user_id bigint, tenant_id uuid, status text, plan text, period_end timestamptz,
               cancels_at timestamptz, details jsonb)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM public.operator_user_id();
  RETURN QUERY
    SELECT o.object_id, o.customer, h.user_id, h.tenant_id, o.status, public.valid_plan(o.plan, o.cancels_at),
           o.period_end, o.cancels_at, o.details
    FROM public.billing_objects o LEFT JOIN LATERAL public.customer_holder(o.customer) h ON true
    WHERE o.kind = 'subscription' AND (subscription_after IS NULL OR o.object_id > subscription_after)
    ORDER BY o.object_id LIMIT batch;
END
$$;

-- For operators: customers with several subscriptions that give a plan, and who has each. Looks at the first 10,000
-- customers who have had several at some time, by index: most have ended one since.
CREATE OR REPLACE FUNCTION list_double_payers(batch integer)
RETURNS TABLE (customer text, user_id bigint, email text, tenant_id uuid, tenant_name text, subscriptions text[])
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM public.operator_user_id();
  RETURN QUERY
  SELECT d.customer, h.user_id, h.email, h.tenant_id, h.tenant_name, g.ids
    FROM (SELECT DISTINCT o.customer FROM public.billing_objects o WHERE o.beside IS NOT NULL
          ORDER BY o.customer LIMIT 10000) d
    CROSS JOIN LATERAL (
      SELECT array_agg(o.object_id ORDER BY o.object_id) AS ids FROM public.billing_objects o
      WHERE o.customer = d.customer AND o.kind = 'subscription'
        AND public.valid_plan(o.plan, o.cancels_at) IS NOT NULL) g
    LEFT JOIN LATERAL public.customer_holder(d.customer) h ON true
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
