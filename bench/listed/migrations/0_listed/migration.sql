CREATE TABLE projects (
  tenant_id uuid NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  title text NOT NULL,
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE
);
CREATE INDEX projects_tenant_id_created_at_id_idx ON projects (tenant_id, created_at, id);
ALTER TABLE projects ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE TABLE items (
  tenant_id uuid NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  title text NOT NULL,
  status text NOT NULL,
  due_on date NOT NULL,
  project_id bigint NOT NULL,
  other_id bigint NOT NULL,
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE
);
CREATE INDEX items_tenant_id_created_at_id_idx ON items (tenant_id, created_at, id);
CREATE INDEX items_tenant_id_status_id_idx ON items (tenant_id, status, id);
CREATE INDEX items_tenant_id_due_on_id_idx ON items (tenant_id, due_on, id);
CREATE INDEX items_tenant_id_project_id_id_idx ON items (tenant_id, project_id, id);
CREATE INDEX items_tenant_id_other_id_id_idx ON items (tenant_id, other_id, id);
CREATE INDEX items_tenant_id_status_due_on_id_idx ON items (tenant_id, status, due_on, id);
ALTER TABLE items ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE TABLE plain_items (
  tenant_id uuid NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  title text NOT NULL,
  status text NOT NULL,
  due_on date NOT NULL,
  project_id bigint NOT NULL,
  other_id bigint NOT NULL,
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE
);
CREATE INDEX plain_items_tenant_id_created_at_id_idx ON plain_items (tenant_id, created_at, id);
CREATE INDEX plain_items_tenant_id_status_id_idx ON plain_items (tenant_id, status, id);
CREATE INDEX plain_items_tenant_id_due_on_id_idx ON plain_items (tenant_id, due_on, id);
CREATE INDEX plain_items_tenant_id_status_due_on_id_idx ON plain_items (tenant_id, status, due_on, id);
ALTER TABLE plain_items ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE items ADD CONSTRAINT items_project_id_fkey FOREIGN KEY (tenant_id, project_id) REFERENCES projects (tenant_id, id) ON DELETE CASCADE;
ALTER TABLE items ADD CONSTRAINT items_other_id_fkey FOREIGN KEY (tenant_id, other_id) REFERENCES projects (tenant_id, id) ON DELETE CASCADE;
