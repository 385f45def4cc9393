import type { Test } from 'tap'
import { migrate } from '#src/schema/migrate.ts'
import { verifyDatabase } from '#src/schema/verification/verify.ts'
import type { Cluster, ClusterDatabase } from './cluster.ts'

/** Runs `migrate --distribute`; resolves to the lines that it prints. */
export async function distributeAll(database: ClusterDatabase): Promise<string[]> {
  const lines: string[] = []
  await migrate(database, undefined, { distribute: true, progress: (line) => lines.push(line) })
  return lines
}

export async function isVerified(t: Test, { url, workerUrl }: ClusterDatabase): Promise<void> {
  t.strictSame(await verifyDatabase(url, 'web'), [])
  t.strictSame(await verifyDatabase(workerUrl, 'worker'), [])
}

/** A superuser's URL of the database on the coordinator. */
export function adminUrl({ servers }: Cluster, { name }: ClusterDatabase): string {
  return servers[0]?.url(name) ?? ''
}
