import { ConfigError } from '#src/config/config.ts'
import { type Environment, readDatabaseUrl } from '#src/config/parse.ts'

export type DatabaseUrls = { ownerUrl: string; url: string; workerUrl: string }

/**
 * The connections that `migrate` and `seed` need; they need no other setting.
 * @throws ConfigError naming each that is missing
 */
export function readDatabaseUrls(env: Environment): DatabaseUrls {
  const faults: string[] = []
  const read = (name: string) => readDatabaseUrl(name, env[name] || undefined, faults)
  const ownerUrl = read('DATABASE_OWNER_URL')
  const url = read('DATABASE_URL')
  const workerUrl = env.DATABASE_WORKER_URL ? read('DATABASE_WORKER_URL') : url
  if (faults.length > 0) throw new ConfigError(faults)
  return { ownerUrl, url, workerUrl }
}
