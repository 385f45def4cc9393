import { Command, type CommandUnknownOpts } from '@commander-js/extra-typings'
import { apiFailed, details, json, needsToken, readUrl } from '../kit/arguments.ts'
import { readSources } from '../kit/environment.ts'

const completionMs = 2_000

/** `login`. */
export function addLoginCommand(program: Command): void {
  program
    .command('login')
    .description('Sign in with the browser, for the commands that use the API')
    .argument('[url]', 'Address of the instance', readUrl)
    .option('--no-browser', 'Only print the page to open')
    .option(...json)
    .addHelpText(
      ...details(
        'no one signed in',
        `Opens a page of the instance that creates an API token, and receives it on a
port of this machine. Address and token are kept together in the file
gatehouse/login.json in XDG_CONFIG_HOME or ~/.config, readable by this user.
Without an address: GATEHOUSE_URL, BASE_URL, or the demo that runs here.
GATEHOUSE_TOKEN, where it is set, is used instead of the file. To sign out,
revoke the token on the account page and delete the file.`,
      ),
    )
    .action(async (url, options) =>
      (await import('./login.ts')).default(readSources(), url, options),
    )
}

/** `api`. @param operations its commands, where a shell asks for their names and options */
export function addApiCommand(
  program: CommandUnknownOpts,
  operations: readonly CommandUnknownOpts[],
): void {
  const api = program
    .command('api')
    .description('Call an operation of the API by its name')
    .argument('[operation]', 'Its name in the API description, with hyphens')
  takeValues(api, [])
  for (const operation of operations) api.addCommand(operation)
}

/** Makes a command the short name of an operation. */
export function addShortName(command: CommandUnknownOpts, operation: string): void {
  takeValues(command.summary(command.description()), [operation])
  command.description(`${command.description()}: \`gatehouse api ${operation}\``)
}

/** Calls the operation that the first of `names` and arguments names, with the other arguments. */
function takeValues(command: CommandUnknownOpts, names: readonly string[]): void {
  command
    .argument('[values...]', 'Parameters of its path and options for the others')
    .allowUnknownOption()
    .helpOption(false)
    .addHelpText(
      ...details(
        apiFailed,
        `The operations are those of the running instance. Where it is known, --help
lists them, and after the name of one shows what it takes. Prints the response
as JSON.
${needsToken}`,
      ),
    )
    .action(async () => {
      const args = [...names, ...command.args]
      const operations = await loadOperations().catch((error: unknown) => {
        // Help is also for those who have no token yet.
        if (args.includes('--help') || args.includes('-h')) command.help()
        throw error
      })
      const group = command.parent ?? command
      const api = new Command('gatehouse api').copyInheritedSettings(group)
      for (const one of operations) api.addCommand(one.copyInheritedSettings(group))
      await api.parseAsync(args, { from: 'user' })
    })
}

/** The operations where a shell completes `gatehouse api`; none if the instance takes too long. */
export async function operationsToComplete(args: readonly string[]): Promise<CommandUnknownOpts[]> {
  const [command, separator, completed] = args
  if (command !== 'complete' || separator !== '--' || completed !== 'api') return []
  return loadOperations(AbortSignal.timeout(completionMs)).catch(() => [])
}

async function loadOperations(signal?: AbortSignal): Promise<CommandUnknownOpts[]> {
  const { operationsOf } = await import('./operations.ts')
  return operationsOf(readSources(), signal)
}
