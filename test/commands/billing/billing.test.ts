import t from 'tap'
import { receive } from '#test/billing/received.ts'
import { production } from '#test/support/app/production.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { until, withinMs } from '#test/support/database/until.ts'
import { runDemo, runProgram, sendEvent, temporaryFolder } from '#test/support/processes/program.ts'

t.test('trigger, replay, link and doctor against the running demo', async (t) => {
  const cwd = await temporaryFolder(t)
  const demo = await runDemo(t, cwd)
  const run = async (...args: string[]) => {
    const program = await sendEvent(() => runProgram(t, args, {}, { cwd }))
    const status = await program.ended
    return { status, output: program.results(), told: program.messages() }
  }
  const id = ['--id', 'evt_cli']
  t.match(await run('trigger', 'charge.succeeded', ...id, '--no-wait'), {
    status: 0,
    output: /^evt_cli charge\.succeeded: 200 recorded\n$/,
  })
  await demo.says(/"eventId":"evt_cli","applied":"processed"/)
  t.match(await run('trigger', 'charge.succeeded', ...id), { output: /200 duplicate, processed/ })
  t.match(await run('trigger', 'charge.succeeded'), {
    output: /200 recorded, (processed|not processed yet)/,
  })
  t.match(await run('trigger', 'invoice.voided'), { status: 0, output: /200 ignored\n$/ })
  const ofNobody = ['trigger', 'charge.succeeded', '--customer', 'cus_none']
  t.match(await run(...ofNobody), { status: 1, output: /200 recorded, unlinked: ./ })
  const ofEd = ['trigger', 'subscription.created', '--customer', 'cus_ed']
  t.match(await run(...ofEd, '--no-wait'), { status: 0, output: /200 recorded\n$/ })
  t.match(await run('trigger', '--list'), { status: 0, output: /^charge\.succeeded {6}creates/m })
  const types = JSON.parse((await run('trigger', '--list', '--json')).output)
  t.match(types, [{ type: 'charge.succeeded', effect: String }])

  /** Repeated while the worker of a busy machine does not take it up. */
  const replay = async (...args: string[]) => {
    for (const end = performance.now() + withinMs; ; ) {
      const done = await run('billing', 'replay', ...args)
      if (!done.told.includes('No worker has taken up') || performance.now() > end) return done
    }
  }
  t.match(await replay('evt_cli'), {
    status: 0,
    output: /1 selected, 1 succeeded, 0 failed/,
  })
  t.match(await run('billing', 'replay', '--status', 'dead'), { output: /0 selected/ })

  const told = await run('trigger', 'charge.succeeded', '--json', ...id)
  t.match(JSON.parse(told.output), {
    id: 'evt_cli',
    status: 200,
    answer: 'duplicate',
    result: { status: 'processed' },
  })
  const replayed = await replay('evt_cli', '--json')
  t.match(JSON.parse(replayed.output), { total: 1, succeeded: 1, failed: 0 })
  t.match(replayed.told, /^events: 1 of 1$/m)

  t.match(await run('billing', 'link', 'cus_ed', 'vera@acme.example'), {
    status: 1,
    told: /another billing customer/,
  })
  t.match(await run('billing', 'link', 'cus_x', 'nobody@acme.example'), {
    status: 1,
    told: /There is no such user.*OIDC_<NAME>_TRUST_EMAIL/s,
  })
  t.match(await run('billing', 'link', 'cus_x', crypto.randomUUID()), {
    status: 1,
    told: /There is no such tenant.*Give the id of a tenant/s,
  })
  const linked = await run('billing', 'link', 'cus_vera', 'Vera@acme.example', '--json')
  t.match(linked.status, 0)
  t.match(JSON.parse(linked.output), { customer: 'cus_vera', userId: Number })

  const doctor = await run('doctor')
  t.equal(doctor.status, 0, doctor.output)
  t.notMatch(doctor.output, 'FAULT')

  const wrong: [string[], RegExp][] = [
    [['trigger'], /missing required argument 'type'/],
    [['trigger', 'x', '--amount', '1e3'], /whole number/],
    [['trigger', 'x', '--odd'], /unknown option/],
    [['trigger', 'x', '--url', 'nonsense'], /must be an http or https URL/],
    [['billing'], /^Usage: gatehouse billing/],
    [['billing', 'replay', '--status', 'odd'], /Allowed choices are recorded/],
    [['billing', 'replay', '--from', 'yesterday'], /must be an RFC 3339 time/],
    [['billing', 'replay', '--to', '2026-13-01T00:00:00Z'], /must be an RFC 3339 time/],
    [['billing', 'replay', 'evt_cli', '--status', 'dead'], /cannot be combined/],
  ]
  for (const [args, message] of wrong) {
    const { status, output, told } = await run(...args)
    t.equal(status, 2, args.join(' '))
    t.equal(output, '')
    t.match(told, message)
    t.notMatch(told, /^ +at /m, 'no stack')
  }
  const unreachable = await run('trigger', 'x', '--url', 'http://127.0.0.1:9')
  t.match(unreachable, { status: 1, told: /did not respond/ })
})

t.test('a replay without a worker ends with an error, and one of nothing at once', async (t) => {
  const database = await createDatabase(t)
  const run = async (...args: string[]) => {
    const program = await runProgram(t, ['billing', 'replay', ...args], production(database))
    return { status: await program.ended, output: program.results(), told: program.messages() }
  }
  t.match(await run(), { status: 0, output: '0 selected, 0 succeeded, 0 failed' })
  await receive(database, { id: 'evt_1', status: 'dead' })
  t.match(await run(), {
    status: 1,
    output: '',
    told: /events: 0 of 1\n.*No worker has taken up the replay within 10 seconds\. It is stored/,
  })
  const worker = await runProgram(t, ['worker'], production(database))
  await until(database, 'SELECT FROM billing_replays WHERE finished_at IS NOT NULL AND total = 1')
  worker.child.kill('SIGTERM')
  t.equal(await worker.ended, 0, worker.output())
})

t.test('an unknown event is an error, and nothing is replayed', async (t) => {
  const database = await createDatabase(t)
  for (const id of ['evt_1', 'evt_old']) await receive(database, { id, status: 'dead' })
  await database.admin.query(`UPDATE received_events SET body = NULL WHERE event_id = 'evt_old'`)
  const cases: [string[], RegExp][] = [
    [
      ['evt_1', 'evt_2', 'evt_3'],
      /^gatehouse: Unknown events: evt_2, evt_3\. Nothing was replayed/,
    ],
    [['evt_1', 'evt_old'], /^gatehouse: The body is no longer stored: evt_old\. Nothing/],
  ]
  for (const [ids, told] of cases) {
    const program = await runProgram(t, ['billing', 'replay', ...ids], production(database))
    t.equal(await program.ended, 1)
    t.match(program.messages(), told)
  }
  t.equal((await database.admin.query('SELECT FROM billing_replays')).rowCount, 0)
})
