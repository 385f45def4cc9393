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

CREATE TABLE line_kinds (
  tenant_id uuid NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  value text NOT NULL,
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT line_kinds_value_key UNIQUE (tenant_id, value),
  FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE
);
CREATE INDEX line_kinds_tenant_id_created_at_id_idx ON line_kinds (tenant_id, created_at, id);
CREATE INDEX line_kinds_tenant_id_value_id_idx ON line_kinds (tenant_id, value, id);
ALTER TABLE line_kinds ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE TABLE text_kinds (
  tenant_id uuid NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  value text NOT NULL,
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE
);
CREATE INDEX text_kinds_tenant_id_created_at_id_idx ON text_kinds (tenant_id, created_at, id);
ALTER TABLE text_kinds ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE TABLE choice_kinds (
  tenant_id uuid NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  value text NOT NULL,
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT choice_kinds_value_key UNIQUE (tenant_id, value),
  FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE
);
CREATE INDEX choice_kinds_tenant_id_created_at_id_idx ON choice_kinds (tenant_id, created_at, id);
CREATE INDEX choice_kinds_tenant_id_value_id_idx ON choice_kinds (tenant_id, value, id);
ALTER TABLE choice_kinds ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE TABLE email_kinds (
  tenant_id uuid NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  value text NOT NULL,
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT email_kinds_value_key UNIQUE (tenant_id, value),
  FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE
);
CREATE INDEX email_kinds_tenant_id_created_at_id_idx ON email_kinds (tenant_id, created_at, id);
CREATE INDEX email_kinds_tenant_id_value_id_idx ON email_kinds (tenant_id, value, id);
ALTER TABLE email_kinds ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE TABLE url_kinds (
  tenant_id uuid NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  value text NOT NULL,
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT url_kinds_value_key UNIQUE (tenant_id, value),
  FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE
);
CREATE INDEX url_kinds_tenant_id_created_at_id_idx ON url_kinds (tenant_id, created_at, id);
CREATE INDEX url_kinds_tenant_id_value_id_idx ON url_kinds (tenant_id, value, id);
ALTER TABLE url_kinds ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE TABLE lines_kinds (
  tenant_id uuid NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  value jsonb NOT NULL,
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE
);
CREATE INDEX lines_kinds_tenant_id_created_at_id_idx ON lines_kinds (tenant_id, created_at, id);
ALTER TABLE lines_kinds ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE TABLE integer_kinds (
  tenant_id uuid NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  value bigint NOT NULL,
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT integer_kinds_value_key UNIQUE (tenant_id, value),
  FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE
);
CREATE INDEX integer_kinds_tenant_id_created_at_id_idx ON integer_kinds (tenant_id, created_at, id);
CREATE INDEX integer_kinds_tenant_id_value_id_idx ON integer_kinds (tenant_id, value, id);
ALTER TABLE integer_kinds ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE TABLE decimal_kinds (
  tenant_id uuid NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  value numeric(8,2) NOT NULL,
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT decimal_kinds_value_key UNIQUE (tenant_id, value),
  FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE
);
CREATE INDEX decimal_kinds_tenant_id_created_at_id_idx ON decimal_kinds (tenant_id, created_at, id);
CREATE INDEX decimal_kinds_tenant_id_value_id_idx ON decimal_kinds (tenant_id, value, id);
ALTER TABLE decimal_kinds ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE TABLE money_kinds (
  tenant_id uuid NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  value jsonb NOT NULL,
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE
);
CREATE INDEX money_kinds_tenant_id_created_at_id_idx ON money_kinds (tenant_id, created_at, id);
ALTER TABLE money_kinds ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE TABLE currency_kinds (
  tenant_id uuid NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  value text NOT NULL,
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT currency_kinds_value_key UNIQUE (tenant_id, value),
  FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE
);
CREATE INDEX currency_kinds_tenant_id_created_at_id_idx ON currency_kinds (tenant_id, created_at, id);
CREATE INDEX currency_kinds_tenant_id_value_id_idx ON currency_kinds (tenant_id, value, id);
ALTER TABLE currency_kinds ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE TABLE flag_kinds (
  tenant_id uuid NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  value boolean NOT NULL,
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT flag_kinds_value_key UNIQUE (tenant_id, value),
  FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE
);
CREATE INDEX flag_kinds_tenant_id_created_at_id_idx ON flag_kinds (tenant_id, created_at, id);
CREATE INDEX flag_kinds_tenant_id_value_id_idx ON flag_kinds (tenant_id, value, id);
ALTER TABLE flag_kinds ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE TABLE date_kinds (
  tenant_id uuid NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  value date NOT NULL,
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT date_kinds_value_key UNIQUE (tenant_id, value),
  FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE
);
CREATE INDEX date_kinds_tenant_id_created_at_id_idx ON date_kinds (tenant_id, created_at, id);
CREATE INDEX date_kinds_tenant_id_value_id_idx ON date_kinds (tenant_id, value, id);
ALTER TABLE date_kinds ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE TABLE timestamp_kinds (
  tenant_id uuid NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  value timestamptz(6) NOT NULL,
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT timestamp_kinds_value_key UNIQUE (tenant_id, value),
  FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE
);
CREATE INDEX timestamp_kinds_tenant_id_created_at_id_idx ON timestamp_kinds (tenant_id, created_at, id);
CREATE INDEX timestamp_kinds_tenant_id_value_id_idx ON timestamp_kinds (tenant_id, value, id);
ALTER TABLE timestamp_kinds ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE TABLE reference_kinds (
  tenant_id uuid NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  value_id bigint NOT NULL,
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT reference_kinds_value_id_key UNIQUE (tenant_id, value_id),
  FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE
);
CREATE INDEX reference_kinds_tenant_id_created_at_id_idx ON reference_kinds (tenant_id, created_at, id);
CREATE INDEX reference_kinds_tenant_id_value_id_id_idx ON reference_kinds (tenant_id, value_id, id);
ALTER TABLE reference_kinds ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE TABLE member_kinds (
  tenant_id uuid NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  value_id bigint,
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT member_kinds_value_id_key UNIQUE (tenant_id, value_id),
  FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE
);
CREATE INDEX member_kinds_tenant_id_created_at_id_idx ON member_kinds (tenant_id, created_at, id);
CREATE INDEX member_kinds_tenant_id_value_id_id_idx ON member_kinds (tenant_id, value_id, id);
ALTER TABLE member_kinds ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE TABLE json_kinds (
  tenant_id uuid NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  value jsonb NOT NULL,
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE
);
CREATE INDEX json_kinds_tenant_id_created_at_id_idx ON json_kinds (tenant_id, created_at, id);
ALTER TABLE json_kinds ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE TABLE computed_kinds (
  tenant_id uuid NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991),
  base bigint NOT NULL,
  value bigint GENERATED ALWAYS AS (base) STORED NOT NULL,
  created_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT computed_kinds_value_key UNIQUE (tenant_id, value),
  FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE
);
CREATE INDEX computed_kinds_tenant_id_created_at_id_idx ON computed_kinds (tenant_id, created_at, id);
CREATE INDEX computed_kinds_tenant_id_value_id_idx ON computed_kinds (tenant_id, value, id);
ALTER TABLE computed_kinds ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE reference_kinds ADD CONSTRAINT reference_kinds_value_id_fkey FOREIGN KEY (tenant_id, value_id) REFERENCES projects (tenant_id, id) ON DELETE CASCADE;

