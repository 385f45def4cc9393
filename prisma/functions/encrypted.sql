-- Rotation of encryption keys: what is encrypted with which key, and its replacement.

-- The columns that are encrypted with ENCRYPTION_KEYS. `gatehouse keys` reads and writes exactly these, in the order
-- of the primary key, by tenant where the table has tenants: so the index is used.
CREATE OR REPLACE FUNCTION sealed_table(
  source text, OUT keys text[], OUT texts text[], OUT facts text[], OUT by_tenant boolean
) LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  facts := '{}';
  by_tenant := false;
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
      by_tenant := true;
    ELSE
      RAISE EXCEPTION 'no sealed texts in %', source USING ERRCODE = 'insufficient_privilege';
  END CASE;
END
$$;

CREATE OR REPLACE FUNCTION sealed_tenants(source text, first_tenant text) RETURNS SETOF uuid
LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF (public.sealed_table(source)).by_tenant THEN
    RETURN QUERY SELECT DISTINCT m.tenant_id FROM public.memberships m
      WHERE first_tenant IS NULL OR m.tenant_id >= first_tenant::uuid ORDER BY 1;
  ELSE
    RETURN NEXT NULL;
  END IF;
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
        'SELECT %1$L::text, substring(%1$I FROM 1 FOR 2 + get_byte(%1$I || $1, 1)), count(*)
         FROM public.%2$I WHERE %3$s AND %1$I IS NOT NULL GROUP BY 2 ORDER BY 2',
        one, source, CASE WHEN described.by_tenant THEN 'tenant_id = $2' ELSE 'true' END)
        USING '\x0000'::bytea, tenant;
    END LOOP;
  END LOOP;
  PERFORM public.clear_scope();
END
$$;

-- Counts the rows with a text that does not begin with `header`.
CREATE OR REPLACE FUNCTION count_stale(source text, header bytea) RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  described record := public.sealed_table(source);
  tenant uuid;
  total bigint := 0;
  more bigint;
BEGIN
  FOR tenant IN SELECT * FROM public.sealed_tenants(source, NULL) LOOP
    PERFORM public.set_scope('keys', '', NULL, tenant);
    EXECUTE format('SELECT count(*) FROM public.%I WHERE %s AND (%s)', source,
        CASE WHEN described.by_tenant THEN 'tenant_id = $2' ELSE 'true' END,
        (SELECT string_agg(format('substring(%1$I FROM 1 FOR length($1)) <> $1', c), ' OR ')
         FROM unnest(described.texts) c))
      INTO more USING header, tenant;
    total := total + more;
  END LOOP;
  PERFORM public.clear_scope();
  RETURN total;
END
$$;

-- One batch of rows with a text that does not begin with `header`, locked until the transaction ends.
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
       WHERE %6$s AND (%5$s) AND ($2 IS NULL OR ARRAY[%1$s] COLLATE "C" > $2)
       ORDER BY ARRAY[%1$s] COLLATE "C" LIMIT $3 FOR UPDATE',
      key_list,
      (SELECT string_agg(format('%I', c), ', ') FROM unnest(described.texts) c),
      (SELECT coalesce(string_agg(format('%I', c), ', '), '') FROM unnest(described.facts) c),
      source,
      (SELECT string_agg(format('substring(%1$I FROM 1 FOR length($1)) <> $1', c), ' OR ')
       FROM unnest(described.texts) c),
      CASE WHEN described.by_tenant THEN 'tenant_id = $4' ELSE 'true' END)
      USING header, key_after, batch - found_rows, tenant;
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
  IF described.by_tenant THEN
    tenant := row_keys[1]::uuid;
    PERFORM public.set_scope('keys', '', NULL, tenant);
  END IF;
  EXECUTE format('UPDATE public.%I SET %s WHERE %s AND %s', source,
      (SELECT string_agg(format('%I = $1[%s]', c, n), ', ')
       FROM unnest(described.texts) WITH ORDINALITY AS t (c, n)),
      CASE WHEN described.by_tenant THEN 'tenant_id = $3' ELSE 'true' END,
      (SELECT string_agg(format('%I::text = $2[%s]', c, n), ' AND ')
       FROM unnest(described.keys) WITH ORDINALITY AS t (c, n)))
    USING new_texts, row_keys, tenant;
  GET DIAGNOSTICS changed = ROW_COUNT;
  PERFORM public.clear_scope();
  RETURN changed = 1;
END
$$;
