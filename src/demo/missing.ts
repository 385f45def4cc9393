import type { Environment } from '#src/config/parse.ts'
import type { Demo } from './demo.ts'

/*
 * Replaces demo.ts and running-demo.ts in the single binary, which has no demo: missing settings
 * are then errors of the configuration.
 */

export async function startDemo(env: Environment): Promise<Demo> {
  const embedded = { database: false, provider: false }
  return { env: { ...env }, embedded, customer: null, stop: async () => {} }
}

export function withDemoSettings(env: Environment): Environment {
  return env
}

export async function findRunningDemo(): Promise<null> {
  return null
}
