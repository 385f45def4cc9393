import type { Environment } from '#src/config/parse.ts'
import type { Demo } from './demo.ts'

/*
 * Stands in for the demo in the single binary, which carries no demo: nothing is embedded, and
 * whatever is not set is a fault that the configuration names.
 */

export async function startDemo(env: Environment): Promise<Demo> {
  const embedded = { database: false, provider: false }
  return { env: { ...env }, embedded, customer: null, stop: async () => {} }
}

export async function findRunningDemo(): Promise<null> {
  return null
}
