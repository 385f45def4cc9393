-- The foundation: identity plane, tenants and their first tables, received events, audit log.
-- PostgreSQL 15 or newer. Roles and grants are not here: `gatehouse migrate` gives them (src/db/grants.ts).

-- The context of a transaction. Unset and empty are the same: no rows.
CREATE FUNCTION "current_tenant_id"() RETURNS uuid
LANGUAGE sql STABLE PARALLEL SAFE
RETURN NULLIF(current_setting('app.tenant_id', true), '')::uuid;

CREATE FUNCTION "current_user_id"() RETURNS bigint
LANGUAGE sql STABLE PARALLEL SAFE
RETURN NULLIF(current_setting('app.user_id', true), '')::bigint;

-- Identity plane: read by key before any tenant is known.

CREATE TABLE "tenants" (
  "id" uuid NOT NULL,
  "name" text NOT NULL CHECK (length("name") BETWEEN 1 AND 200),
  "created_at" timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "tenants_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "users" (
  "id" bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  "email" text CHECK (length("email") <= 320),
  "email_verified" boolean NOT NULL DEFAULT false,
  "plan" text CHECK ("plan" IN ('pro')),
  "billing_customer" text,
  "own_tenant_id" uuid,
  "created_at" timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "users_pkey" PRIMARY KEY ("id"),
  CONSTRAINT "users_own_tenant_id_fkey" FOREIGN KEY ("own_tenant_id")
    REFERENCES "tenants" ("id") ON DELETE SET NULL ON UPDATE CASCADE
);
CREATE UNIQUE INDEX "users_billing_customer_key" ON "users" ("billing_customer");
CREATE UNIQUE INDEX "users_own_tenant_id_key" ON "users" ("own_tenant_id");
-- Two accounts can never both hold one address as verified.
CREATE UNIQUE INDEX "users_verified_email_key" ON "users" (lower("email") COLLATE "C") WHERE "email_verified";

