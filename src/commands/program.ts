import { Command, type CommandUnknownOpts } from '@commander-js/extra-typings'
import { version } from '#src/runtime/assets.ts'
import { addApiCommand, addLoginCommand } from './api/command-line.ts'
import { addAppTokenCommands } from './app/command-line.ts'
import { addBillingCommands } from './billing/command-line.ts'
import { addCompletion } from './completion.ts'
import {
  addLedgerCommands,
  addMigrateCommand,
  addQuarantineCommands,
  addTraceCommand,
} from './database/command-line.ts'
import {
  addBuildCommand,
  addCreateCommand,
  addDemoCommand,
  addDevCommand,
  addGenerateCommand,
  addMigrateDevCommand,
  addNewCommand,
  addOpenapiCommand,
  addSeedCommand,
  addTriggerCommand,
  addUpgradeCommand,
} from './development/command-line.ts'
import { addKeyCommands } from './keys/command-line.ts'
import { addServeCommands } from './serve/command-line.ts'
import {
  addDoctorCommand,
  addInitCommand,
  addProviderCommands,
  addVersionCommand,
} from './setup/command-line.ts'
import { addDataCommands, addUsageCommands } from './tenants/command-line.ts'
import { addWebhookCommands } from './webhooks/command-line.ts'

const name = 'gatehouse'

/**
 * The command line. Each command loads its code when it runs, so that help and the health check of
 * a container start quickly. Wrong usage throws commander's CommanderError after its message.
 * @param operations the commands of `api`, where a shell asks for them
 */
export function createProgram(operations: readonly CommandUnknownOpts[] = []): Command {
  const program = new Command(name)
    .exitOverride()
    .configureOutput({
      outputError: (text, write) => write(text.replace(/^error: /, `${name}: `)),
    })
    .showHelpAfterError('Add --help to see the usage.')
    .version(`${name} ${version} (Node ${process.version})`, '--version', 'Show the version')
    .helpOption('-h, --help', 'Show help')
    .helpCommand('help [command]', 'Show help for a command')
    // src/resources/load-app.ts reads it, before the first command is known.
    .option('--app <folder>', 'Run the app of this folder; none for no app')
    .addHelpText(
      'after',
      `
Settings come from the environment and from .env; see .env.example.
Results go to standard output, everything else to standard error.
Exit status: 0 success, 1 failure, 2 wrong usage.`,
    )
  addServeCommands(program)
  addDevCommand(program)
  addVersionCommand(program)
  addOpenapiCommand(program)
  addNewCommand(program)
  addGenerateCommand(program)
  addCreateCommand(program)
  addBuildCommand(program)
  addUpgradeCommand(program)
  addInitCommand(program)
  addMigrateDevCommand(addMigrateCommand(program))
  addDemoCommand(program)
  addSeedCommand(program)
  addDoctorCommand(program)
  addProviderCommands(program)
  addKeyCommands(program)
  addQuarantineCommands(program)
  addTriggerCommand(program)
  addBillingCommands(program)
  addLedgerCommands(program)
  addUsageCommands(program)
  addTraceCommand(program)
  addDataCommands(program)
  addAppTokenCommands(program)
  addLoginCommand(program)
  addWebhookCommands(program)
  addApiCommand(program, operations)
  addCompletion(program)
  return program
}
