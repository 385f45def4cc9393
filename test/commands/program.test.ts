import { existsSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CommanderError } from '@commander-js/extra-typings'
import t, { type Test } from 'tap'
import { appPermissions } from '#src/access/policy.ts'
import { eventStatuses } from '#src/billing/events.ts'
import { offeredPermissions } from '#src/commands/app/command-line.ts'
import { eventStatuses as offeredStatuses } from '#src/commands/billing/command-line.ts'
import { createProgram } from '#src/commands/program.ts'
import { runProgram } from '#test/support/processes/program.ts'

/** Runs a command line that ends in the parser, and resolves to what it printed. */
async function parse(args: readonly string[]) {
  let printed = ''
  const write = (text: string) => {
    printed += text
  }
  const program = createProgram()
  const all = [program, ...program.commands, ...program.commands.flatMap((one) => one.commands)]
  for (const command of all) command.configureOutput({ writeOut: write, writeErr: write })
  const error: unknown = await program.parseAsync(args, { from: 'user' }).catch((error) => error)
  if (!(error instanceof CommanderError)) throw new Error(`${args.join(' ')} did not end there`)
  return { printed, status: error.exitCode }
}

t.test(
  'every command has a help text with its exit statuses and refuses extra input',
  async (t) => {
    const { printed: overview, status } = await parse(['--help'])
    t.equal(status, 0)
    t.ok(overview.split('\n').every((line) => line.length <= 80))
    const groups = createProgram().commands.filter(({ commands }) => commands.length > 0)
    t.same(
      groups.map((group) => group.name()),
      [
        ...['migrate', 'providers', 'keys', 'billing', 'ledger', 'usage', 'user', 'tenant'],
        ...['app-tokens', 'events', 'event-types', 'endpoints', 'deliveries'],
      ],
    )
    const names = [
      ...['serve', 'worker', 'health', 'openapi', 'migrate', 'seed', 'doctor', 'trigger'],
      ...['migrate dev', 'generate', 'build'],
      ...['version', 'quarantine', 'adopt', 'providers check'],
      ...['keys status', 'keys rotate', 'billing link', 'billing replay'],
      ...['ledger verify', 'ledger repair'],
      ...['usage list', 'usage check', 'usage limit'],
      ...['user export', 'user erase', 'tenant export', 'tenant delete'],
      ...['init', 'trace', 'listen', 'events tail', 'endpoints list', 'endpoints create'],
      ...['endpoints test', 'endpoints probe', 'deliveries list', 'deliveries replay', 'login'],
      ...['demo', 'endpoints update'],
      ...['events publish', 'event-types apply'],
      ...['app-tokens list', 'app-tokens create', 'app-tokens rotate', 'app-tokens revoke'],
    ]
    for (const name of names) {
      const words = name.split(' ')
      t.match(overview, new RegExp(`^  ${words[0]} `, 'm'))
      const help = await parse([...words, '--help'])
      t.equal(help.status, 0)
      t.match(help.printed, `Usage: gatehouse ${name}`)
      t.match(help.printed, /^Exit status: 0 success, 1 .*, 2 wrong usage\.$/m)
      t.ok(
        help.printed.split('\n').every((line) => line.length <= 80),
        name,
      )
      const needed = argumentsOf[name] ?? []
      const unknown = await parse([...words, ...needed, '--dance'])
      t.match(unknown.printed, /^gatehouse: unknown option '--dance'/)
      t.not(unknown.status, 0)
      if (/ (replay|check)$/.test(name) && !name.startsWith('usage')) continue // takes several
      const extra = await parse([...words, ...needed, 'b'])
      t.match(extra.printed, /too many arguments/)
    }
  },
)

