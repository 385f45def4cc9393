-- The words of searched fields.

-- The words of a text, each once: letters and digits between other signs, in lower case and without accents, of the
-- first 1,000 words of the text and the first 32 characters of each. NFKD takes accents off their letters. Every
-- locale folds the case of the letters that it knows; translate folds those of a locale that knows ASCII alone.
CREATE OR REPLACE FUNCTION search_words(searched text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce(array_agg(DISTINCT left(w.word, 32)) FILTER (WHERE w.word <> ''), '{}')
  FROM unnest((regexp_split_to_array(
    translate(
      lower(regexp_replace(normalize(coalesce(searched, ''), NFKD), '[\u0300-\u036F]+', '', 'g')),
      'ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩςАБВГДЕЖЗИКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯЂЄЅІЈЉЊЋЏҐÆÐØÞŒĐĦŁŊŦøłđ',
      'αβγδεζηθικλμνξοπρστυφχψωσабвгдежзиклмнопрстуфхцчшщъыьэюяђєѕіјљњћџґæðoþœdħlŋŧold'),
    '[\u0001-/:-@\[-`{-\u00BF\u2000-\u2BFF\u2E00-\u303F]+'))[1:1000]) AS w (word)
$$;

-- Writes the words of every row of a table, in the transaction that makes its triggers, while its reads and writes
-- wait. Does nothing if the trigger's function already says that it was done for this table of words and these fields.
-- `counted`: the bytes that a word counts in the quota of its tenant, 0 for none. They are added as waiting changes,
-- because the triggers would take a lock for each tenant.
CREATE OR REPLACE FUNCTION fill_words(searched text, keys text, fields text, counted integer) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  words text := searched || '_words';
  keeper regprocedure := format('public.keep_%s()', words)::regprocedure;
  known text := obj_description(keeper, 'pg_proc');
  place text := format('into %s, ', words::regclass::oid);
  done text := format('Words of %s, %s%s bytes each.', fields, place, counted);
  change text := format('INSERT INTO public.usage_changes
    (tenant_id, resource_rows, resource_bytes, event_rows, event_bytes)
    SELECT w.tenant_id, 0, $1 * count(*), 0, 0 FROM public.%I w GROUP BY w.tenant_id', words);
BEGIN
  IF known = done THEN RETURN; END IF;
  EXECUTE format('ALTER TABLE public.%I NO FORCE ROW LEVEL SECURITY', searched);
  EXECUTE format('ALTER TABLE public.%I NO FORCE ROW LEVEL SECURITY', words);
  EXECUTE format('ALTER TABLE public.%I DISABLE TRIGGER USER', words);
  EXECUTE change USING -coalesce(substring(known FROM place || '(\d+) bytes')::integer, 0);
  EXECUTE format('TRUNCATE public.%I', words);
  EXECUTE format('INSERT INTO public.%1$I (%2$s, word) SELECT %2$s, unnest(public.search_words(concat_ws('' '', %3$s))) FROM public.%4$I r',
    words, keys, fields, searched);
  EXECUTE change USING counted;
  EXECUTE format('ALTER TABLE public.%I ENABLE TRIGGER USER', words);
  EXECUTE format('ALTER TABLE public.%I FORCE ROW LEVEL SECURITY', words);
  EXECUTE format('ALTER TABLE public.%I FORCE ROW LEVEL SECURITY', searched);
  EXECUTE format('COMMENT ON FUNCTION %s IS %L', keeper, done);
END
$$;
