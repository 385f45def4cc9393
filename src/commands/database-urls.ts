import { ConfigError } from '#src/config.ts'
import type { Environment } from './environment.ts'

export type DatabaseUrls = { ownerUrl: string; url: string; workerUrl: string }

/**
 * The connections that `migrate` and `seed` need; they need no other setting.
 * @throws ConfigError naming each that is missing
 */
export function readDatabaseUrls(env: Environment): DatabaseUrls {
  const faults: string[] = []
  const read = (name: string): string => {
    const value = env[name]?.trim() ?? ''
    const protocol = URL.parse(value)?.protocol
    if (value === '') faults.push(`${name}: is missing.`)
    else if (protocol !== 'postgres:' && protocol !== 'postgresql:') {
      faults.push(`${name}: must be a postgresql:// URL.`)
    }
    return value
  }
  const ownerUrl = read('DATABASE_OWNER_URL')
  const url = read('DATABASE_URL')
  const workerUrl = env.DATABASE_WORKER_URL ? read('DATABASE_WORKER_URL') : url
  if (faults.length > 0) throw new ConfigError(faults)
  return { ownerUrl, url, workerUrl }
}
