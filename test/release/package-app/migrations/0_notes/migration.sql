CREATE TABLE notes (
  tenant_id uuid NOT NULL REFERENCES tenants(id) ON DELETE CASCADE,
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  author_id bigint,
  title text NOT NULL,
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX notes_tenant_id_author_id_id_idx ON notes (tenant_id, author_id, id);
CREATE INDEX notes_tenant_id_created_at_id_idx ON notes (tenant_id, created_at, id);
ALTER TABLE notes ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
