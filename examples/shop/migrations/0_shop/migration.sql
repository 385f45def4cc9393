-- Each table has the columns of its scope and of its declaration. `gatehouse migrate` adds policies, triggers and
-- privileges, which follow from the declarations: ../../generated/database.sql shows them.

-- Owned by a user: the owner sees an order in every tenant, and creates it in the current one. user_id has no
-- key: purge_person deletes the orders of a deleted user in batches.
CREATE TABLE orders (
  tenant_id uuid NOT NULL REFERENCES tenants(id) ON DELETE CASCADE,
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  user_id bigint NOT NULL,
  currency text NOT NULL DEFAULT 'EUR' CHECK (currency ~ '^[A-Z]{3}$'), -- ISO 4217
  line_items jsonb NOT NULL,
  shipping_address jsonb NOT NULL,
  card_last4 text NOT NULL CHECK (card_last4 ~ '^[0-9]{4}$'),
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX orders_user_id_created_at_id_idx ON orders (user_id, created_at, id);
CREATE INDEX orders_user_id_id_idx ON orders (user_id, id);
CREATE INDEX orders_user_id_tenant_id_id_idx ON orders (user_id, tenant_id, id);
ALTER TABLE orders ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

-- The author is a member. When the author leaves, the post stays without one: author_id has no key, and
-- purge_member clears it in batches, so that a membership with many posts ends in constant time.
CREATE TABLE posts (
  tenant_id uuid NOT NULL REFERENCES tenants(id) ON DELETE CASCADE,
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  author_id bigint,
  department text,
  title text NOT NULL,
  body text NOT NULL,
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  author_service_id uuid, -- The service that created the post. A post has an author, a service, or neither.
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX posts_tenant_id_author_id_id_idx ON posts (tenant_id, author_id, id);
CREATE INDEX posts_tenant_id_created_at_id_idx ON posts (tenant_id, created_at, id);
CREATE INDEX posts_tenant_id_department_id_idx ON posts (tenant_id, department, id);
ALTER TABLE posts ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

-- A document has the team of its folder, by the foreign key, so access is decided without walking up the folders.
CREATE TABLE documents (
  tenant_id uuid NOT NULL REFERENCES tenants(id) ON DELETE CASCADE,
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  folder_id bigint NOT NULL,
  team_id bigint NOT NULL,
  title text NOT NULL,
  body text NOT NULL,
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, folder_id, team_id) REFERENCES folders(tenant_id, id, team_id)
);
CREATE INDEX documents_tenant_id_folder_id_team_id_id_idx ON documents (tenant_id, folder_id, team_id, id);
CREATE INDEX documents_tenant_id_team_id_created_at_id_idx ON documents (tenant_id, team_id, created_at, id);
-- A page of a list reads a few entries per team, however many documents there are.
CREATE INDEX documents_tenant_id_team_id_id_idx ON documents (tenant_id, team_id, id);
ALTER TABLE documents ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE TABLE posts_words (
  tenant_id uuid NOT NULL,
  id bigint NOT NULL,
  word text COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant_id, id, word)
);
CREATE INDEX posts_words_tenant_id_word_id_idx ON posts_words (tenant_id, word, id);
ALTER TABLE posts_words ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
