import t, { type Test } from 'tap'
import { version as release } from '#src/runtime/assets.ts'
import { startInstance, untilReadiness } from '#test/reliability/instance.ts'
import type { TestDatabase } from '#test/support/database/database.ts'
import { makeHostile } from '#test/support/database/hostile-settings.ts'
import { allowScopes } from '#test/support/database/scope.ts'
import { untilTrue } from '#test/support/database/until.ts'
import { runProgram } from '#test/support/processes/program.ts'
import { allowing, createOutbox, openReceiver } from '#test/support/receiver/outbox.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

t.test('a process in quarantine delivers nothing until it is adopted', (t) =>
  quarantine(t, async () => {}),
)

t.test('the same with settings that differ from the defaults', (t) => quarantine(t, makeHostile))

async function quarantine(
  t: Test,
  prepare: (database: TestDatabase) => Promise<void>,
): Promise<void> {
  const outbox = await createOutbox(t)
  const { database, tenant } = outbox
  await prepare(database)
  const receiver = await openReceiver(t)
  await createEndpoint(database, tenant, { url: receiver.url })
  const env = {
    NODE_ENV: 'production',
    DATABASE_URL: database.url,
    DATABASE_WORKER_URL: database.workerUrl,
  }
  const run = async (command: string) => {
    const program = await runProgram(t, [command], env)
    t.equal(await program.ended, 0, command)
    return program.results()
  }
  const untilQuarantined = () =>
    untilReadiness(instance, { status: 'not ready', failing: ['quarantine'], release })

  t.match(await run('quarantine'), /^The quarantine has begun/)
  await outbox.publish()
  await database.admin.query('DROP FUNCTION enter_test') // serve refuses to start with it
  const instance = await startInstance(t, database, allowing(receiver))
  await allowScopes(database)
  await untilQuarantined()
  t.match(instance.output(), /"reason":"by-hand".*gatehouse adopt.*no job is done/)
  t.match(await outbox.deliveries(), [{ status: 'pending', attempts: [] }])

  t.match(await run('quarantine'), /^Nothing was changed: in quarantine since \S+Z, begun by hand/)
  t.match(await run('adopt'), /^The quarantine since \S+Z \(begun by hand\) has ended: .* begin/)
  t.match(await run('adopt'), /^Nothing was changed: the database was not in quarantine/)
  await receiver.next()
  await untilTrue(async () => (await fetch(`${instance.admin}/readyz`)).ok)
  await outbox.until(`SELECT FROM deliveries WHERE status = 'succeeded'`)

  await run('quarantine')
  await untilQuarantined() // also while it works
  await outbox.publish()
  t.match(await outbox.deliveries(), [{}, { status: 'pending', attempts: [] }])
  t.equal(receiver.requests.length, 1)
}
