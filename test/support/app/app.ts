import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import { testConfig } from '#dev/testing/settings.ts'
import { buildApp } from '#src/app.ts'
import type { Config } from '#src/config/config.ts'
import type { Limits } from '#src/db/connections/pool-options.ts'
import { createLogger } from '#src/observability/logger.ts'
import { createDatabase, type TestDatabase } from '#test/support/database/database.ts'

export type TestApp = {
  app: FastifyInstance
  config: Config
  database: TestDatabase
  /** Every log line so far. */
  log: string[]
}

type Overrides = Partial<Config> & { limits?: Partial<Limits> }

/**
 * The whole server on its own database, closed when the test ends.
 * @param settings overrides of testSettings
 * @param overrides overrides of the configuration, for instance a clock, and of the limits of its connections
 */
export async function build(
  t: Test,
  settings: Record<string, string> = {},
  { limits, ...overrides }: Overrides = {},
): Promise<TestApp> {
  const database = await createDatabase(t)
  const config = { ...testConfig(database, settings), ...overrides }
  const { database: connections } = config
  config.database = { ...connections, limits: { ...connections.limits, ...limits } }
  for (const operator of config.operators) await addOperator(database, operator)
  const log: string[] = []
  const logger = createLogger('trace', { write: (line) => void log.push(line) })
  const app = await buildApp(config, logger)
  t.teardown(() => app.close())
  return { app, config, database, log }
}

/**
 * An operator in the database, as a worker writes it when it starts.
 * @param operator `provider:subject`
 */
export async function addOperator({ admin }: TestDatabase, operator: string): Promise<void> {
  await admin.query(
    `INSERT INTO operators (provider, provider_user_id)
     VALUES (split_part($1, ':', 1), split_part($1, ':', 2)) ON CONFLICT DO NOTHING`,
    [operator],
  )
}
