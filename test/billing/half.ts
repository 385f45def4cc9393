import { once } from 'node:events'
import { buildApp } from '#src/app.ts'
import { readConfig } from '#src/config/config.ts'
import { createLogger } from '#src/observability/logger.ts'
import { startWorker } from '#src/worker.ts'

/*
 * One half of the program with the given environment. Loaded, it waits to be told to begin; tells
 * its parent once it runs.
 */

// Whoever started this is gone: so is the reason to run.
process.on('disconnect', () => process.exit())
await once(process, 'message')
const config = readConfig(process.env)
const logger = createLogger('silent')
if (process.argv[2] === 'worker') {
  await startWorker(config, logger)
  process.send?.('runs')
} else {
  const app = await buildApp(config, logger)
  process.send?.(await app.listen({ host: '127.0.0.1', port: 0 }))
}
