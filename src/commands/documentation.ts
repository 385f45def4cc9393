import type { CommandUnknownOpts } from '@commander-js/extra-typings'
import { createProgram } from './program.ts'

const introduction = `# Command line

In a checkout call it with \`npx gatehouse\` or \`npm run gatehouse --\`; the binary and the container are the program itself. Completion: \`gatehouse complete bash\` (or \`zsh\`, \`fish\`) prints a script for your shell; in bash it needs the package bash-completion.

The commands \`api\`, \`listen\`, \`events\`, \`event-types\`, \`endpoints\` and \`deliveries\` use the HTTP API of a running instance. They read:

| Variable | Meaning |
|---|---|
| \`GATEHOUSE_TOKEN\` | an API token of the account page, or a service token of the tenant |
| \`GATEHOUSE_URL\` | origin of the instance; else \`BASE_URL\`, else the demo that runs in this folder; https, except on loopback, and set in the same place as the token: both in the environment or both in \`.env\` |
| \`GATEHOUSE_LISTEN_SECRET\` | secret with which \`listen\` signs; else a new one for each run |

With the demo:

\`\`\`
export GATEHOUSE_TOKEN=gth_…   # as the demo prints it
npx gatehouse listen --forward-to http://localhost:4000/webhooks
\`\`\`

Every operation of the API that a token can call is a command of \`gatehouse api\`, under its name in the API description with hyphens: the parameters of its path are arguments, and its query, headers and body are options. The running instance describes them, with those of its app. \`gatehouse api --help\` lists them, and a shell completes their names and options.

\`\`\`
npx gatehouse api rotate-webhook-endpoint-secret 0b6c8f9a-3f4e-4d0a-9c43-7d1f2a5e8b60 --overlap-seconds 60
npx gatehouse api create-order --card-last4 4242 --line-items '[{"sku":"GATE-OAK-200","quantity":1,"unitPrice":45900}]' --shipping-address "$(cat address.json)"
\`\`\`

A text, or several in a list, is written as it is and anything else as JSON; \`null\` is no value where the API allows none. The response is printed as JSON. \`endpoints show\`, \`enable\`, \`rotate\` and \`delete\` are short names of such commands.
`

/** docs/command-line.md: the help of every command. */
export function commandLineDocument(): string {
  const program = createProgram()
  const sections = [program, ...commandsOf(program)].map(
    (command) => `## ${pathOf(command)}\n\n\`\`\`\n${helpOf(command)}\`\`\`\n`,
  )
  return `${introduction}\n${sections.join('\n')}`
}

/** Every command that can be called, without the two that commander and its completion add. */
function commandsOf(parent: CommandUnknownOpts): CommandUnknownOpts[] {
  return parent.commands
    .filter((command) => command.name() !== 'complete')
    .flatMap((command) => [...(isCalled(command) ? [command] : []), ...commandsOf(command)])
}

/** A group of commands has no options, since it does nothing itself. */
function isCalled(command: CommandUnknownOpts): boolean {
  return command.commands.length === 0 || command.options.length > 0
}

function pathOf(command: CommandUnknownOpts): string {
  const { parent } = command
  return parent === null ? command.name() : `${pathOf(parent)} ${command.name()}`
}

function helpOf(command: CommandUnknownOpts): string {
  let text = ''
  command.configureOutput({
    writeOut: (part) => {
      text += part
    },
    getOutHelpWidth: () => 80,
    getOutHasColors: () => false,
  })
  command.outputHelp()
  return text
}
