import type { Environment } from '#src/config/parse.ts'
import { OperatorError } from '#src/runtime/operator-error.ts'
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

export async function describeDemo(): Promise<never> {
  throw new OperatorError(
    'This program has no demo in it.',
    'Run `npm start` in a checkout, or `gatehouse init` for an installation.',
  )
}

/** Never called: `describeDemo` throws first. */
export function greeting(): string {
  return ''
}

export async function findRunningDemo(): Promise<null> {
  return null
}
