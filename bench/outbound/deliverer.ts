import { readConfig } from '#src/config/config.ts'
import { createLogger } from '#src/observability/logger.ts'
import { startWorker } from '#src/worker.ts'

/* Runs the worker process with the given environment, until SIGTERM. */

const config = readConfig(process.env)
const worker = await startWorker(config, createLogger(config.logLevel))
process.once('SIGTERM', async () => {
  await worker.stop()
  process.send?.({ cpuMicroseconds: process.cpuUsage() })
  process.exit()
})
process.send?.('started')
