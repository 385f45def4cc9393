import { readConfig } from '#src/config/config.ts'
import { createLogger } from '#src/observability/logger.ts'
import { startWorker } from '#src/worker.ts'

/* The worker half of the program with the given environment, and nothing else. */

const config = readConfig(process.env)
await startWorker(config, createLogger(config.logLevel))
process.send?.('started')
