-- Rotation of encryption keys: what is encrypted with which key, and its replacement.

-- The columns that are encrypted with ENCRYPTION_KEYS. `gatehouse keys` reads and writes exactly these, in the order of
-- the primary key, and tenant by tenant if the table has tenants, so that the index is used. `place` is a condition for
-- the rows of one tenant, `stale` for rows with a text that does not begin with a header; $1 and $2 are the tenant and
-- the header.
CREATE OR REPLACE FUNCTION sealed_table(
  source text, OUT keys text[], OUT texts text[], OUT facts text[], OUT place text, OUT stale text
) LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  facts := '{}';
  place := 'true';
  CASE source
    WHEN 'provider_grants' THEN
      keys := '{provider,provider_user_id}';
      texts := '{access_token,refresh_token}';
    WHEN 'token_revocations' THEN
      keys := '{id}';
      texts := '{token}';
      facts := '{provider,provider_user_id,kind}';
    WHEN 'webhook_endpoints' THEN
      keys := '{tenant_id,id}';
      texts := '{secret,previous_secret}';
      place := 'tenant_id = $1';
    ELSE
      RAISE EXCEPTION 'no sealed texts in %', source USING ERRCODE = 'insufficient_privilege';
  END CASE;
  stale := (SELECT string_agg(format('substring(%1$I FROM 1 FOR length($2)) <> $2', c), ' OR ') FROM unnest(texts) c);
END
$$;

-- The tenants whose rows are read one after the other; one NULL for a table without tenants.
CREATE OR REPLACE FUNCTION sealed_tenants(source text, first_tenant text) RETURNS SETOF uuid
LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF (public.sealed_table(source)).place = 'true' THEN RETURN NEXT NULL; RETURN; END IF;
  RETURN QUERY SELECT DISTINCT m.tenant_id FROM public.memberships m
    WHERE first_tenant IS NULL OR m.tenant_id >= first_tenant::uuid ORDER BY 1;
END
$$;

-- Counts the texts per header: version, length of the key id, key id.
CREATE OR REPLACE FUNCTION count_sealed(source text) RETURNS TABLE (column_name text, head bytea, count bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  described record := public.sealed_table(source);
  tenant uuid;
  one text;
BEGIN
  FOR tenant IN SELECT * FROM public.sealed_tenants(source, NULL) LOOP
    PERFORM public.set_scope('keys', '', NULL, tenant);
    FOREACH one IN ARRAY described.texts LOOP
      RETURN QUERY EXECUTE format(
        'SELECT %1$L::text, substring(%1$I FROM 1 FOR 2 + get_byte(%1$I || $2, 1)), count(*)
         FROM public.%2$I WHERE %3$s AND %1$I IS NOT NULL GROUP BY 2 ORDER BY 2', one, source, described.place)
        USING tenant, '\x0000'::bytea;
    END LOOP;
  END LOOP;
  PERFORM public.clear_scope();
END
$$;

-- One batch of rows with a text that does not begin with `header`, locked FOR NO KEY UPDATE until the transaction ends:
-- writes wait, but not a publication to an endpoint, which needs only that the row exists.
CREATE OR REPLACE FUNCTION read_sealed(
  source text, header bytea, key_after text[], batch integer
) RETURNS TABLE (keys text[], texts bytea[], facts text[])
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  described record := public.sealed_table(source);
  key_list text := (SELECT string_agg(format('%I::text', c), ', ') FROM unnest(described.keys) c);
  tenant uuid;
  found_rows integer := 0;
  more integer;
BEGIN
  FOR tenant IN SELECT * FROM public.sealed_tenants(source, key_after[1]) LOOP
    PERFORM public.set_scope('keys', '', NULL, tenant);
    RETURN QUERY EXECUTE format(
      'SELECT ARRAY[%1$s], ARRAY[%2$s]::bytea[], ARRAY[%3$s]::text[] FROM public.%4$I
       WHERE %5$s AND (%6$s) AND ($3 IS NULL OR ARRAY[%1$s] COLLATE "C" > $3)
       ORDER BY ARRAY[%1$s] COLLATE "C" LIMIT $4 FOR NO KEY UPDATE',
      key_list,
      (SELECT string_agg(format('%I', c), ', ') FROM unnest(described.texts) c),
      (SELECT coalesce(string_agg(format('%I', c), ', '), '') FROM unnest(described.facts) c),
      source, described.place, described.stale)
      USING tenant, header, key_after, batch - found_rows;
    GET DIAGNOSTICS more = ROW_COUNT;
    found_rows := found_rows + more;
    EXIT WHEN found_rows >= batch;
  END LOOP;
  PERFORM public.clear_scope();
END
$$;

-- Replaces the encrypted texts of a row, in the order of read_sealed. NULL for a column without one.
CREATE OR REPLACE FUNCTION write_sealed(source text, row_keys text[], new_texts bytea[]) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  described record := public.sealed_table(source);
  tenant uuid;
  changed integer;
BEGIN
  IF described.place <> 'true' THEN
    tenant := row_keys[1]::uuid;
    PERFORM public.set_scope('keys', '', NULL, tenant);
  END IF;
  EXECUTE format('UPDATE public.%I SET %s WHERE %s AND %s', source,
      (SELECT string_agg(format('%I = $3[%s]', c, n), ', ')
       FROM unnest(described.texts) WITH ORDINALITY AS t (c, n)),
      described.place,
      (SELECT string_agg(format('%I::text = $2[%s]', c, n), ' AND ')
       FROM unnest(described.keys) WITH ORDINALITY AS t (c, n)))
    USING tenant, row_keys, new_texts;
  GET DIAGNOSTICS changed = ROW_COUNT;
  PERFORM public.clear_scope();
  RETURN changed = 1;
END
$$;
