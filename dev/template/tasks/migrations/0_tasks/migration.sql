CREATE TABLE tasks (
  tenant_id uuid NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  author_id bigint,
  title text NOT NULL,
  details text,
  due_on date,
  status text NOT NULL,
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE
);
CREATE INDEX tasks_tenant_id_created_at_id_idx ON tasks (tenant_id, created_at, id);
CREATE INDEX tasks_tenant_id_author_id_id_idx ON tasks (tenant_id, author_id, id);
CREATE INDEX tasks_tenant_id_status_id_idx ON tasks (tenant_id, status, id);
ALTER TABLE tasks ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE TABLE tasks_words (
  tenant_id uuid NOT NULL,
  id bigint NOT NULL,
  word text COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant_id, id, word)
);
CREATE INDEX tasks_words_tenant_id_word_id_idx ON tasks_words (tenant_id, word, id);
ALTER TABLE tasks_words ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
