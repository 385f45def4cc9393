import pg from 'pg'
import { isPooled } from '#src/db/connections/pool-options.ts'
import type { Finding } from './finding.ts'

/**
 * What cannot be reached through a connection URL, and what to check. A URL with `pgbouncer=true`
 * leads to PgBouncer: if nothing answers there, PgBouncer is down; if it reports an error, PgBouncer
 * runs, and the database behind it or the login does not work.
 * @param setting the setting with the URL
 * @param error what connecting or the first query threw
 */
export function describeUnreachable(setting: string, url: string, error: unknown): Finding {
  const reason = error instanceof Error ? error.message || codeOf(error) : String(error)
  if (!isPooled(url)) {
    return {
      problem: `The database cannot be reached: ${reason}.`,
      remedy: `Check ${setting} and that PostgreSQL is running.`,
    }
  }
  if (error instanceof pg.DatabaseError) {
    return {
      problem: `PgBouncer at ${addressOf(url)} responds with an error: ${reason}.`,
      remedy: `Check that PostgreSQL behind it is running, and the role and password of ${setting} in its list of users; its log has the details.`,
    }
  }
  return {
    problem: `PgBouncer at ${addressOf(url)} cannot be reached: ${reason}.`,
    remedy: `Check ${setting} and that PgBouncer is running. PostgreSQL itself was not tried.`,
  }
}

/** An error of several addresses (AggregateError) has a code and no message. */
function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name
}

function addressOf(url: string): string {
  const { hostname, port } = new URL(url)
  return `${hostname}:${port || 5432}`
}
