import pg from 'pg'

/** Runs SQL on a connection of its own; resolves to the rows of the last statement. */
export async function query(url: string | undefined, sql: string): Promise<pg.QueryResultRow[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

/** Runs SQL as the administrator of the whole cluster, outside any test's database. */
export async function onCluster(sql: string): Promise<void> {
  await query(process.env.TEST_POSTGRES_URL, sql)
}
