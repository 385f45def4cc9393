CREATE TABLE memos (
  tenant_id uuid NOT NULL REFERENCES tenants(id) ON DELETE CASCADE,
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  user_id bigint NOT NULL,
  after_id bigint,
  title text NOT NULL,
  details text,
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (tenant_id, id),
  UNIQUE (tenant_id, user_id, id),
  CONSTRAINT memos_after_id_fkey FOREIGN KEY (tenant_id, user_id, after_id)
    REFERENCES memos (tenant_id, user_id, id) ON DELETE SET NULL (after_id)
);
CREATE INDEX memos_user_id_after_id_id_idx ON memos (user_id, after_id, id);
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
  appraisal jsonb,
  remarks text,
  load numeric(12,2) GENERATED ALWAYS AS (seats * weight) STORED NOT NULL,
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
CREATE INDEX assets_tenant_id_state_bought_on_id_idx ON assets (tenant_id, state, bought_on, id);
CREATE INDEX assets_tenant_id_state_ends_on_id_idx ON assets (tenant_id, state, ends_on, id);
CREATE INDEX assets_tenant_id_state_weight_id_idx ON assets (tenant_id, state, weight, id);
CREATE INDEX assets_tenant_id_state_seen_at_id_idx ON assets (tenant_id, state, seen_at, id);
CREATE INDEX assets_tenant_id_bought_on_ends_on_id_idx ON assets (tenant_id, bought_on, ends_on, id);
CREATE INDEX assets_tenant_id_bought_on_weight_id_idx ON assets (tenant_id, bought_on, weight, id);
CREATE INDEX assets_tenant_id_bought_on_seen_at_id_idx ON assets (tenant_id, bought_on, seen_at, id);
CREATE INDEX assets_tenant_id_weight_bought_on_id_idx ON assets (tenant_id, weight, bought_on, id);
CREATE INDEX assets_tenant_id_weight_ends_on_id_idx ON assets (tenant_id, weight, ends_on, id);
CREATE INDEX assets_tenant_id_weight_seen_at_id_idx ON assets (tenant_id, weight, seen_at, id);
CREATE INDEX assets_tenant_id_contact_bought_on_id_idx ON assets (tenant_id, contact, bought_on, id);
CREATE INDEX assets_tenant_id_contact_ends_on_id_idx ON assets (tenant_id, contact, ends_on, id);
CREATE INDEX assets_tenant_id_contact_weight_id_idx ON assets (tenant_id, contact, weight, id);
CREATE INDEX assets_tenant_id_contact_seen_at_id_idx ON assets (tenant_id, contact, seen_at, id);
ALTER TABLE assets ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE TABLE projects (
  tenant_id uuid NOT NULL REFERENCES tenants(id) ON DELETE CASCADE,
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  title text NOT NULL,
  position bigint,
  found date,
  before text,
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX projects_tenant_id_created_at_id_idx ON projects (tenant_id, created_at, id);
CREATE INDEX projects_tenant_id_position_id_idx ON projects (tenant_id, position, id);
ALTER TABLE projects ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE TABLE issues (
  tenant_id uuid NOT NULL REFERENCES tenants(id) ON DELETE CASCADE,
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  project_id bigint NOT NULL,
  asset_id bigint,
  blocked_by_id bigint,
  assignee_id bigint,
  reviewer_id bigint,
  title text NOT NULL,
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT issues_project_id_title_key UNIQUE (tenant_id, project_id, title),
  CONSTRAINT issues_project_id_fkey FOREIGN KEY (tenant_id, project_id)
    REFERENCES projects (tenant_id, id) ON DELETE CASCADE,
  CONSTRAINT issues_asset_id_fkey FOREIGN KEY (tenant_id, asset_id)
    REFERENCES assets (tenant_id, id),
  CONSTRAINT issues_blocked_by_id_fkey FOREIGN KEY (tenant_id, blocked_by_id)
    REFERENCES issues (tenant_id, id) ON DELETE SET NULL (blocked_by_id)
);
CREATE INDEX issues_tenant_id_asset_id_id_idx ON issues (tenant_id, asset_id, id);
CREATE INDEX issues_tenant_id_assignee_id_id_idx ON issues (tenant_id, assignee_id, id);
CREATE INDEX issues_tenant_id_reviewer_id_id_idx ON issues (tenant_id, reviewer_id, id);
CREATE INDEX issues_tenant_id_blocked_by_id_id_idx ON issues (tenant_id, blocked_by_id, id);
CREATE INDEX issues_tenant_id_created_at_id_idx ON issues (tenant_id, created_at, id);
CREATE INDEX issues_tenant_id_project_id_id_idx ON issues (tenant_id, project_id, id);
ALTER TABLE issues ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE INDEX assets_tenant_id_ends_on_id_idx ON assets (tenant_id, ends_on, id);
CREATE INDEX assets_tenant_id_seen_at_id_idx ON assets (tenant_id, seen_at, id);

CREATE TABLE projects_words (
  tenant_id uuid NOT NULL,
  id bigint NOT NULL,
  word text COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant_id, id, word)
);
CREATE INDEX projects_words_tenant_id_word_id_idx ON projects_words (tenant_id, word, id);
ALTER TABLE projects_words ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE TABLE assets_words (
  tenant_id uuid NOT NULL,
  id bigint NOT NULL,
  word text COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant_id, id, word)
);
CREATE INDEX assets_words_tenant_id_word_id_idx ON assets_words (tenant_id, word, id);
ALTER TABLE assets_words ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE TABLE memos_words (
  tenant_id uuid NOT NULL,
  id bigint NOT NULL,
  user_id bigint NOT NULL,
  word text COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant_id, id, word)
);
CREATE INDEX memos_words_user_id_word_id_idx ON memos_words (user_id, word, id);
ALTER TABLE memos_words ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
