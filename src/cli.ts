import { existsSync } from 'node:fs'
import { print, tell, UsageError } from '#src/commands/command.ts'
import { commands } from '#src/commands/commands.ts'
import { findCommand, helpFor, usageOf } from '#src/commands/help.ts'
import { version } from '#src/runtime/assets.ts'
import { OperatorError } from '#src/runtime/operator-error.ts'

// Whoever reads only the first lines (`| head`) closes the pipe; that is no fault.
process.stdout.on('error', (error) => {
  if ('code' in error && error.code === 'EPIPE') process.exit()
  throw error
})
process.stderr.on('error', () => {})
await main(process.argv.slice(2))

async function main(args: readonly string[]): Promise<void> {
  try {
    const words = args.filter((word) => word !== '--help' && word !== '-h')
    if (words.length < args.length) return print(helpFor(commands, words))
    if (args[0] === 'help') return print(helpFor(commands, args.slice(1)))
    if (args[0] === '--version') return print(`gatehouse ${version} (Node ${process.version})`)
    await runCommand(args)
  } catch (error) {
    const { explain } = await import('#src/commands/help.ts')
    tell(`gatehouse: ${explain(error)}`)
    process.exitCode = error instanceof UsageError ? 2 : 1
  }
}

async function runCommand(args: readonly string[]): Promise<void> {
  const { name, command, rest } = findCommand(commands, args)
  readEnvFile()
  try {
    await command.run(process.env, rest)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    throw new UsageError(
      `${error.message}\nUsage: ${usageOf(name, command)}\nHelp: gatehouse ${name} --help`,
    )
  }
}

function readEnvFile(): void {
  if (!existsSync('.env')) return
  try {
    process.loadEnvFile('.env')
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new OperatorError(`.env cannot be read: ${reason}.`, 'Let this user read it.')
  }
}