const uuid = '00000000-0000-4000-8000-000000000001'
const argumentsOf: Readonly<Record<string, string[]>> = {
  trigger: ['a'],
  'billing link': ['a', 'a'],
  'usage limit': ['a'],
  'user export': ['a'],
  'user erase': ['a', '--yes'],
  'tenant export': [uuid],
  'tenant delete': [uuid, '--name', 'a'],
  trace: ['a'],
  listen: ['--forward-to', 'http://127.0.0.1:9'],
  'endpoints create': ['http://127.0.0.1:9'],
  'endpoints test': [uuid],
  'endpoints probe': [uuid],
  login: ['http://127.0.0.1:9'],
  'endpoints update': [uuid],
  'deliveries replay': [uuid],
  'events publish': ['a', '{}', '--tenant', uuid],
  'event-types apply': ['a'],
  'app-tokens create': ['a', '--permissions=event:publish'],
  'app-tokens rotate': [uuid],
  'app-tokens revoke': [uuid],
}

t.test('an option is parsed before the command runs', async (t) => {
  const wrong: [string[], RegExp][] = [
    [['trigger'], /missing required argument 'type'/],
    [['listen'], /required option '--forward-to <url>' not specified/],
    [['listen', '--forward-to', 'nonsense'], /must be an http or https URL/],
    [['endpoints', 'test', 'x'], /must be a UUID/],
    [['endpoints', 'create', 'http://127.0.0.1:9', '--types', 'Odd'], /name of an event type/],
    [['endpoints', 'test', uuid, '--type', 'odd'], /choices are order\.updated/],
    [['listen', '--forward-to', 'http://127.0.0.1:9', '--type', 'Odd'], /name of an event type/],
    [['app-tokens', 'create', 'a'], /required option '--permissions/],
    [['app-tokens', 'create', 'a', '--permissions', '*'], /choices are webhook-endpoint:read/],
    [['app-tokens', 'create', ' ', '--permissions', 'event:publish'], /one line of at most/],
    [['app-tokens', 'create', 'a', '--days', '367'], /whole number from 1 to 366/],
    [['app-tokens', 'revoke', 'x'], /must be a UUID/],
    [['deliveries', 'list', '--endpoint', 'x'], /must be a UUID/],
    [['deliveries', 'replay'], /either ids or --endpoint is needed/],
    [['events', 'tail', '--from', 'now'], /must be an RFC 3339 time/],
    [['billing', 'link', 'cus_1'], /missing required argument 'user'/],
    [['trigger', 'x', '--amount', '1e3'], /whole number/],
    [['trigger', 'x', '--amount'], /--amount <n>' argument missing/],
    [['trigger', 'x', '--json=yes'], /unknown option '--json=yes'/],
    [['trigger', 'x', '--url', 'nonsense'], /must be an http or https URL/],
    [['billing', 'replay', '--status', 'odd'], /choices are recorded, processed/],
    [['usage', 'list', '--limit', '0'], /whole number from 1/],
    [['billing', 'replay', '--from', 'yesterday'], /must be an RFC 3339 time/],
    [['billing', 'replay', '--to', '2026-13-01T00:00:00Z'], /must be an RFC 3339 time/],
    [['billing', 'replay', 'evt_1', '--status', 'dead'], /cannot be combined/],
  ]
  for (const [args, message] of wrong) {
    const { printed, status } = await parse(args)
    t.not(status, 0, args.join(' '))
    t.match(printed, message)
  }
  t.same(offeredStatuses, eventStatuses)
  t.same(offeredPermissions, appPermissions)
})

t.test('only a similar name is suggested', async (t) => {
  const wrong: [string[], RegExp][] = [
    [['docter'], /unknown command 'docter'\n\(Did you mean doctor\?\)/],
    [['keys', 'rotat'], /\(Did you mean rotate\?\)/],
    [['doctor', '--jsno'], /\(Did you mean --json\?\)/],
  ]
  for (const [args, message] of wrong) t.match((await parse(args)).printed, message)
  for (const args of [['nonsense'], ['toString'], ['keys', 'dance'], ['doctor', '--no-color']]) {
    t.notMatch((await parse(args)).printed, 'Did you mean', args.join(' '))
  }
})

t.test('a group without a command prints its help as an error', async (t) => {
  for (const args of [[], ['keys'], ['billing'], ['usage']]) {
    const { printed, status } = await parse(args)
    t.match(printed, /^Usage: gatehouse/)
    t.not(status, 0)
  }
})

/** What is typed before Tab, what is there afterwards, and what of it a shell has to add in the end. */
const completed = [
  { typed: ['keys', 'r'], value: 'rotate', added: 'otate' },
  { typed: ['billing', 'replay', '--status', 'dis'], value: 'dismissed', added: 'missed' },
  // A colon divides words in bash, and values from descriptions in zsh.
  {
    typed: ['app-tokens', 'create', '--permissions', 'event:p'],
    value: 'event:publish',
    added: 'ublish',
  },
] as const

t.test('bash completes with the script that the program prints', async (t) => {
  // The package bash-completion has these functions; here they are only as much as this test needs.
  const script = `
    _get_comp_words_by_ref() { words=("\${COMP_WORDS[@]}") cword=$COMP_CWORD cur=\${COMP_WORDS[COMP_CWORD]}; }
    __ltrim_colon_completions() { COMPREPLY=("\${COMPREPLY[@]#\${1%"\${1##*:}"}}"); }
    eval "$(gatehouse complete bash)"
    COMP_WORDS=(gatehouse "$@") COMP_CWORD=$#
    __gatehouse_complete 2>/dev/null
    printf '%s\\n' "\${COMPREPLY[@]}"`
  for (const { typed, value } of completed) {
    const args = ['--noprofile', '--norc', '-c', script, 'bash', ...typed]
    const shell = await runShell(t, 'bash', args)
    t.equal(await shell.ended, 0, shell.messages())
    t.equal(shell.results(), `${value.replace(/^.*:/, '')}\n`)
  }
})

t.test('fish completes with the script that the program prints', inShell('fish'), async (t) => {
  const script = 'gatehouse complete fish | source; complete -C "gatehouse $argv"'
  for (const { typed, value } of completed) {
    const shell = await runShell(t, 'fish', ['--no-config', '-c', script, ...typed])
    t.equal(await shell.ended, 0, shell.messages())
    t.match(shell.results(), new RegExp(`^${value}(\\t.*)?\n$`))
  }
})

t.test('zsh completes with the script that the program prints', inShell('zsh'), async (t) => {
  // Keys are pressed in a second zsh, in a terminal of its own.
  const script = `
    zmodload zsh/zpty
    zpty shell zsh -f -i
    zpty -w shell 'autoload -Uz compinit; compinit -u -D; source <(gatehouse complete zsh); bindkey "^I" complete-word; echo is-read-$((1 + 1))'
    zpty -r -m shell line '*is-read-2*'
    zpty -w -n shell "gatehouse $1"$'\\t'
    zpty -r -m shell line "*$2*" && print found`
  for (const { typed, added } of completed) {
    const shell = await runShell(t, 'zsh', ['-f', '-c', script, 'zsh', typed.join(' '), added])
    await shell.says(/^found$/m)
  }
})

/** Skipped with a reason where the shell is not installed. */
function inShell(name: string) {
  const found = (process.env.PATH ?? '').split(delimiter).some((one) => existsSync(join(one, name)))
  return found ? {} : { skip: `${name} is not installed` }
}

/** Runs a shell that finds the program as `gatehouse`. */
async function runShell(t: Test, program: string, args: readonly string[]) {
  const cli = fileURLToPath(new URL('../../dev/cli.ts', import.meta.url))
  const folder = t.testdir({ gatehouse: `#!/bin/sh\nexec "${process.execPath}" "${cli}" "$@"\n` })
  await chmod(join(folder, 'gatehouse'), 0o755)
  const env = { PATH: `${folder}${delimiter}${process.env.PATH}`, HOME: folder, TERM: 'dumb' }
  return runProgram(t, args, env, { program })
}

t.test('a shell can complete commands and options', async (t) => {
  const asked: [string[], RegExp][] = [
    [['complete', 'bash'], /complete -F __gatehouse_complete gatehouse/],
    [['complete', '--', 'do'], /^doctor\t/m],
    [['complete', '--', 'keys', 'r'], /^rotate\t/m],
    [['complete', '--', 'billing', 'replay', '--status', ''], /^dead\b/m],
  ]
  for (const [args, pattern] of asked) {
    const program = await runProgram(t, args, {})
    t.equal(await program.ended, 0, args.join(' '))
    t.match(program.results(), pattern)
    t.equal(program.messages(), '')
  }
})
