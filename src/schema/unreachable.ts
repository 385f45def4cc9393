import pg from 'pg'
import { isPooled } from '#src/db/connections/pool-options.ts'
import { certificateRemedy, isUntrustedCertificate } from '#src/runtime/certificate-errors.ts'
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
  if (isUntrustedCertificate(error)) {
    return {
      problem: `The certificate of ${addressOf(url)} in ${setting} is not trusted: ${reason}.`,
      remedy: certificateRemedy,
    }
  }
  if (!isPooled(url) && isRefusedByPooler(error)) {
    return {
      problem: `A pooler answers at ${addressOf(url)} and refuses the settings of a direct connection: ${reason}.`,
      remedy: `Add ?pgbouncer=true to ${setting}.`,
    }
  }
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

/** Whether PgBouncer refused the startup parameters of a direct connection. */
export function isRefusedByPooler(error: unknown): boolean {
  return error instanceof pg.DatabaseError && /unsupported startup parameter/i.test(error.message)
}

const standby: Finding = {
  problem: 'The database is a standby, which accepts no writes.',
  remedy:
    'Let the connection URL lead to the primary, also after a failover: docs/upgrades.md, “Database failover”.',
}

/** For an operator who closes a database to writes, this program does not open it. */
const readOnly: Finding = {
  problem:
    'The database accepts no writes: default_transaction_read_only is on for this role, this database or the server.',
  remedy:
    'Once writes may go on, take it back where it was set: ALTER ROLE …, ALTER DATABASE … or ALTER SYSTEM RESET default_transaction_read_only.',
}

/** Why the database accepts no writes; null if it does. */
export async function findClosed(client: pg.Client): Promise<Finding | null> {
  const { rows } = await client.query<{ recovers: boolean; closed: boolean }>(
    `SELECT pg_is_in_recovery() AS recovers, current_setting('default_transaction_read_only') = 'on' AS closed`,
  )
  if (rows[0]?.recovers) return standby
  return rows[0]?.closed ? readOnly : null
}

/** An error of several addresses (AggregateError) has a code and no message. */
function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name
}

function addressOf(url: string): string {
  const { hostname, port } = new URL(url)
  return `${hostname}:${port || 5432}`
}
