import t from 'tap'
import { declare, UsageError } from '#src/commands/command.ts'
import { commands } from '#src/commands/commands.ts'
import { findCommand, helpFor, usageOf } from '#src/commands/help.ts'

t.test('one declaration is parsed, refused and explained', async (t) => {
  const given: unknown[] = []
  const command = declare({
    summary: 'Sum',
    details: 'Details.',
    failure: 'it failed',
    words: { usage: 'ONE [TWO]', least: 1, most: 2 },
    options: {
      json: { type: 'boolean', summary: 'for a script' },
      amount: { type: 'string', value: 'N', default: '5', summary: 'how much' },
      id: { type: 'string', value: 'ID', summary: 'which' },
    },
    run: async (_env, { words, options }) => void given.push({ words, ...options }),
  })
  await command.run({}, ['one'])
  await command.run({}, ['--json', 'one', '--id', 'x', 'two', '--amount=7'])
  t.same(given, [
    { words: ['one'], json: false, amount: '5' },
    { words: ['one', 'two'], json: true, amount: '7', id: 'x' },
  ])
  const wrong: [string[], RegExp][] = [
    [[], /ONE \[TWO\] is missing/],
    [['one', 'two', 'three'], /“three” is too much/],
    [['one', '--jsno'], /--jsno; did you mean --json\?/],
    [['one', '--no-json'], /--no-json; did you mean --json\?/],
    [['one', '-a'], /-a; did you mean/],
    [['one', '--json=yes'], /--json/],
    [['one', '--id'], /--id/],
    [['one', '--id', '--json'], /--id/],
  ]
  for (const [args, message] of wrong) {
    await t.rejects(command.run({}, args), { name: 'UsageError', message }, args.join(' '))
  }
  t.equal(given.length, 2, 'nothing ran')
  t.equal(usageOf('sum', command), 'gatehouse sum ONE [TWO] [--json] [--amount N] [--id ID]')
})

t.test('every command explains itself, and none takes what it does not know', async (t) => {
  const overview = helpFor(commands, [])
  for (const [name, command] of Object.entries(commands)) {
    t.match(overview, `  ${name} `)
    const help = helpFor(commands, name.split(' '))
    t.match(help, `gatehouse ${name}: ${command.summary}`)
    t.match(help, `Usage: ${usageOf(name, command)}`)
    t.match(help, /Exit status: 0 done, 1 .*, 2 called wrongly\.$/)
    await t.rejects(command.run({}, ['--dance']), { name: 'UsageError' }, name)
    if (command.words.most === 0) await t.rejects(command.run({}, ['x']), /“x” is too much/)
  }
  t.ok(overview.split('\n').every((line) => line.length <= 100))
})

t.test('commands of two words: the first alone is asked for the second', async (t) => {
  t.match(helpFor(commands, ['keys']), /^gatehouse keys: status, rotate\n\ngatehouse keys status:/)
  t.match(findCommand(commands, ['keys', 'status', '--json']), {
    name: 'keys status',
    rest: ['--json'],
  })
  const wrong: [string[], RegExp][] = [
    [[], /A command is missing/],
    [['dance'], /Unknown command “dance”/],
    [['toString'], /Unknown command/],
    [['keys'], /Say: keys status, or keys rotate/],
    [['keys', 'dance'], /Unknown command “keys dance”\. Say: keys status, or keys rotate/],
  ]
  for (const [args, message] of wrong) {
    t.throws(() => findCommand(commands, args), new UsageError(), args.join(' '))
    t.throws(() => findCommand(commands, args), { message })
  }
  t.throws(() => helpFor(commands, ['dance']), { message: /Unknown command/ })
})
