import { run } from './new/command.ts'

process.exitCode = await run(process.argv.slice(2))
