-- Recovery of an endpoint by trial deliveries (src/webhooks/health/recovery.ts).
ALTER TABLE "webhook_endpoints"
  ADD COLUMN "recover_when_disabled" boolean NOT NULL DEFAULT false,
  ADD COLUMN "outage_since" timestamptz(6),
  ADD COLUMN "recovering_since" timestamptz(6),
  ADD COLUMN "recovery_step" integer NOT NULL DEFAULT 0,
  ADD COLUMN "trial_at" timestamptz(6),
  ADD COLUMN "trials" integer NOT NULL DEFAULT 0,
  ADD COLUMN "trial_delivery_id" uuid;

ALTER TABLE "notifications" DROP CONSTRAINT "notifications_kind_check";
ALTER TABLE "notifications" ADD CONSTRAINT "notifications_kind_check" CHECK ("kind" IN
  ('endpoint.failing', 'endpoint.disabled', 'endpoint.recovering', 'endpoint.recovered')) NOT VALID;
ALTER TABLE "notifications" VALIDATE CONSTRAINT "notifications_kind_check";

-- As before; in addition, the endpoints of a deleted tenant get no trial deliveries.
CREATE OR REPLACE FUNCTION "close_tenant"(tenant uuid) RETURNS uuid[]
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  entered text := coalesce(current_setting('app.scope', true), '');
  revocations uuid[] := '{}';
  member bigint;
  scope_text text;
BEGIN
  scope_text := public.set_scope('erasure', '', NULL, tenant);
  UPDATE public.users u SET own_tenant_id = NULL WHERE u.own_tenant_id = tenant;
  UPDATE public.webhook_endpoints e SET status = 'disabled',
      disabled_at = coalesce(e.disabled_at, now()), recover_when_disabled = false
    WHERE e.tenant_id = tenant;
  DELETE FROM public.invitations i WHERE i.tenant_id = tenant;
  FOR member IN
    SELECT m.user_id FROM public.memberships m WHERE m.tenant_id = tenant ORDER BY m.user_id
  LOOP
    revocations := revocations ||
      (SELECT r.revocations FROM public.remove_membership(tenant, member) r);
  END LOOP;
  UPDATE public.token_revocations r SET tenant_id = NULL WHERE r.tenant_id = tenant;
  INSERT INTO public.erasures (tenant_id) VALUES (tenant);
  scope_text := set_config('app.scope', entered, true);
  RETURN revocations;
END
$$;