CREATE TABLE "oauth_identities" (
  "provider" text NOT NULL,
  "provider_user_id" text NOT NULL CHECK (length("provider_user_id") BETWEEN 1 AND 255),
  "user_id" bigint NOT NULL,
  "issuer" text NOT NULL,
  "created_at" timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "oauth_identities_pkey" PRIMARY KEY ("provider", "provider_user_id"),
  CONSTRAINT "oauth_identities_user_id_fkey" FOREIGN KEY ("user_id")
    REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "oauth_identities_user_id_idx" ON "oauth_identities" ("user_id");

CREATE TABLE "memberships" (
  "tenant_id" uuid NOT NULL,
  "user_id" bigint NOT NULL,
  "role" text NOT NULL CHECK ("role" IN ('viewer', 'editor', 'admin')),
  "department" text,
  "created_at" timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "last_active_at" timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "memberships_pkey" PRIMARY KEY ("tenant_id", "user_id"),
  CONSTRAINT "memberships_tenant_id_fkey" FOREIGN KEY ("tenant_id")
    REFERENCES "tenants" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
  CONSTRAINT "memberships_user_id_fkey" FOREIGN KEY ("user_id")
    REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "memberships_user_id_idx" ON "memberships" ("user_id");

-- user_id is null until sign-in: an anonymous row exists only while a sign-in is pending.
-- The key to memberships ends the sessions of whoever is removed from a tenant.
CREATE TABLE "sessions" (
  "id" uuid NOT NULL DEFAULT gen_random_uuid(),
  "id_hash" bytea NOT NULL CHECK (octet_length("id_hash") = 32),
  "user_id" bigint,
  "tenant_id" uuid,
  "provider" text,
  "provider_session" text,
  "user_agent" text,
  "ip" text,
  "created_at" timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "authenticated_at" timestamptz(6),
  "last_seen_at" timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "expires_at" timestamptz(6) NOT NULL,
  CONSTRAINT "sessions_pkey" PRIMARY KEY ("id"),
  CONSTRAINT "sessions_user_id_fkey" FOREIGN KEY ("user_id")
    REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
  CONSTRAINT "sessions_tenant_id_user_id_fkey" FOREIGN KEY ("tenant_id", "user_id")
    REFERENCES "memberships" ("tenant_id", "user_id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE UNIQUE INDEX "sessions_id_hash_key" ON "sessions" ("id_hash");
CREATE INDEX "sessions_user_id_idx" ON "sessions" ("user_id");
CREATE INDEX "sessions_tenant_id_user_id_idx" ON "sessions" ("tenant_id", "user_id");
CREATE INDEX "sessions_expires_at_idx" ON "sessions" ("expires_at");

CREATE TABLE "sign_in_attempts" (
  "state_hash" bytea NOT NULL CHECK (octet_length("state_hash") = 32),
  "session_id" uuid NOT NULL,
  "provider" text NOT NULL,
  "nonce" text NOT NULL,
  "code_verifier" text NOT NULL,
  "created_at" timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "expires_at" timestamptz(6) NOT NULL,
  CONSTRAINT "sign_in_attempts_pkey" PRIMARY KEY ("state_hash"),
  CONSTRAINT "sign_in_attempts_session_id_fkey" FOREIGN KEY ("session_id")
    REFERENCES "sessions" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "sign_in_attempts_session_id_idx" ON "sign_in_attempts" ("session_id");
CREATE INDEX "sign_in_attempts_expires_at_idx" ON "sign_in_attempts" ("expires_at");

-- Owner and tenant tables. Every key carries tenant_id: a key without it would let one tenant
-- point at another's row, because foreign keys are checked without row-level security.

CREATE TABLE "orders" (
  "tenant_id" uuid NOT NULL,
  "id" bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  "user_id" bigint NOT NULL,
  "line_items" jsonb NOT NULL,
  "shipping_address" jsonb NOT NULL,
  "card_last4" text NOT NULL CHECK ("card_last4" ~ '^[0-9]{4}$'),
  "created_at" timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "orders_pkey" PRIMARY KEY ("tenant_id", "id"),
  CONSTRAINT "orders_tenant_id_fkey" FOREIGN KEY ("tenant_id")
    REFERENCES "tenants" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
  CONSTRAINT "orders_user_id_fkey" FOREIGN KEY ("user_id")
    REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "orders_user_id_id_idx" ON "orders" ("user_id", "id");

CREATE TABLE "posts" (
  "tenant_id" uuid NOT NULL,
  "id" bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  "author_id" bigint,
  "department" text,
  "title" text NOT NULL,
  "body" text NOT NULL,
  "created_at" timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "posts_pkey" PRIMARY KEY ("tenant_id", "id"),
  CONSTRAINT "posts_tenant_id_fkey" FOREIGN KEY ("tenant_id")
    REFERENCES "tenants" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
  CONSTRAINT "posts_tenant_id_author_id_fkey" FOREIGN KEY ("tenant_id", "author_id")
    REFERENCES "memberships" ("tenant_id", "user_id") ON DELETE NO ACTION ON UPDATE NO ACTION
);
CREATE INDEX "posts_tenant_id_author_id_idx" ON "posts" ("tenant_id", "author_id");

CREATE TABLE "invoices" (
  "tenant_id" uuid NOT NULL,
  "id" bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  "amount" bigint NOT NULL,
  "currency" text NOT NULL CHECK ("currency" ~ '^[a-z]{3}$'),
  "status" text NOT NULL,
  "source_event" text,
  "created_at" timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "invoices_pkey" PRIMARY KEY ("tenant_id", "id"),
  CONSTRAINT "invoices_tenant_id_fkey" FOREIGN KEY ("tenant_id")
    REFERENCES "tenants" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE UNIQUE INDEX "invoices_tenant_id_source_event_key" ON "invoices" ("tenant_id", "source_event");

-- Service tables.

CREATE TABLE "processed_events" (
  "event_id" text NOT NULL,
  "created_at" timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "processed_events_pkey" PRIMARY KEY ("event_id")
);

CREATE TABLE "received_events" (
  "event_id" text NOT NULL,
  "type" text NOT NULL,
  "body" bytea NOT NULL,
  "secret_index" smallint NOT NULL,
  "status" text NOT NULL CHECK ("status" IN ('recorded', 'processed', 'ignored', 'failed', 'dead')),
  "attempts" integer NOT NULL DEFAULT 0,
  "last_error" text,
  "received_at" timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "processed_at" timestamptz(6),
  CONSTRAINT "received_events_pkey" PRIMARY KEY ("event_id")
);
CREATE INDEX "received_events_received_at_idx" ON "received_events" ("received_at");

CREATE TABLE "audit_log" (
  "id" bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  "at" timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "action" text NOT NULL,
  "outcome" text NOT NULL,
  "reason" text,
  "provider" text,
  "user_id" bigint,
  "tenant_id" uuid,
  "ip" text,
  "user_agent" text,
  CONSTRAINT "audit_log_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "audit_log_user_id_id_idx" ON "audit_log" ("user_id", "id");
CREATE INDEX "audit_log_tenant_id_id_idx" ON "audit_log" ("tenant_id", "id");

-- The second lock. FORCE holds the owner of the tables to it too. The scalar subselect makes
-- PostgreSQL read the setting once per statement instead of once per row.

ALTER TABLE "tenants" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY "tenant_scope" ON "tenants"
  USING ("id" = (SELECT current_tenant_id())) WITH CHECK ("id" = (SELECT current_tenant_id()));

ALTER TABLE "orders" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY "owner_scope" ON "orders"
  USING ("user_id" = (SELECT current_user_id())) WITH CHECK ("user_id" = (SELECT current_user_id()));
CREATE POLICY "placed_in_own_tenant" ON "orders" AS RESTRICTIVE FOR INSERT
  WITH CHECK ("tenant_id" = (SELECT current_tenant_id()));

ALTER TABLE "posts" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY "tenant_scope" ON "posts"
  USING ("tenant_id" = (SELECT current_tenant_id())) WITH CHECK ("tenant_id" = (SELECT current_tenant_id()));

ALTER TABLE "invoices" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY "tenant_scope" ON "invoices"
  USING ("tenant_id" = (SELECT current_tenant_id())) WITH CHECK ("tenant_id" = (SELECT current_tenant_id()));

-- Written by everyone, for whomever it concerns; read by the person and inside the tenant.
ALTER TABLE "audit_log" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY "append" ON "audit_log" FOR INSERT WITH CHECK (true);
CREATE POLICY "own_or_tenant" ON "audit_log" FOR SELECT
  USING ("user_id" = (SELECT current_user_id()) OR "tenant_id" = (SELECT current_tenant_id()));
