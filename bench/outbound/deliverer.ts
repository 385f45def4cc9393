import { readConfig } from '#src/config.ts'
import { createLogger } from '#src/logger.ts'
import { startWorker } from '#src/worker.ts'

/* The worker half of the program with the given environment, and nothing else. */

const config = readConfig(process.env)
await startWorker(config, createLogger(config.logLevel))
process.send?.('started')
