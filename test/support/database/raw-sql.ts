import pg from 'pg'

/** Runs SQL on a new connection; resolves to the rows of the last statement. */
export async function query(url: string | undefined, sql: string): Promise<pg.QueryResultRow[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

/** Runs SQL as a superuser in the cluster's maintenance database. */
export async function onCluster(sql: string): Promise<void> {
  await query(process.env.TEST_POSTGRES_URL, sql)
}
