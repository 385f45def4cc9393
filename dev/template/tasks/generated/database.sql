-- Written by `gatehouse generate` from the declarations. `gatehouse migrate` applies it after the migrations, with
-- a table of the declarations that functions of the owner read.

-- To the web role: GRANT SELECT, INSERT, UPDATE (title, details, due_on, status, updated_at), DELETE ON tasks
-- To the web role: GRANT SELECT ON tasks_words

CREATE POLICY tenant_scope ON tasks USING (tenant_id = (SELECT current_tenant_id()));

CREATE POLICY tenant_scope ON tasks_words USING (tenant_id = (SELECT current_tenant_id()));

CREATE POLICY kept_by_triggers ON tasks_words TO CURRENT_USER USING (pg_trigger_depth() > 0);

SELECT count_table('tasks', 'resource', 'octet_length(r.title) + coalesce(octet_length(r.details), 0) + octet_length(r.status)');

CREATE TRIGGER keep_tasks_words AFTER INSERT OR UPDATE OR DELETE ON tasks
  FOR EACH ROW EXECUTE FUNCTION keep_tasks_words();

SELECT fill_words('tasks', 'tenant_id, id', 'r.title', 180);

SELECT count_table('tasks_words', 'resource', '180', '0');

-- The columns of declared resources that name a member, and are cleared after that person has left.
CREATE OR REPLACE FUNCTION declared_members() RETURNS TABLE (name text, named text) LANGUAGE sql IMMUTABLE AS $$
SELECT * FROM (VALUES
  (NULL::text, NULL::text)
) t (name, named) WHERE t.name IS NOT NULL
$$;

-- Keeps the words of title of a row of tasks in tasks_words.
CREATE OR REPLACE FUNCTION keep_tasks_words() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  kept text[];
BEGIN
  IF TG_OP = 'DELETE' THEN
    DELETE FROM public.tasks_words w WHERE w.tenant_id = OLD.tenant_id AND w.id = OLD.id;
    RETURN NULL;
  END IF;
  IF TG_OP = 'UPDATE' AND ROW(OLD.title) IS NOT DISTINCT FROM ROW(NEW.title) THEN
    RETURN NULL;
  END IF;
  kept := public.search_words(concat_ws(' ', NEW.title));
  IF TG_OP = 'UPDATE' THEN
    DELETE FROM public.tasks_words w WHERE w.tenant_id = NEW.tenant_id AND w.id = NEW.id AND w.word <> ALL (kept);
  END IF;
  INSERT INTO public.tasks_words (tenant_id, id, word)
  SELECT NEW.tenant_id, NEW.id, unnest(kept) ON CONFLICT DO NOTHING;
  RETURN NULL;
END
$$;
