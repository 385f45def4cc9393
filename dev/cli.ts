#!/usr/bin/env node
import { addDevelopment } from '#src/commands/kit/development.ts'

/* The command line with the demo. src/cli.ts is the one without, for production. */

addDevelopment(() => import('./development.ts'))
await import('#src/cli.ts')
