-- The tables, by area: columns, keys, checks and indexes. Functions, policies and triggers are in prisma/functions,
-- prisma/policies.sql and prisma/triggers.sql, which `gatehouse migrate` applies after the migrations; privileges are
-- in src/schema/tables.ts. Until the policies are applied, a table with row-level security shows no row.
--
-- Keys of tenant tables start with tenant_id, and so do the foreign keys between them: PostgreSQL checks
-- foreign keys without row-level security, so a key without it could refer to the row of another tenant.
--
-- FORCE subjects the owner of the tables to the policies too. Tables without FORCE are read by functions
-- of the owner before a scope exists (identityTables in src/schema/tables.ts). Tables without row-level
-- security belong to no tenant (serviceTables).
--
-- Ids are at most 2^53 - 1, so that every JSON parser reads them exactly.

-- ---- Tenants and people ----

CREATE TABLE tenants (
  id uuid PRIMARY KEY,
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  -- When the tenant was closed: no credential enters it any more, and a worker deletes its members and rows. A write of
  -- a person, service or app holds the row FOR KEY SHARE, so that close_tenant waits for it; rows that a job writes
  -- later are deleted too.
  closed_at timestamptz(6),
  -- A customer of the billing provider that is this tenant, and the subscription that decides the plan of its members.
  -- Only functions write the customer, under a lock, so no user has the same one.
  billing_customer text UNIQUE,
  plan text CHECK (length(plan) BETWEEN 1 AND 32),
  subscription_status text,
  subscription_period_end timestamptz(6),
  subscription_cancels_at timestamptz(6), -- As in users
  seats bigint CHECK (seats >= 0) -- How many people the subscription is for. NULL if it does not say it
);
ALTER TABLE tenants ENABLE ROW LEVEL SECURITY;

CREATE TABLE users (
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991) PRIMARY KEY,
  -- The address of the latest sign-in. May be unverified, and may be missing.
  email text CHECK (length(email) <= 320),
  email_verified boolean NOT NULL DEFAULT false,
  plan text CHECK (length(plan) BETWEEN 1 AND 32),
  billing_customer text UNIQUE,
  -- The tenant that the first sign-in created. Invoices of the user go there.
  own_tenant_id uuid UNIQUE REFERENCES tenants(id) ON UPDATE CASCADE ON DELETE SET NULL,
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  name text CHECK (length(name) BETWEEN 1 AND 200), -- The `name` claim of the latest sign-in
  -- The language of mails to the user, BCP 47: the `locale` claim of the latest sign-in, or else what the browser asked
  -- for.
  locale text CHECK (length(locale) BETWEEN 2 AND 35),
  -- The subscription that decides the plan: its state at the provider, and when it ends or renews.
  subscription_status text,
  subscription_period_end timestamptz(6),
  -- From this time on the user has no plan, even if the provider's last event never arrives.
  subscription_cancels_at timestamptz(6)
);
-- Invitations and first sign-ins look for the holder of an address, verified or not.
CREATE INDEX users_email_idx ON users (lower(email COLLATE "C"));
-- Two users never hold the same address as verified. ASCII letters are compared in lower case, whatever the
-- locale of the database.
CREATE UNIQUE INDEX users_verified_email_key ON users (lower(email COLLATE "C")) WHERE email_verified;
ALTER TABLE users ENABLE ROW LEVEL SECURITY;

-- An account at an OpenID Provider. It never moves to another user (refuse_identity_change).
CREATE TABLE oauth_identities (
  provider text NOT NULL,
  provider_user_id text NOT NULL CHECK (length(provider_user_id) BETWEEN 1 AND 255),
  user_id bigint NOT NULL REFERENCES users(id) ON UPDATE CASCADE ON DELETE CASCADE,
  issuer text NOT NULL,
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  -- In lower case. NULL unless the provider is trusted for the address and verified it.
  verified_email text CHECK (verified_email = lower(verified_email COLLATE "C")),
  PRIMARY KEY (provider, provider_user_id)
);
CREATE INDEX oauth_identities_user_id_idx ON oauth_identities (user_id);
ALTER TABLE oauth_identities ENABLE ROW LEVEL SECURITY;

CREATE TABLE memberships (
  tenant_id uuid NOT NULL REFERENCES tenants(id) ON UPDATE CASCADE ON DELETE CASCADE,
  user_id bigint NOT NULL REFERENCES users(id) ON UPDATE CASCADE ON DELETE CASCADE,
  role text NOT NULL, -- a role of the app: migrate adds the check
  department text,
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  last_active_at timestamptz(6), -- NULL until a session of the user has been active in the tenant
  role_provider text, -- the provider whose ROLE_MAP decides the role; NULL if people do
  PRIMARY KEY (tenant_id, user_id)
);
-- Members are listed in the order in which they joined; each filter has its own index.
CREATE INDEX memberships_tenant_id_created_at_user_id_idx ON memberships (tenant_id, created_at, user_id);
CREATE INDEX memberships_tenant_id_department_created_at_user_id_idx
  ON memberships (tenant_id, department, created_at, user_id);
CREATE INDEX memberships_tenant_id_role_created_at_user_id_idx ON memberships (tenant_id, role, created_at, user_id);
CREATE INDEX memberships_user_id_idx ON memberships (user_id);
ALTER TABLE memberships ENABLE ROW LEVEL SECURITY;

