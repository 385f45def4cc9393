-- People's accounts: linking and re-authentication, invitations, API tokens, what an audit entry is about.

-- A pending sign-in may serve a user who is signed in already: then it is theirs alone.
ALTER TABLE "sign_in_attempts"
  ADD COLUMN "purpose" text NOT NULL DEFAULT 'sign-in'
    CHECK ("purpose" IN ('sign-in', 'link', 'reauthenticate')),
  ADD COLUMN "user_id" bigint,
  ADD CONSTRAINT "sign_in_attempts_user_id_check" CHECK (("purpose" = 'sign-in') = ("user_id" IS NULL)),
  ADD CONSTRAINT "sign_in_attempts_user_id_fkey" FOREIGN KEY ("user_id")
    REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
CREATE INDEX "sign_in_attempts_user_id_idx" ON "sign_in_attempts" ("user_id");

-- An identity never changes its owner, whoever asks: the grants give nobody UPDATE, and this holds
-- the owner of the table and superusers too. ALWAYS: session_replication_role does not switch it off.
CREATE FUNCTION "refuse_identity_change"() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'an identity never changes its owner' USING ERRCODE = 'restrict_violation';
END
$$;
CREATE TRIGGER "identity_keeps_owner"
  BEFORE UPDATE OF "provider", "provider_user_id", "user_id", "issuer" ON "oauth_identities"
  FOR EACH ROW EXECUTE FUNCTION "refuse_identity_change"();
ALTER TABLE "oauth_identities" ENABLE ALWAYS TRIGGER "identity_keeps_owner";

-- Null until somebody has been active there: a membership by invitation starts so.
ALTER TABLE "memberships" ALTER COLUMN "last_active_at" DROP NOT NULL,
  ALTER COLUMN "last_active_at" DROP DEFAULT;

-- Identity plane: found by the address that a sign-in has proven, before any tenant is known.
CREATE TABLE "invitations" (
  "tenant_id" uuid NOT NULL,
  "id" uuid NOT NULL DEFAULT gen_random_uuid(),
  "email" text NOT NULL CHECK ("email" = lower("email" COLLATE "C") AND length("email") BETWEEN 3 AND 320),
  "role" text NOT NULL CHECK ("role" IN ('viewer', 'editor', 'admin')),
  "department" text,
  "invited_by" bigint,
  "created_at" timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "expires_at" timestamptz(6) NOT NULL,
  "accepted_at" timestamptz(6),
  CONSTRAINT "invitations_pkey" PRIMARY KEY ("tenant_id", "id"),
  CONSTRAINT "invitations_tenant_id_fkey" FOREIGN KEY ("tenant_id")
    REFERENCES "tenants" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
  CONSTRAINT "invitations_invited_by_fkey" FOREIGN KEY ("invited_by")
    REFERENCES "users" ("id") ON DELETE SET NULL ON UPDATE CASCADE
);
CREATE UNIQUE INDEX "invitations_tenant_id_email_key" ON "invitations" ("tenant_id", "email");
CREATE INDEX "invitations_email_idx" ON "invitations" ("email");
CREATE INDEX "invitations_invited_by_idx" ON "invitations" ("invited_by");

-- Identity plane: found by the hash of the token. The key to memberships ends the tokens of whoever
-- is removed from the tenant.
CREATE TABLE "api_tokens" (
  "id" uuid NOT NULL DEFAULT gen_random_uuid(),
  "hash" bytea NOT NULL CHECK (octet_length("hash") = 32),
  "user_id" bigint NOT NULL,
  "tenant_id" uuid NOT NULL,
  "name" text NOT NULL CHECK (length("name") BETWEEN 1 AND 100),
  "permissions" text[],
  "created_at" timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "expires_at" timestamptz(6) NOT NULL,
  "last_used_at" timestamptz(6),
  CONSTRAINT "api_tokens_pkey" PRIMARY KEY ("id"),
  CONSTRAINT "api_tokens_tenant_id_user_id_fkey" FOREIGN KEY ("tenant_id", "user_id")
    REFERENCES "memberships" ("tenant_id", "user_id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE UNIQUE INDEX "api_tokens_hash_key" ON "api_tokens" ("hash");
CREATE INDEX "api_tokens_user_id_idx" ON "api_tokens" ("user_id");
CREATE INDEX "api_tokens_tenant_id_user_id_idx" ON "api_tokens" ("tenant_id", "user_id");
CREATE INDEX "api_tokens_expires_at_idx" ON "api_tokens" ("expires_at");

-- What the entry is about: the id of a session, token, tenant or invitation.
ALTER TABLE "audit_log" ADD COLUMN "target" text;

-- A person sees the tenants they are a member of, whichever they are in.
CREATE POLICY "member_scope" ON "tenants" FOR SELECT
  USING (EXISTS (
    SELECT FROM memberships m
    WHERE m.tenant_id = tenants.id AND m.user_id = (SELECT current_user_id())
  ));
