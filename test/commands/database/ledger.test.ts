import t from 'tap'
import { receive } from '#test/billing/received.ts'
import { runProgram } from '#test/support/processes/program.ts'
import { createOutbox } from '#test/support/receiver/outbox.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

t.test('ledger verify and ledger repair show and repair what waits without a job', async (t) => {
  const hourAgo = new Date(Date.now() - 3_600_000)
  const { database, tenant, publish } = await createOutbox(t, { now: () => hourAgo })
  const env = {
    NODE_ENV: 'production',
    DATABASE_URL: database.url,
    DATABASE_WORKER_URL: database.workerUrl,
  }
  const run = async (...words: string[]) => {
    const program = await runProgram(t, ['ledger', ...words], env)
    return { status: await program.ended, output: program.results(), told: program.messages() }
  }
  t.match(await run('verify'), {
    status: 0,
    output: 'unaccounted: 0',
  })
  t.match(await run('repair'), { status: 0, output: 'Nothing to repair.' })

  await createEndpoint(database, tenant, { url: 'https://receiver.example' })
  const eventId = await publish()
  await database.admin.query('DELETE FROM pgboss.job_common')
  await receive(database, { id: 'evt_lost', receivedAt: hourAgo.toISOString() })
  const found = await run('verify')
  t.match(found, { status: 1, output: /^unaccounted: 2$/m })
  t.match(found.output, /event-without-job {2}event evt_lost/)
  t.match(found.output, `event ${eventId}`)
  const json = await run('verify', '--json')
  t.match(JSON.parse(json.output), { unaccounted: 2, findings: [{}, {}] })

  const shown = await run('repair')
  t.match(shown, { status: 1, output: 'Nothing was changed; add --apply.' })
  t.match(shown.told, /delivery-without-job .*: gets a job/)
  t.equal((await database.admin.query('SELECT FROM pgboss.job_common')).rowCount, 0)
  t.match(await run('repair', '--apply'), {
    status: 0,
    output: /^1 deliveries and 1 events have a job again\nunaccounted: 0/,
  })
  t.match(await run('verify'), { status: 0, output: 'unaccounted: 0' })
})
