CREATE TABLE notes (
  tenant_id uuid NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  author_id bigint,
  title text NOT NULL,
  room_id bigint,
  cost jsonb,
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE
);
CREATE INDEX notes_tenant_id_created_at_id_idx ON notes (tenant_id, created_at, id);
CREATE INDEX notes_tenant_id_author_id_id_idx ON notes (tenant_id, author_id, id);
CREATE INDEX notes_tenant_id_room_id_id_idx ON notes (tenant_id, room_id, id);
ALTER TABLE notes ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE TABLE rooms (
  tenant_id uuid NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  title text NOT NULL,
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE
);
CREATE INDEX rooms_tenant_id_created_at_id_idx ON rooms (tenant_id, created_at, id);
ALTER TABLE rooms ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE TABLE keys (
  tenant_id uuid NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  room_id bigint NOT NULL,
  title text NOT NULL,
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE
);
CREATE INDEX keys_tenant_id_created_at_id_idx ON keys (tenant_id, created_at, id);
CREATE INDEX keys_tenant_id_room_id_id_idx ON keys (tenant_id, room_id, id);
ALTER TABLE keys ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE notes ADD CONSTRAINT notes_room_id_fkey FOREIGN KEY (tenant_id, room_id) REFERENCES rooms (tenant_id, id) ON DELETE SET NULL (room_id);
ALTER TABLE keys ADD CONSTRAINT keys_room_id_fkey FOREIGN KEY (tenant_id, room_id) REFERENCES rooms (tenant_id, id) ON DELETE CASCADE;