-- Consent to join a tenant. A person accepts or declines with the verified address, or with the secret of the link and
-- the same address. invited_by has no foreign key: purge_person clears it in batches.
CREATE TABLE invitations (
  tenant_id uuid NOT NULL REFERENCES tenants(id) ON UPDATE CASCADE ON DELETE CASCADE,
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  email text NOT NULL CHECK (email = lower(email COLLATE "C") AND length(email) BETWEEN 3 AND 320),
  role text NOT NULL, -- a role of the app: migrate adds the check
  department text,
  invited_by bigint,
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  expires_at timestamptz(6) NOT NULL,
  accepted_at timestamptz(6),
  declined_at timestamptz(6), -- A declined invitation stays until it expires: the tenant does not learn of it
  mailed_at timestamptz(6),
  link_hash bytea CHECK (octet_length(link_hash) = 32), -- SHA-256 of the secret of the link
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX invitations_email_idx ON invitations (email);
CREATE INDEX invitations_invited_by_idx ON invitations (invited_by);
-- Finds the open invitations of a member: to end them when the member may no longer invite, and to limit their number.
CREATE INDEX invitations_open_idx ON invitations (tenant_id, invited_by, expires_at) WHERE accepted_at IS NULL;
CREATE UNIQUE INDEX invitations_tenant_id_email_key ON invitations (tenant_id, email);
ALTER TABLE invitations ENABLE ROW LEVEL SECURITY;

-- Counts the mails with invitations of a day: one row per address, per tenant and per pair of both. The key is a hash,
-- so that the table contains no address. Only functions of the owner read and write it.
CREATE TABLE invitation_mails (
  -- SHA-256 of the kind of the row and the address, the id of the tenant, or both (mail_key).
  key_hash bytea PRIMARY KEY CHECK (octet_length(key_hash) = 32),
  day date NOT NULL, -- The day in UTC that `count` is for
  count integer NOT NULL,
  invitation_id uuid, -- Of a pair: the invitation mailed that day. Its mail may be tried again
  declined_at timestamptz(6) -- When the holder of the address declined. It gets no mail until they accept one
);
CREATE INDEX invitation_mails_day_idx ON invitation_mails (day);
ALTER TABLE invitation_mails ENABLE ROW LEVEL SECURITY;

-- ---- Signing in ----
-- Tables without a policy are read by functions of the owner only.

-- A removed membership deletes the sessions in that tenant, by the foreign key.
CREATE TABLE sessions (
  id uuid DEFAULT gen_random_uuid() PRIMARY KEY,
  -- SHA-256 of the SHA-256 of the id in the cookie. The stored value opens nothing.
  id_hash bytea NOT NULL UNIQUE CHECK (octet_length(id_hash) = 32),
  user_id bigint REFERENCES users(id) ON UPDATE CASCADE ON DELETE CASCADE, -- NULL during a sign-in
  tenant_id uuid,
  provider text,
  provider_session text, -- The `sid` claim, for back-channel logout
  user_agent text,
  ip text,
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  -- As the provider states it. NULL if it does not say when the person authenticated.
  authenticated_at timestamptz(6),
  last_seen_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  expires_at timestamptz(6) NOT NULL,
  provider_user_id text, -- With `provider`, the identity that signed in. NULL after it was unlinked.
  confirmed_at timestamptz(6), -- When the person last confirmed their identity at a provider without `auth_time`
  FOREIGN KEY (provider, provider_user_id)
    REFERENCES oauth_identities(provider, provider_user_id) ON UPDATE CASCADE ON DELETE SET NULL (provider_user_id),
  FOREIGN KEY (tenant_id, user_id) REFERENCES memberships(tenant_id, user_id) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE INDEX sessions_expires_at_idx ON sessions (expires_at);
CREATE INDEX sessions_provider_provider_session_idx ON sessions (provider, provider_session);
CREATE INDEX sessions_provider_provider_user_id_idx ON sessions (provider, provider_user_id);
CREATE INDEX sessions_tenant_id_user_id_idx ON sessions (tenant_id, user_id);
CREATE INDEX sessions_user_id_idx ON sessions (user_id);
ALTER TABLE sessions ENABLE ROW LEVEL SECURITY;

CREATE TABLE sign_in_attempts (
  -- SHA-256 of the SHA-256 of the `state` parameter.
  state_hash bytea PRIMARY KEY CHECK (octet_length(state_hash) = 32),
  session_id uuid NOT NULL REFERENCES sessions(id) ON UPDATE CASCADE ON DELETE CASCADE,
  provider text NOT NULL,
  nonce text NOT NULL,
  code_verifier text NOT NULL,
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  expires_at timestamptz(6) NOT NULL,
  purpose text NOT NULL DEFAULT 'sign-in' CHECK (purpose IN ('sign-in', 'link', 'reauthenticate')),
  -- The user who links an identity or signs in again. NULL for a sign-in.
  user_id bigint REFERENCES users(id) ON UPDATE CASCADE ON DELETE CASCADE,
  return_to text, -- The path or URL to open afterwards. NULL for SIGN_IN_RETURN_TO.
  CONSTRAINT sign_in_attempts_user_id_check CHECK ((purpose = 'sign-in') = (user_id IS NULL))
);
CREATE INDEX sign_in_attempts_expires_at_idx ON sign_in_attempts (expires_at);
CREATE INDEX sign_in_attempts_session_id_idx ON sign_in_attempts (session_id);
CREATE INDEX sign_in_attempts_user_id_idx ON sign_in_attempts (user_id);
ALTER TABLE sign_in_attempts ENABLE ROW LEVEL SECURITY;

-- Back-channel logout: each logout token is accepted once.
CREATE TABLE logout_tokens (
  provider text NOT NULL,
  jti_hash bytea NOT NULL CHECK (octet_length(jti_hash) = 32),
  expires_at timestamptz(6) NOT NULL,
  PRIMARY KEY (provider, jti_hash)
);
CREATE INDEX logout_tokens_expires_at_idx ON logout_tokens (expires_at);
ALTER TABLE logout_tokens ENABLE ROW LEVEL SECURITY;

-- Encrypted tokens for the API of a provider, one grant per identity. Bound to provider, subject and purpose
-- (src/crypto/encryption.ts).
CREATE TABLE provider_grants (
  provider text NOT NULL,
  provider_user_id text NOT NULL,
  access_token bytea NOT NULL,
  refresh_token bytea,
  scope text NOT NULL,
  expires_at timestamptz(6),
  generation integer NOT NULL DEFAULT 1, -- Counts the access tokens of this grant
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'needs-sign-in')),
  -- The refresh in progress. It is committed before the refresh token is sent, so that after a crash
  -- it is known that the provider may have used up the token.
  refresh_attempt uuid,
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  -- When the access token was issued. With expires_at this gives its lifetime.
  issued_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (provider, provider_user_id),
  FOREIGN KEY (provider, provider_user_id)
    REFERENCES oauth_identities(provider, provider_user_id) ON UPDATE CASCADE ON DELETE CASCADE
);
ALTER TABLE provider_grants ENABLE ROW LEVEL SECURITY;

