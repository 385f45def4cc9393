import { type Config, readConfig } from '#src/config/config.ts'
import type { Environment } from '#src/config/parse.ts'
import type { Demo } from '#src/demo/demo.ts'
import { createLogger } from '#src/observability/logger.ts'
import { runUntilSignal } from '#src/runtime/signals.ts'
import { start } from '#src/server.ts'

/** `gatehouse serve`: runs until a signal. Outside production the demo supplies missing parts. */
export default async function serveCommand(env: Environment): Promise<void> {
  let starting: Promise<Demo | null> = Promise.resolve(null)
  await runUntilSignal(
    async () => {
      if (env.NODE_ENV !== 'production') starting = startMissing(env)
      const demo = await starting
      const config = readConfig(demo?.env ?? env)
      const running = await start(config, createLogger(config.logLevel))
      if (demo !== null) await greet(demo, config)
      return running
    },
    async () => (await starting.catch(() => null))?.stop(),
  )
}

async function startMissing(env: Environment): Promise<Demo> {
  const { startDemo } = await import('#src/demo/demo.ts')
  return startDemo(env)
}

async function greet(demo: Demo, config: Config): Promise<void> {
  if (!demo.embedded.database || !demo.embedded.provider || config.role !== 'all') return
  const { greeting } = await import('#src/demo/demo.ts')
  process.stdout.write(greeting(config, demo.customer))
}
