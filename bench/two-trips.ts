import pg from 'pg'
import { onDatabase, type Place } from './place.ts'
import { type Server, startServer } from './processes.ts'

const role = { name: 'bench_two_trips', password: 'bench' }

const statements = [
  'CREATE TABLE orders_by_setting (LIKE orders INCLUDING ALL)',
  'INSERT INTO orders_by_setting OVERRIDING SYSTEM VALUE SELECT * FROM orders',
  `ALTER TABLE orders_by_setting ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY`,
  `CREATE POLICY owner ON orders_by_setting
   USING (user_id = (SELECT nullif(current_setting('app.user_id', true), '')::bigint))`,
  `CREATE ROLE ${role.name} LOGIN PASSWORD ${pg.escapeLiteral(role.password)}`,
  `GRANT SELECT ON orders_by_setting TO ${role.name}`,
]

/** Copies the orders into the table of `baselines/read-two-trips.ts`, with the policy of that form. */
export async function prepareTwoTrips({ superuserUrl }: Place): Promise<string> {
  await onDatabase(superuserUrl, [...statements, 'ANALYZE orders_by_setting'])
  const url = new URL(superuserUrl)
  url.username = role.name
  url.password = role.password
  return url.href
}

/** @param url connection of the role of `prepareTwoTrips`; sessions are read as superuser there */
export function startTwoTrips(url: string, superuserUrl: string): Promise<Server> {
  const sessionsUrl = new URL(superuserUrl)
  sessionsUrl.host = new URL(url).host // both pass the proxy of a far database
  return startServer('./baselines/read-two-trips.ts', {
    DATABASE_URL: url,
    SESSIONS_URL: sessionsUrl.href,
  })
}