-- Tokens to revoke at the provider. No foreign keys: they outlive their user.
CREATE TABLE token_revocations (
  id uuid DEFAULT gen_random_uuid() PRIMARY KEY,
  provider text NOT NULL,
  provider_user_id text NOT NULL,
  user_id bigint NOT NULL,
  tenant_id uuid,
  token bytea NOT NULL,
  kind text NOT NULL CHECK (kind IN ('refresh_token', 'access_token')),
  status text NOT NULL CHECK (status IN ('superseded', 'revoking', 'failed')),
  attempts integer NOT NULL DEFAULT 0,
  last_error text,
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  -- When it was last tried, or when a new round of attempts began.
  tried_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  failed_at timestamptz(6) -- When the first round of attempts gave up; NULL before
);
CREATE INDEX token_revocations_user_id_idx ON token_revocations (user_id);
ALTER TABLE token_revocations ENABLE ROW LEVEL SECURITY;

-- Requests with an Idempotency-Key, and forms of pages. A repeated request gets the first result. No foreign key to the
-- user or service, so that their deletion takes constant time: purge_person deletes the rows of a person, and
-- prune_idempotency_keys every row after a day.
CREATE TABLE idempotency_keys (
  holder text NOT NULL, -- As current_idempotency_holder() returns it.
  key_hash bytea NOT NULL CHECK (octet_length(key_hash) = 32),
  tenant_id uuid REFERENCES tenants(id) ON UPDATE CASCADE ON DELETE CASCADE,
  -- SHA-256 of everything that the request asked for.
  request_hash bytea NOT NULL CHECK (octet_length(request_hash) = 32),
  result bytea, -- Encrypted. NULL until the request had an effect.
  secret bytea, -- Encrypted. The secret that a form created, until it is shown or five minutes old.
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (holder, key_hash)
);
CREATE INDEX idempotency_keys_created_at_idx ON idempotency_keys (created_at);
CREATE INDEX idempotency_keys_secret_idx ON idempotency_keys (created_at) WHERE secret IS NOT NULL;
CREATE INDEX idempotency_keys_tenant_id_idx ON idempotency_keys (tenant_id);
ALTER TABLE idempotency_keys ENABLE ROW LEVEL SECURITY;

-- ---- Tokens ----

