CREATE TABLE memos (
  tenant_id uuid NOT NULL REFERENCES tenants(id) ON DELETE CASCADE,
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  user_id bigint NOT NULL,
  title text NOT NULL,
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX memos_user_id_created_at_id_idx ON memos (user_id, created_at, id);
CREATE INDEX memos_user_id_id_idx ON memos (user_id, id);
CREATE INDEX memos_user_id_tenant_id_id_idx ON memos (user_id, tenant_id, id);
ALTER TABLE memos ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE TABLE tasks (
  tenant_id uuid NOT NULL REFERENCES tenants(id) ON DELETE CASCADE,
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  author_id bigint,
  author_service_id uuid,
  title text NOT NULL,
  status text NOT NULL CHECK (status IN ('open', 'done')),
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX tasks_tenant_id_author_id_id_idx ON tasks (tenant_id, author_id, id);
CREATE INDEX tasks_tenant_id_created_at_id_idx ON tasks (tenant_id, created_at, id);
CREATE INDEX tasks_tenant_id_status_id_idx ON tasks (tenant_id, status, id);
ALTER TABLE tasks ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE TABLE pages (
  tenant_id uuid NOT NULL REFERENCES tenants(id) ON DELETE CASCADE,
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  folder_id bigint NOT NULL,
  team_id bigint NOT NULL,
  words text NOT NULL,
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, folder_id, team_id) REFERENCES folders(tenant_id, id, team_id)
);
CREATE INDEX pages_tenant_id_folder_id_team_id_id_idx ON pages (tenant_id, folder_id, team_id, id);
CREATE INDEX pages_tenant_id_team_id_created_at_id_idx ON pages (tenant_id, team_id, created_at, id);
CREATE INDEX pages_tenant_id_team_id_id_idx ON pages (tenant_id, team_id, id);
ALTER TABLE pages ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE TABLE assets (
  tenant_id uuid NOT NULL REFERENCES tenants(id) ON DELETE CASCADE,
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  author_id bigint,
  name text NOT NULL,
  notes text NOT NULL,
  state text NOT NULL,
  seats bigint NOT NULL,
  is_insured boolean NOT NULL,
  bought_on date NOT NULL,
  seen_at timestamptz(6) NOT NULL,
  weight numeric(8,2) NOT NULL,
  price jsonb NOT NULL,
  billed_in text NOT NULL,
  contact text NOT NULL,
  manual text NOT NULL,
  tags jsonb NOT NULL,
  ends_on date,
  left_at timestamptz(6),
  height numeric(3,0),
  worth jsonb,
  keeper text,
  site text,
  marks jsonb,
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX assets_tenant_id_author_id_id_idx ON assets (tenant_id, author_id, id);
CREATE INDEX assets_tenant_id_bought_on_id_idx ON assets (tenant_id, bought_on, id);
CREATE INDEX assets_tenant_id_contact_id_idx ON assets (tenant_id, contact, id);
CREATE INDEX assets_tenant_id_created_at_id_idx ON assets (tenant_id, created_at, id);
CREATE INDEX assets_tenant_id_state_id_idx ON assets (tenant_id, state, id);
CREATE INDEX assets_tenant_id_weight_id_idx ON assets (tenant_id, weight, id);
ALTER TABLE assets ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
