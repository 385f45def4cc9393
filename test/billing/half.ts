import { once } from 'node:events'
import { buildApp } from '#src/app.ts'
import { readConfig } from '#src/config/config.ts'
import { createLogger } from '#src/observability/logger.ts'
import { startWorker } from '#src/worker.ts'

/*
 * The web or the worker part of the program. After loading it waits for a message to start, and sends
 * one to its parent when it runs.
 */

// Ends with its parent.
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