-- Tokens of people. A removed membership deletes the tokens in that tenant, by the foreign key.
CREATE TABLE api_tokens (
  id uuid DEFAULT gen_random_uuid() PRIMARY KEY,
  hash bytea NOT NULL UNIQUE CHECK (octet_length(hash) = 32), -- SHA-256 of the SHA-256 of the token
  last_four text NOT NULL CHECK (last_four ~ '^[0-9A-Za-z]{4}$'), -- shown in lists of tokens
  user_id bigint NOT NULL,
  tenant_id uuid NOT NULL,
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
  permissions text[] NOT NULL DEFAULT '{}',
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  expires_at timestamptz(3) NOT NULL,
  last_used_at timestamptz(6),
  -- Every permission of its owner. A separate column, because Prisma reads a NULL array as empty.
  all_permissions boolean NOT NULL DEFAULT false,
  CONSTRAINT api_tokens_permissions_check CHECK (NOT all_permissions OR cardinality(permissions) = 0),
  FOREIGN KEY (tenant_id, user_id) REFERENCES memberships(tenant_id, user_id) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE INDEX api_tokens_expires_at_idx ON api_tokens (expires_at);
CREATE INDEX api_tokens_tenant_id_user_id_idx ON api_tokens (tenant_id, user_id);
CREATE INDEX api_tokens_user_id_idx ON api_tokens (user_id);
ALTER TABLE api_tokens ENABLE ROW LEVEL SECURITY;

-- Tokens of programs. A service is not a member: it has no user and no role, and may do what its permissions name. It
-- outlives the admin who created it, but not its tenant.
CREATE TABLE service_tokens (
  tenant_id uuid NOT NULL REFERENCES tenants(id) ON UPDATE CASCADE ON DELETE CASCADE,
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  hash bytea NOT NULL UNIQUE CHECK (octet_length(hash) = 32), -- SHA-256 of the SHA-256 of the token
  last_four text NOT NULL CHECK (last_four ~ '^[0-9A-Za-z]{4}$'), -- shown in lists of tokens
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
  -- `resource:action`, as in src/access.
  permissions text[] NOT NULL CHECK (array_position(permissions, NULL) IS NULL),
  created_by bigint REFERENCES users(id) ON UPDATE CASCADE ON DELETE SET NULL, -- NULL after the person was erased
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  expires_at timestamptz(3) NOT NULL,
  secret_rotated_at timestamptz(6),
  last_used_at timestamptz(6),
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX service_tokens_created_by_idx ON service_tokens (created_by);
CREATE INDEX service_tokens_expires_at_idx ON service_tokens (expires_at);
CREATE INDEX service_tokens_tenant_id_created_at_id_idx ON service_tokens (tenant_id, created_at, id);
ALTER TABLE service_tokens ENABLE ROW LEVEL SECURITY;

-- ---- The app ----

-- The operators: identities that the setting OPERATORS names. Each worker replaces the list when it starts.
CREATE TABLE operators (
  provider text NOT NULL,
  provider_user_id text NOT NULL,
  PRIMARY KEY (provider, provider_user_id)
);

-- Tokens of the app behind this program. An app token belongs to no tenant: each call names one.
CREATE TABLE app_tokens (
  id uuid DEFAULT gen_random_uuid() PRIMARY KEY,
  hash bytea NOT NULL UNIQUE CHECK (octet_length(hash) = 32), -- SHA-256 of the SHA-256 of the token
  last_four text NOT NULL CHECK (last_four ~ '^[0-9A-Za-z]{4}$'), -- shown in lists of tokens
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
  permissions text[] NOT NULL CHECK (array_position(permissions, NULL) IS NULL),
  -- NULL from the command line, or after the person was erased.
  created_by bigint REFERENCES users(id) ON UPDATE CASCADE ON DELETE SET NULL,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  expires_at timestamptz(3) NOT NULL,
  secret_rotated_at timestamptz(6),
  -- When it lost the permission to make links, or was changed after it had expired. Older portal sessions stay ended.
  portals_ended_at timestamptz(6),
  last_used_at timestamptz(6)
);
CREATE INDEX app_tokens_created_at_id_idx ON app_tokens (created_at, id);
CREATE INDEX app_tokens_created_by_idx ON app_tokens (created_by);
ALTER TABLE app_tokens ENABLE ROW LEVEL SECURITY;

-- Links that the app has made to the webhook pages of a tenant, and the sessions that they opened. Opening a link
-- replaces its hash by that of the session.
CREATE TABLE portal_sessions (
  id uuid DEFAULT gen_random_uuid() PRIMARY KEY,
  hash bytea NOT NULL UNIQUE CHECK (octet_length(hash) = 32), -- SHA-256 of the SHA-256 of the secret
  tenant_id uuid NOT NULL REFERENCES tenants(id) ON UPDATE CASCADE ON DELETE CASCADE,
  app_token_id uuid NOT NULL REFERENCES app_tokens(id) ON UPDATE CASCADE ON DELETE CASCADE,
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  opened_at timestamptz(6), -- NULL for a link that was not opened
  expires_at timestamptz(6) NOT NULL
);
CREATE INDEX portal_sessions_app_token_id_idx ON portal_sessions (app_token_id);
CREATE INDEX portal_sessions_expires_at_idx ON portal_sessions (expires_at);
CREATE INDEX portal_sessions_tenant_id_created_at_idx ON portal_sessions (tenant_id, created_at);
ALTER TABLE portal_sessions ENABLE ROW LEVEL SECURITY;

-- Types of the events that the app publishes, for all tenants.
CREATE TABLE app_event_types (
  name text PRIMARY KEY CHECK (name ~ '^[a-z0-9_-]+([.][a-z0-9_-]+)*$' AND length(name) <= 100),
  description text NOT NULL,
  schema json, -- JSON Schema of `data`; NULL accepts any object
  example json,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP
);

-- ---- Resources ----

-- A payment creates one invoice. If a payment has no id, each of its events creates one.
CREATE TABLE invoices (
  tenant_id uuid NOT NULL REFERENCES tenants(id) ON DELETE CASCADE,
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  amount bigint NOT NULL,
  currency text NOT NULL CHECK (currency ~ '^[a-z]{3}$'),
  digits bigint NOT NULL DEFAULT 2 CHECK (digits BETWEEN 0 AND 3), -- digits of amounts after the decimal point
  status text NOT NULL CHECK (status IN ('paid', 'refunded', 'disputed', 'lost')),
  source_event text,
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  payment text, -- Id of the payment at the provider. NULL if each event is a payment of its own.
  amount_refunded bigint NOT NULL DEFAULT 0 CHECK (amount_refunded >= 0),
  for_managers boolean NOT NULL DEFAULT false, -- The tenant has paid, so of its people only those who manage it see it
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX invoices_tenant_id_created_at_id_idx ON invoices (tenant_id, created_at, id);
CREATE INDEX invoices_tenant_id_currency_id_idx ON invoices (tenant_id, currency, id);
CREATE UNIQUE INDEX invoices_tenant_id_payment_key ON invoices (tenant_id, payment);
CREATE UNIQUE INDEX invoices_tenant_id_source_event_key ON invoices (tenant_id, source_event);
ALTER TABLE invoices ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE TABLE teams (
  tenant_id uuid NOT NULL REFERENCES tenants(id) ON DELETE CASCADE,
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (tenant_id, id)
);
ALTER TABLE teams ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE TABLE team_members (
  tenant_id uuid NOT NULL,
  team_id bigint NOT NULL,
  user_id bigint NOT NULL,
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (tenant_id, team_id, user_id),
  FOREIGN KEY (tenant_id, team_id) REFERENCES teams(tenant_id, id) ON DELETE CASCADE,
  FOREIGN KEY (tenant_id, user_id) REFERENCES memberships(tenant_id, user_id) ON DELETE CASCADE
);
CREATE INDEX team_members_tenant_id_user_id_team_id_idx ON team_members (tenant_id, user_id, team_id);
ALTER TABLE team_members ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE TABLE folders (
  tenant_id uuid NOT NULL REFERENCES tenants(id) ON DELETE CASCADE,
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  team_id bigint NOT NULL,
  parent_id bigint,
  -- With the team in the key to the parent, a nested folder always has the team of its parent. With the
  -- depth in it, a folder is always one level below its parent, so a cycle of folders is impossible.
  parent_depth integer,
  depth integer NOT NULL GENERATED ALWAYS AS (coalesce(parent_depth, 0) + 1) STORED
    CHECK (depth BETWEEN 1 AND 32),
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (tenant_id, id),
  UNIQUE (tenant_id, id, team_id, depth),
  UNIQUE (tenant_id, id, team_id),
  CONSTRAINT folders_parent_check CHECK ((parent_id IS NULL) = (parent_depth IS NULL)),
  FOREIGN KEY (tenant_id, parent_id, team_id, parent_depth) REFERENCES folders(tenant_id, id, team_id, depth),
  FOREIGN KEY (tenant_id, team_id) REFERENCES teams(tenant_id, id)
);
CREATE INDEX folders_tenant_id_parent_id_idx ON folders (tenant_id, parent_id);
CREATE INDEX folders_tenant_id_team_id_idx ON folders (tenant_id, team_id);
ALTER TABLE folders ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

-- ---- Outbound webhooks: endpoints, events, deliveries and attempts ----

-- The settings of an endpoint, and whether a worker has its turn. Publishing and the end of a turn lock the row.
CREATE TABLE webhook_endpoints (
  tenant_id uuid NOT NULL REFERENCES tenants(id) ON DELETE CASCADE,
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  url text NOT NULL CHECK (length(url) BETWEEN 1 AND 2048),
  description text CHECK (length(description) <= 500),
  all_event_types boolean NOT NULL DEFAULT true,
  event_types text[] NOT NULL DEFAULT '{}', -- Empty if all_event_types
  signature text NOT NULL CHECK (signature IN ('spec', 'standard', 'both')),
  -- Encrypted, like previous_secret.
  secret bytea NOT NULL,
  previous_secret bytea,
  previous_secret_expires_at timestamptz(6),
  secret_rotated_at timestamptz(6),
  rate_per_second integer CHECK (rate_per_second BETWEEN 1 AND 1000),
  rate_burst integer CHECK (rate_burst BETWEEN 1 AND 1000),
  thin boolean NOT NULL DEFAULT false, -- Deliver only the id of an object instead of its content
  recover_when_disabled boolean NOT NULL DEFAULT false,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  -- True while a worker has the turn and looks for due attempts, so that a new delivery needs no job. Transactions read
  -- it under a lock on this row: a turn ends only after those that have read true, and later ones read false. In
  -- another table they would read the value of their snapshot.
  in_turn boolean NOT NULL DEFAULT false,
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT webhook_endpoints_check CHECK ((previous_secret IS NULL) = (previous_secret_expires_at IS NULL)),
  CONSTRAINT webhook_endpoints_check1 CHECK ((rate_per_second IS NULL) = (rate_burst IS NULL)),
  CONSTRAINT webhook_endpoints_event_types_check CHECK (all_event_types = (cardinality(event_types) = 0))
);
ALTER TABLE webhook_endpoints ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

-- The health of each endpoint, its recovery and its rate (src/webhooks/health). Its row is locked after that of the
-- endpoint.
CREATE TABLE endpoint_states (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL,
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'failing', 'disabled')),
  enabled_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP, -- When it was created or enabled again
  failing_since timestamptz(6),
  exhausted_deliveries integer NOT NULL DEFAULT 0, -- Since failing_since
  disabled_at timestamptz(6),
  -- Whether deliveries are held or not sent while the endpoint is paused by hand.
  paused text CHECK (paused IN ('hold', 'drop')),
  paused_at timestamptz(6),
  last_success_at timestamptz(6),
  -- When the latest period of failures ended, and when the present one began.
  healthy_since timestamptz(6),
  retrying_since timestamptz(6),
  -- How the latest attempt of this period failed. The cause is for operators only.
  failure_status integer,
  failure_cause text,
  -- Recovery by trial deliveries.
  outage_since timestamptz(6),
  recovering_since timestamptz(6),
  recovery_step integer NOT NULL DEFAULT 0,
  trial_at timestamptz(6),
  trials integer NOT NULL DEFAULT 0,
  trial_delivery_id uuid,
  -- When the next delivery would be within the rate limit without a burst: the theoretical arrival time
  -- of the generic cell rate algorithm.
  rate_next_at timestamptz(6),
  certificate_expires_at timestamptz(6), -- As in the latest TLS handshake
  -- Warnings in force, and the time of the next check.
  forecasts jsonb NOT NULL DEFAULT '[]',
  forecast_at timestamptz(6),
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT endpoint_states_check CHECK (status <> 'active' OR failing_since IS NULL),
  CONSTRAINT endpoint_states_check1 CHECK (status <> 'failing' OR failing_since IS NOT NULL),
  CONSTRAINT endpoint_states_check2 CHECK ((status = 'disabled') = (disabled_at IS NOT NULL)),
  CONSTRAINT endpoint_states_check3 CHECK ((paused IS NULL) = (paused_at IS NULL)),
  FOREIGN KEY (tenant_id, id) REFERENCES webhook_endpoints(tenant_id, id) ON DELETE CASCADE
);
ALTER TABLE endpoint_states ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

-- The latest probe of each endpoint that was probed (src/webhooks/probe).
CREATE TABLE endpoint_probes (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL,
  started_at timestamptz(6), -- NULL if it could not be made: the next probe may begin at once
  report jsonb, -- The report of the latest probe that ended
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, id) REFERENCES webhook_endpoints(tenant_id, id) ON DELETE CASCADE
);
ALTER TABLE endpoint_probes ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE TABLE outbound_events (
  tenant_id uuid NOT NULL REFERENCES tenants(id) ON DELETE CASCADE,
  id text NOT NULL CHECK (id ~ '^[0-9A-Za-z_-]+$' AND length(id) <= 68), -- {1,68} in it takes ten times as long
  type text NOT NULL,
  body text NOT NULL, -- The exact text that is signed and sent
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  -- Rows become visible in the order of their commits, not of `sequence`. A reader that orders by
  -- (xact_id, sequence) and stops at the oldest open transaction misses no row (feed_horizon).
  sequence bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  xact_id xid8 NOT NULL DEFAULT pg_current_xact_id(),
  cause text, -- `request:ID` or `billing-event:ID`
  traceparent text, -- The W3C trace context of the cause, if it is traced
  example boolean NOT NULL DEFAULT false, -- A test event of a chosen type. The feed and the statistics omit it.
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX outbound_events_cause_idx ON outbound_events (tenant_id, cause) WHERE cause IS NOT NULL;
CREATE INDEX outbound_events_tenant_id_created_at_idx ON outbound_events (tenant_id, created_at);
CREATE INDEX outbound_events_tenant_id_type_xact_id_sequence_idx
  ON outbound_events (tenant_id, type, xact_id, sequence);
CREATE INDEX outbound_events_tenant_id_xact_id_sequence_idx ON outbound_events (tenant_id, xact_id, sequence);
ALTER TABLE outbound_events ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

-- One event for one endpoint. endpoint_id has no foreign key, here and in endpoint_replays and notifications:
-- purge_endpoint deletes the history of a deleted endpoint in batches. Columns that change per attempt are not indexed
-- and the fillfactor is low, so updates are HOT.
CREATE TABLE deliveries (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  event_id text NOT NULL,
  endpoint_id uuid NOT NULL,
  event_type text NOT NULL,
  status text NOT NULL DEFAULT 'pending',
  series integer NOT NULL DEFAULT 0, -- 0 is the schedule. Each manual request starts the next series.
  attempts integer NOT NULL DEFAULT 0, -- Attempts already made in this series
  next_attempt_at timestamptz(6),
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  finished_at timestamptz(6),
  -- The number of its rows in delivery_attempts and the bytes of their texts, for the quota.
  stored_attempts integer NOT NULL DEFAULT 0,
  stored_bytes bigint NOT NULL DEFAULT 0,
  example boolean NOT NULL DEFAULT false,
  -- Why nothing is due for it. `rate`: pending until it is within the rate limit of its endpoint, or until that is no
  -- longer paused. `recovery`: exhausted until its endpoint recovers.
  held_for text CHECK (held_for IN ('rate', 'recovery')),
  http_status integer, -- Of the latest attempt: 0 without a response, NULL before the first attempt
  -- http_status and its first digit, unless it is 2xx. Only these are indexed, so a delivery that
  -- succeeds at once changes no indexed column. The class is a column, because under row-level security no
  -- index on an expression with `/` is used.
  unusual_status integer,
  unusual_class integer,
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT deliveries_status_check CHECK (
    status = 'pending' AND finished_at IS NULL
    OR status IN ('succeeded', 'exhausted') AND finished_at IS NOT NULL AND next_attempt_at IS NULL),
  FOREIGN KEY (tenant_id, event_id) REFERENCES outbound_events(tenant_id, id) ON DELETE CASCADE
) WITH (fillfactor = 50);
CREATE INDEX deliveries_held_idx
  ON deliveries (tenant_id, endpoint_id, held_for, created_at) WHERE held_for IS NOT NULL;
CREATE INDEX deliveries_tenant_id_endpoint_id_created_at_idx ON deliveries (tenant_id, endpoint_id, created_at);
CREATE UNIQUE INDEX deliveries_tenant_id_event_id_endpoint_id_key ON deliveries (tenant_id, event_id, endpoint_id);
CREATE INDEX deliveries_unusual_class_idx
  ON deliveries (tenant_id, endpoint_id, unusual_class, created_at, id) WHERE unusual_class IS NOT NULL;
CREATE INDEX deliveries_unusual_status_idx
  ON deliveries (tenant_id, endpoint_id, unusual_status, created_at, id) WHERE unusual_status IS NOT NULL;
ALTER TABLE deliveries ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE TABLE delivery_attempts (
  tenant_id uuid NOT NULL,
  delivery_id uuid NOT NULL,
  series integer NOT NULL,
  number integer NOT NULL,
  started_at timestamptz(6) NOT NULL,
  duration_ms integer NOT NULL,
  status_code integer,
  error text, -- For the customer. `cause` is for operators only.
  cause text,
  response_excerpt text,
  PRIMARY KEY (tenant_id, delivery_id, series, number),
  FOREIGN KEY (tenant_id, delivery_id) REFERENCES deliveries(tenant_id, id) ON DELETE CASCADE
);
ALTER TABLE delivery_attempts ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

-- The next attempt of each pending delivery. The worker with the turn of an endpoint reads its due attempts and
-- deletes those it has recorded, so nothing is written to claim an attempt.
CREATE TABLE due_attempts (
  tenant_id uuid NOT NULL,
  delivery_id uuid NOT NULL,
  endpoint_id uuid NOT NULL,
  due_at timestamptz(3) NOT NULL,
  series integer NOT NULL,
  number integer NOT NULL,
  released boolean NOT NULL DEFAULT false, -- Released from the rate-limit hold; must not be held again
  PRIMARY KEY (tenant_id, delivery_id),
  FOREIGN KEY (tenant_id, delivery_id) REFERENCES deliveries(tenant_id, id) ON DELETE CASCADE
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
CREATE INDEX due_attempts_tenant_id_endpoint_id_due_at_idx ON due_attempts (tenant_id, endpoint_id, due_at);
ALTER TABLE due_attempts ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

-- A request to send deliveries again, and its progress.
CREATE TABLE endpoint_replays (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  endpoint_id uuid NOT NULL,
  replay_from timestamptz(6) NOT NULL,
  replay_to timestamptz(6) NOT NULL,
  status text CHECK (status IN ('pending', 'succeeded', 'exhausted')),
  total integer NOT NULL,
  done integer NOT NULL DEFAULT 0,
  cursor_created_at timestamptz(6),
  cursor_delivery_id uuid,
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  finished_at timestamptz(6),
  -- When the latest page of the replay was processed. The replay of a tenant with the oldest time is next.
  worked_at timestamptz(6),
  event_type text,
  event_id text,
  http_status text, -- As in the filter of the list: `404`, `4xx`, `none`
  delivery_ids uuid[] NOT NULL DEFAULT '{}'::uuid[], -- Only these deliveries. Empty for all.
  cancelled_at timestamptz(6),
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX endpoint_replays_open_idx ON endpoint_replays (tenant_id) WHERE finished_at IS NULL;
CREATE INDEX endpoint_replays_tenant_id_endpoint_id_idx ON endpoint_replays (tenant_id, endpoint_id);
ALTER TABLE endpoint_replays ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

-- Notices to the owners of a tenant, mailed if SMTP_URL is set.
CREATE TABLE notifications (
  tenant_id uuid NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  kind text NOT NULL
    CHECK (kind IN ('endpoint.failing', 'endpoint.disabled', 'endpoint.recovering', 'endpoint.recovered', 'endpoint.certificate')),
  endpoint_id uuid NOT NULL,
  message text NOT NULL,
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  mailed_at timestamptz(6),
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX notifications_tenant_id_endpoint_id_created_at_idx ON notifications (tenant_id, endpoint_id, created_at);
ALTER TABLE notifications ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

-- ---- Billing ----

-- Ids of events that had their effect. Inserted in the transaction of the effect, so it happens once.
CREATE TABLE processed_events (
  event_id text PRIMARY KEY,
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP
);
-- BRIN: rows are never deleted from this table, so each range of blocks has a narrow range of times.
CREATE INDEX processed_events_created_at_idx ON processed_events USING brin (created_at);

CREATE TABLE received_events (
  event_id text PRIMARY KEY,
  type text NOT NULL,
  body bytea, -- The bytes as received. NULL after the retention period; the row stays.
  secret_index smallint, -- Position of the secret that verified it. NULL if it came from the list of the provider.
  status text NOT NULL
    CHECK (status IN ('recorded', 'processed', 'ignored', 'unlinked', 'failed', 'dead', 'dismissed')),
  attempts integer NOT NULL DEFAULT 0,
  last_error text,
  received_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  processed_at timestamptz(6),
  other_bodies integer NOT NULL DEFAULT 0, -- Copies of the same id with a different body. The first body is kept.
  outcome text,
  dismissed_reason text,
  request_id uuid, -- The request that delivered it
  customer text, -- Set while the event is unlinked: the customer whom no user has yet. Kept if it is dismissed
  forwarding text -- Whether the app has it (APP_WEBHOOK_URL). NULL if it is not posted to the app.
    CHECK (forwarding IN ('waiting', 'delivered', 'failed')),
  forward_attempts integer NOT NULL DEFAULT 0,
  forward_error text,
  forwarded_at timestamptz(6) -- When the last attempt to post it to the app ended
);
CREATE INDEX received_events_customer_idx ON received_events (customer, received_at, event_id)
  WHERE status IN ('unlinked', 'dismissed');
CREATE INDEX received_events_received_at_event_id_idx ON received_events (received_at, event_id);
-- The few events that need attention are found without reading the processed ones.
CREATE INDEX received_events_unprocessed_idx
  ON received_events (status, received_at, event_id) WHERE status <> 'processed';
CREATE INDEX received_events_forwarding_idx
  ON received_events (forwarding, received_at, event_id) WHERE forwarding <> 'delivered';

-- The newest applied state of a subscription, payment, refund or dispute of the provider.
CREATE TABLE billing_objects (
  object_id text PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('subscription', 'payment', 'refund', 'dispute')),
  customer text,
  payment text, -- The payment of a refund or dispute
  status text, -- Of a subscription; `open`, `lost` or `closed` of a dispute; `failed` of a refund that did not arrive
  -- Of a subscription: the plan that it gives, and until when.
  plan text,
  plan_rank integer, -- The position of the plan in the operator's list
  seats bigint, -- How many of it were bought
  details jsonb, -- What was bought, as people see it (src/billing/details.ts)
  period_end timestamptz(6),
  cancels_at timestamptz(6),
  amount bigint, -- Minor units of a refund; of a payment, all that its newest state says is refunded
  invoice_tenant uuid, -- The tenant that has the invoice of a payment; it may have been deleted
  newest_created double precision, -- `created` of the newest applied event, in Unix seconds
  newest_event text, -- The id of that event
  beside text, -- Another subscription of the customer that also gave a plan when this one changed
  revision bigint NOT NULL DEFAULT 1, -- Incremented by every change, so that a decision on an older row is repeated
  updated_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE INDEX billing_objects_customer_idx ON billing_objects (customer) WHERE kind = 'subscription';
CREATE INDEX billing_objects_subscription_idx ON billing_objects (object_id) WHERE kind = 'subscription';
CREATE INDEX billing_objects_beside_idx ON billing_objects (customer) WHERE beside IS NOT NULL;
CREATE INDEX billing_objects_payment_idx ON billing_objects (payment) WHERE payment IS NOT NULL;

-- A request to process events again, and its progress.
CREATE TABLE billing_replays (
  id uuid PRIMARY KEY,
  status text
    CHECK (status IN ('recorded', 'processed', 'ignored', 'unlinked', 'failed', 'dead', 'dismissed')),
  event_ids text[],
  received_from timestamptz(6),
  received_to timestamptz(6) NOT NULL,
  total integer NOT NULL,
  succeeded integer NOT NULL DEFAULT 0,
  failed integer NOT NULL DEFAULT 0,
  cursor_received_at timestamptz(6),
  cursor_event_id text,
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  finished_at timestamptz(6),
  queued integer NOT NULL DEFAULT 0, -- Events whose job was added. The next page starts when they have all ended.
  CONSTRAINT billing_replays_check CHECK (status IS NOT NULL OR event_ids IS NOT NULL)
);

-- A run over the list of events of the provider, which records the events that never arrived.
CREATE TABLE billing_reconciliations (
  id uuid PRIMARY KEY,
  created_from timestamptz(6) NOT NULL,
  created_to timestamptz(6) NOT NULL,
  dry_run boolean NOT NULL,
  scheduled boolean NOT NULL,
  status text NOT NULL DEFAULT 'running' CHECK (status IN ('running', 'finished', 'failed')),
  cursor text,
  pages integer NOT NULL DEFAULT 0,
  seen integer NOT NULL DEFAULT 0,
  missed integer NOT NULL DEFAULT 0,
  different integer NOT NULL DEFAULT 0,
  refused integer NOT NULL DEFAULT 0,
  missed_ids text[] NOT NULL DEFAULT '{}', -- The first hundred
  different_ids text[] NOT NULL DEFAULT '{}',
  error text,
  created_at timestamptz(6) NOT NULL DEFAULT clock_timestamp(),
  finished_at timestamptz(6),
  CONSTRAINT billing_reconciliations_check CHECK (created_from < created_to),
  CONSTRAINT billing_reconciliations_check1 CHECK ((status = 'running') = (finished_at IS NULL))
);
CREATE INDEX billing_reconciliations_created_at_id_idx ON billing_reconciliations (created_at, id);
-- At most one scheduled run at a time, however many workers there are.
CREATE UNIQUE INDEX billing_reconciliations_running_idx
  ON billing_reconciliations (scheduled) WHERE scheduled AND (status = 'running');
-- The next scheduled run starts at the newest created_to of the finished scheduled runs.
CREATE INDEX billing_reconciliations_watermark_idx
  ON billing_reconciliations (created_to) WHERE scheduled AND (status = 'finished');

-- ---- Ledger ----

-- The checks of the last month: whether every event and delivery was accounted for.
CREATE TABLE ledger_checks (
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991) PRIMARY KEY,
  checked_at timestamptz(6) NOT NULL DEFAULT clock_timestamp(),
  unaccounted integer NOT NULL, -- The number of findings
  partial boolean NOT NULL DEFAULT false, -- True if there are more findings than were counted
  kinds jsonb NOT NULL, -- The number of findings by kind
  tenants jsonb, -- The number of findings by tenant. Only the newest check has them.
  open_hours timestamptz(6)[] NOT NULL, -- Hours with findings, which the next check looks at again
  checked_to timestamptz(6) NOT NULL -- Everything before this time was looked at once
);

-- ---- Quotas ----
-- Triggers count the rows and bytes of each tenant: `resource` counts rows that people create, `event` counts published
-- events and deliveries. Bytes are the UTF-8 octets of the stored texts.

-- Updated in place; the fillfactor leaves room for HOT updates.
CREATE TABLE tenant_usage (
  tenant_id uuid PRIMARY KEY,
  resource_rows bigint NOT NULL DEFAULT 0,
  resource_bytes bigint NOT NULL DEFAULT 0,
  event_rows bigint NOT NULL DEFAULT 0,
  event_bytes bigint NOT NULL DEFAULT 0,
  -- A NULL limit means the setting (QUOTA_RESOURCES, QUOTA_EVENTS).
  max_resource_rows bigint,
  max_resource_bytes bigint,
  max_event_rows bigint,
  max_event_bytes bigint,
  CHECK (least(max_resource_rows, max_resource_bytes, max_event_rows, max_event_bytes) >= 0)
) WITH (fillfactor = 50);
ALTER TABLE tenant_usage ENABLE ROW LEVEL SECURITY;

-- Leaky buckets of each member: what they have published, and what they have stored as resources while more than half
-- of the budget was used. A bucket empties over the retention period of events. Counted only in a tenant with other
-- members, who need the rest of the budget (add_usage).
CREATE TABLE member_usage (
  tenant_id uuid NOT NULL REFERENCES tenants(id) ON DELETE CASCADE,
  user_id bigint NOT NULL,
  event_rows double precision NOT NULL DEFAULT 0,
  event_bytes double precision NOT NULL DEFAULT 0,
  counted_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  resource_rows double precision NOT NULL DEFAULT 0,
  resource_bytes double precision NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant_id, user_id)
) WITH (fillfactor = 50);
ALTER TABLE member_usage ENABLE ROW LEVEL SECURITY;

-- Changes by writers that found the row of tenant_usage locked. A later writer adds them (add_waiting_usage).
CREATE TABLE usage_changes (
  tenant_id uuid NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  resource_rows bigint NOT NULL,
  resource_bytes bigint NOT NULL,
  event_rows bigint NOT NULL,
  event_bytes bigint NOT NULL,
  user_id bigint, -- The member whose bucket in member_usage it fills too
  PRIMARY KEY (tenant_id, id)
);
ALTER TABLE usage_changes ENABLE ROW LEVEL SECURITY;

-- ---- Operations ----

-- Append-only for the application roles.
CREATE TABLE audit_log (
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991) PRIMARY KEY,
  at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  action text NOT NULL,
  outcome text NOT NULL,
  reason text,
  provider text,
  user_id bigint,
  tenant_id uuid,
  ip text,
  user_agent text,
  target text, -- The id of the session, token, tenant, invitation or user that the entry is about
  provider_error text, -- The `error` code that the provider sent
  -- Unauthenticated requests of one minute with the same reason and network share one entry.
  occurrences integer NOT NULL DEFAULT 1 CHECK (occurrences > 0),
  request_id uuid,
  -- The service and its name at that time. triggers.sql sets the defaults, so that no entry omits them.
  -- There is no foreign key: an entry outlives the token.
  service_id uuid,
  service_name text,
  portal_session_id uuid -- The portal session that did it; triggers.sql sets the default.
);
CREATE INDEX audit_log_customer_link_idx ON audit_log (id) WHERE action = 'customer-link';
CREATE INDEX audit_log_request_id_idx ON audit_log (request_id) WHERE request_id IS NOT NULL;
CREATE INDEX audit_log_tenant_id_action_id_idx ON audit_log (tenant_id, action, id);
CREATE INDEX audit_log_tenant_id_at_id_idx ON audit_log (tenant_id, at, id);
CREATE INDEX audit_log_tenant_id_id_idx ON audit_log (tenant_id, id);
CREATE INDEX audit_log_tenant_id_outcome_id_idx ON audit_log (tenant_id, outcome, id);
CREATE INDEX audit_log_tenant_id_user_id_id_idx ON audit_log (tenant_id, user_id, id);
CREATE INDEX audit_log_user_id_action_id_idx ON audit_log (user_id, action, id);
CREATE INDEX audit_log_user_id_at_id_idx ON audit_log (user_id, at, id);
CREATE INDEX audit_log_user_id_id_idx ON audit_log (user_id, id);
ALTER TABLE audit_log ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

-- Data that remains after access to it has ended. A worker deletes it in batches (work_erasure).
--   tenant    the members and all rows of a closed tenant
--   person    rows and keys of requests of a deleted user, the inviter in invitations, the client in the audit log
--   events    copies of personal data of a deleted user in events of a tenant
--   member    stored results of requests of a former member, and the author in what they have written
--   endpoint  deliveries, replays and notifications of a deleted endpoint
CREATE TABLE erasures (
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991) PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('tenant', 'person', 'events', 'member', 'endpoint')),
  tenant_id uuid,
  user_id bigint,
  endpoint_id uuid,
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  worked_at timestamptz(6), -- When a worker last worked on it
  cursor text, -- For `events`: the id of the last event that was read
  CONSTRAINT erasures_check CHECK ((tenant_id IS NULL) = (kind = 'person')),
  CONSTRAINT erasures_check1 CHECK ((user_id IS NOT NULL) = (kind IN ('person', 'events', 'member'))),
  CONSTRAINT erasures_check2 CHECK ((endpoint_id IS NOT NULL) = (kind = 'endpoint'))
);
CREATE INDEX erasures_tenant_id_idx ON erasures (tenant_id);
CREATE INDEX erasures_worked_at_id_idx ON erasures (worked_at, id);
ALTER TABLE erasures ENABLE ROW LEVEL SECURITY;

