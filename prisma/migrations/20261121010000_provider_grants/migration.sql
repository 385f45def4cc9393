-- Provider tokens: what a provider granted for its API, and what is to be revoked there.
-- Tokens are envelopes (src/crypto/sealed.ts) bound to provider, subject and purpose.

-- One grant per identity; it goes with the identity. refresh_attempt names the refresh under way:
-- it is committed before the refresh token is sent, so that a token that may be spent is known.
CREATE TABLE "provider_grants" (
  "provider" text NOT NULL,
  "provider_user_id" text NOT NULL,
  "access_token" bytea NOT NULL,
  "refresh_token" bytea,
  "scope" text NOT NULL,
  "expires_at" timestamptz(6),
  "generation" integer NOT NULL DEFAULT 1,
  "status" text NOT NULL DEFAULT 'active' CHECK ("status" IN ('active', 'needs-sign-in')),
  "refresh_attempt" uuid,
  "created_at" timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "provider_grants_pkey" PRIMARY KEY ("provider", "provider_user_id"),
  CONSTRAINT "provider_grants_provider_provider_user_id_fkey" FOREIGN KEY ("provider", "provider_user_id")
    REFERENCES "oauth_identities" ("provider", "provider_user_id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- No foreign keys: a token is still to be revoked when its user is gone.
CREATE TABLE "token_revocations" (
  "id" uuid NOT NULL DEFAULT gen_random_uuid(),
  "provider" text NOT NULL,
  "provider_user_id" text NOT NULL,
  "user_id" bigint NOT NULL,
  "tenant_id" uuid,
  "token" bytea NOT NULL,
  "kind" text NOT NULL CHECK ("kind" IN ('refresh_token', 'access_token')),
  "status" text NOT NULL CHECK ("status" IN ('superseded', 'revoking', 'failed')),
  "attempts" integer NOT NULL DEFAULT 0,
  "last_error" text,
  "created_at" timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "token_revocations_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "token_revocations_user_id_idx" ON "token_revocations" ("user_id");
