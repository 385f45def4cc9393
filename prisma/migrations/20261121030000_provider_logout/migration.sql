-- Back-channel logout: each logout token counts once, and sessions are found by the provider's.

CREATE TABLE "logout_tokens" (
  "provider" text NOT NULL,
  "jti_hash" bytea NOT NULL CHECK (octet_length("jti_hash") = 32),
  "expires_at" timestamptz(6) NOT NULL,
  CONSTRAINT "logout_tokens_pkey" PRIMARY KEY ("provider", "jti_hash")
);
CREATE INDEX "logout_tokens_provider_expires_at_idx" ON "logout_tokens" ("provider", "expires_at");

CREATE INDEX "sessions_provider_provider_session_idx" ON "sessions" ("provider", "provider_session");
