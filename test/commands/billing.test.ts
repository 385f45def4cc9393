import t from 'tap'
import { runDemo, runProgram, temporaryFolder } from '../program.ts'

t.test('trigger and replay against the running demo, and what operators see of it', async (t) => {
  const cwd = await temporaryFolder(t)
  const demo = await runDemo(t, cwd)
  const run = async (...args: string[]) => {
    const program = await runProgram(t, args, {}, { cwd })
    const status = await program.ended
    return { status, output: program.output() }
  }
  const id = ['--id', 'evt_cli']
  t.match(await run('trigger', 'charge.succeeded', ...id), { status: 0, output: /200 recorded/ })
  t.match(await run('trigger', 'charge.succeeded', ...id), { output: /200 duplicate/ })
  t.match(await run('trigger', 'invoice.voided'), { status: 0, output: /200 ignored/ })
  t.match(await run('trigger', 'subscription.created', '--customer', 'cus_ed'), { status: 0 })
  await demo.says(/"eventId":"evt_cli","applied":"processed"/)

  t.match(await run('billing', 'replay', 'evt_cli'), {
    status: 0,
    output: /1 selected, 1 succeeded, 0 failed/,
  })
  t.match(await run('billing', 'replay', '--status', 'dead'), { output: /0 selected/ })

  const faults: [string[], RegExp][] = [
    [['trigger'], /One event type is needed/],
    [['trigger', 'x', '--amount', '1e3'], /whole number/],
    [['trigger', 'x', '--odd'], /Unknown option/],
    [['trigger', 'x', '--url', 'nonsense'], /is no URL/],
    [['trigger', 'x', '--url', 'http://127.0.0.1:9'], /does not answer/],
    [['billing'], /one action: replay/],
    [['billing', 'replay', '--status', 'odd'], /--status is one of/],
    [['billing', 'replay', '--from', 'yesterday'], /no RFC 3339 time/],
    [['billing', 'replay', 'evt_cli', '--status', 'dead'], /exclude each other/],
  ]
  for (const [args, message] of faults) {
    const { status, output } = await run(...args)
    t.equal(status, 1, args.join(' '))
    t.match(output, message)
    t.notMatch(output, /^ +at /m, 'no stack')
  }
})
