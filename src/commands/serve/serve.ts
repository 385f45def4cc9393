import Type from 'typebox'
import { planNames } from '#src/access/entitlements.ts'
import { type Config, readConfig } from '#src/config/config.ts'
import { type Environment, readSchema } from '#src/config/parse.ts'
import { Settings } from '#src/config/settings.ts'
import { createLogger } from '#src/observability/logger.ts'
import { app } from '#src/resources/running-app.ts'
import { requireFreePort } from '#src/runtime/process/ports.ts'
import { isUnderNpm, runUntilSignal } from '#src/runtime/process/signals.ts'
import { start } from '#src/server.ts'
import { type Demo, loadDevelopment } from '../kit/development.ts'

const Listeners = Type.Pick(Settings, ['HOST', 'PORT', 'ADMIN_HOST', 'ADMIN_PORT', 'ROLE'])

/** `gatehouse serve`: runs until a signal. Outside production the demo supplies missing parts. */
export default async function serveCommand(env: Environment): Promise<void> {
  let starting: Promise<Demo | null> = Promise.resolve(null)
  await runUntilSignal(
    async () => {
      if (env.NODE_ENV !== 'production') starting = startMissing(env)
      const demo = await starting
      const config = readConfig(demo?.env ?? env, app.settings?.schema, planNames)
      const running = await start(config, await openLog(config.logLevel))
      if (demo !== null) await greet(demo, config)
      process.send?.('ready') // to gatehouse dev
      return running
    },
    async () => (await starting.catch(() => null))?.stop(),
    { underNpm: isUnderNpm(env) || process.connected === true },
  )
}

/** On a terminal, lines for people. */
async function openLog(level: string) {
  if (!process.stdout.isTTY) return createLogger(level)
  const { prettyDestination } = await import('#src/observability/pretty-log.ts')
  // Asks the terminal, NO_COLOR and FORCE_COLOR.
  const colorize = process.stdout.hasColors()
  return createLogger(level, prettyDestination(process.stdout, { colorize }))
}

async function startMissing(env: Environment): Promise<Demo> {
  await requireFreePorts(env)
  const { startDemo } = await loadDevelopment()
  return startDemo(env)
}

/** Before PostgreSQL and the provider start. Invalid settings are left to `readConfig`. */
async function requireFreePorts(env: Environment): Promise<void> {
  const faults: string[] = []
  const settings = readSchema(Listeners, env, '', faults)
  if (faults.length > 0) return
  const { HOST: host = '127.0.0.1', PORT: port, ROLE: role } = settings
  const { ADMIN_HOST, ADMIN_PORT } = settings
  await requireFreePort({ host: ADMIN_HOST, port: ADMIN_PORT, setting: 'ADMIN_PORT' })
  if (role !== 'worker') await requireFreePort({ host, port, setting: 'PORT' })
}

async function greet(demo: Demo, config: Config): Promise<void> {
  const isDemo = demo.embedded.database || demo.embedded.provider
  if (!isDemo || config.role === 'worker') return
  const { greeting } = await loadDevelopment()
  process.stdout.write(await greeting(config, demo))
}
