CREATE TABLE notes (
  tenant_id uuid NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  author_id bigint,
  assignee_id bigint,
  department text,
  title text NOT NULL,
  place bigint,
  team_id bigint,
  status text NOT NULL,
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE
);
CREATE INDEX notes_tenant_id_created_at_id_idx ON notes (tenant_id, created_at, id);
CREATE INDEX notes_tenant_id_author_id_id_idx ON notes (tenant_id, author_id, id);
CREATE INDEX notes_tenant_id_assignee_id_id_idx ON notes (tenant_id, assignee_id, id);
CREATE INDEX notes_tenant_id_status_id_idx ON notes (tenant_id, status, id);
CREATE INDEX notes_tenant_id_place_id_idx ON notes (tenant_id, place, id);
CREATE INDEX notes_tenant_id_status_place_id_idx ON notes (tenant_id, status, place, id);
ALTER TABLE notes ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE TABLE desks (
  tenant_id uuid NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  name text NOT NULL,
  status text NOT NULL,
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX desks_tenant_id_created_at_id_idx ON desks (tenant_id, created_at, id);
ALTER TABLE desks ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE TABLE wishes (
  tenant_id uuid NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  user_id bigint NOT NULL,
  title text NOT NULL,
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX wishes_user_id_created_at_id_idx ON wishes (user_id, created_at, id);
CREATE INDEX wishes_user_id_id_idx ON wishes (user_id, id);
CREATE INDEX wishes_user_id_tenant_id_id_idx ON wishes (user_id, tenant_id, id);
ALTER TABLE wishes ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE TABLE notes_words (
  tenant_id uuid NOT NULL,
  id bigint NOT NULL,
  word text COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant_id, id, word)
);
CREATE INDEX notes_words_tenant_id_word_id_idx ON notes_words (tenant_id, word, id);
ALTER TABLE notes_words ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
