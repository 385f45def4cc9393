import { buildApp } from '#src/app.ts'
import { readConfig } from '#src/config/config.ts'
import { createLogger } from '#src/observability/logger.ts'

/* Runs the web process with the given environment. Prints its address. */

const config = readConfig(process.env)
const app = await buildApp(config, createLogger(config.logLevel))
console.log(await app.listen({ host: '127.0.0.1', port: 0 }))