CREATE TABLE line_kinds_words (
  tenant_id uuid NOT NULL,
  id bigint NOT NULL,
  word text COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant_id, id, word)
);
CREATE INDEX line_kinds_words_tenant_id_word_id_idx ON line_kinds_words (tenant_id, word, id);
ALTER TABLE line_kinds_words ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE TABLE text_kinds_words (
  tenant_id uuid NOT NULL,
  id bigint NOT NULL,
  word text COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant_id, id, word)
);
CREATE INDEX text_kinds_words_tenant_id_word_id_idx ON text_kinds_words (tenant_id, word, id);
ALTER TABLE text_kinds_words ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE TABLE email_kinds_words (
  tenant_id uuid NOT NULL,
  id bigint NOT NULL,
  word text COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant_id, id, word)
);
CREATE INDEX email_kinds_words_tenant_id_word_id_idx ON email_kinds_words (tenant_id, word, id);
ALTER TABLE email_kinds_words ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE TABLE url_kinds_words (
  tenant_id uuid NOT NULL,
  id bigint NOT NULL,
  word text COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant_id, id, word)
);
CREATE INDEX url_kinds_words_tenant_id_word_id_idx ON url_kinds_words (tenant_id, word, id);
ALTER TABLE url_kinds_words ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE TABLE currency_kinds_words (
  tenant_id uuid NOT NULL,
  id bigint NOT NULL,
  word text COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant_id, id, word)
);
CREATE INDEX currency_kinds_words_tenant_id_word_id_idx ON currency_kinds_words (tenant_id, word, id);
ALTER TABLE currency_kinds_words ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