-- Keys of the seal of a scope. The newest seals, all verify. No policy: a SELECT granted by mistake shows no key.
CREATE TABLE scope_keys (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  key bytea NOT NULL CHECK (octet_length(key) = 32),
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP
);
ALTER TABLE scope_keys ENABLE ROW LEVEL SECURITY;

-- The cluster and database in which the first worker ran (`place`). In a copy they differ, and workers do nothing until
-- an operator adopts the copy: it contains the same jobs and would send every webhook again.
CREATE TABLE installation (
  id boolean DEFAULT true PRIMARY KEY CHECK (id), -- The only row
  place text NOT NULL,
  quarantined_at timestamptz(6),
  reason text CHECK (reason IN ('copied', 'by-hand')),
  CONSTRAINT installation_quarantine_check CHECK ((quarantined_at IS NULL) = (reason IS NULL))
);
ALTER TABLE installation ENABLE ROW LEVEL SECURITY;

CREATE TABLE running_processes (
  id uuid PRIMARY KEY,
  role text NOT NULL,
  -- Ids of encryption keys and short fingerprints of session secrets, in their order.
  encryption_keys text[] NOT NULL,
  session_secrets text[] NOT NULL,
  started_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  seen_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  ended_at timestamptz(6), -- NULL if it is running or was killed
  base_url text,
  clock_offset_ms bigint -- How far its clock is ahead of the database
);

-- ---- Schema ----
-- The record of `gatehouse migrate`: which files it applied, and how PostgreSQL renders each function, policy,
-- trigger and privilege afterwards. `serve` and `doctor` compare the database with it. Only the owner may write it.

CREATE TABLE schema_releases (
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991) PRIMARY KEY,
  version text NOT NULL,
  files jsonb NOT NULL, -- SHA-256 of each part by name: functions, policies, triggers, privileges
  applied_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP
);

-- The objects of the newest release. `facts` has a text for each aspect of an object, so that a difference can be
-- named.
CREATE TABLE schema_objects (
  kind text NOT NULL,
  name text NOT NULL,
  part text NOT NULL,
  facts jsonb NOT NULL,
  PRIMARY KEY (kind, name)
);

-- ---- First rows ----

INSERT INTO scope_keys (key)
VALUES (sha256(
  uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) ||
  uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())));
