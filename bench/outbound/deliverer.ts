import { readConfig } from '#src/config/config.ts'
import { createLogger } from '#src/observability/logger.ts'
import { startWorker } from '#src/worker.ts'

/* Runs the worker process with the given environment. */

const config = readConfig(process.env)
await startWorker(config, createLogger(config.logLevel))
process.send?.('started')
