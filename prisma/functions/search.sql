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
CREATE OR REPLACE FUNCTION fill_words(searched text, keys text, fields text) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  words text := searched || '_words';
  keeper regprocedure := format('public.keep_%s()', words)::regprocedure;
  done text := format('Words of %s, into %s.', fields, words::regclass::oid);
BEGIN
  IF obj_description(keeper, 'pg_proc') = done THEN RETURN; END IF;
  EXECUTE format('ALTER TABLE public.%I NO FORCE ROW LEVEL SECURITY', searched);
  EXECUTE format('ALTER TABLE public.%I NO FORCE ROW LEVEL SECURITY', words);
  EXECUTE format('TRUNCATE public.%I', words);
  EXECUTE format('INSERT INTO public.%1$I (%2$s, word) SELECT %2$s, unnest(public.search_words(concat_ws('' '', %3$s))) FROM public.%4$I r',
    words, keys, fields, searched);
  EXECUTE format('ALTER TABLE public.%I FORCE ROW LEVEL SECURITY', words);
  EXECUTE format('ALTER TABLE public.%I FORCE ROW LEVEL SECURITY', searched);
  EXECUTE format('COMMENT ON FUNCTION %s IS %L', keeper, done);
END
$$;
