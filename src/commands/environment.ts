import type { Environment } from '#src/config/parse.ts'
import type { Demo } from '#src/demo/demo.ts'

/** As withEnvironment; whoever names the owner of a database means that one and nothing embedded. */
export function withDatabaseOwner<T>(
  env: Environment,
  work: (env: Environment) => Promise<T>,
): Promise<T> {
  return env.DATABASE_OWNER_URL ? work(env) : withEnvironment(env, work)
}

/**
 * Runs a short command with a whole environment: in production the given one; else that of the
 * demo running in this checkout, or of one started for as long as the command takes.
 */
export async function withEnvironment<T>(
  env: Environment,
  work: (env: Environment) => Promise<T>,
): Promise<T> {
  if (env.NODE_ENV === 'production') return work(env)
  const { findRunningDemo } = await import('#src/demo/running-demo.ts')
  const running = await findRunningDemo()
  if (running !== null) return work({ ...running.env, ...env })
  const { startDemo } = await import('#src/demo/demo.ts')
  const demo: Demo = await startDemo(env)
  return work(demo.env).finally(() => demo.stop())
}
