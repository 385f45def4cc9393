import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { testSettings } from '#dev/testing/settings.ts'
import { readEncryptionKeys } from '#src/config/parse.ts'
import { type Program, runProgram } from '#test/support/processes/program.ts'
import { allowing, createOutbox, openReceiver } from '#test/support/receiver/outbox.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'
import { untilAnnounced } from './instance.ts'

/*
 * Rotations of ENCRYPTION_KEYS with two worker processes that are restarted one after another, while
 * events are published. Endpoints are created by a web process that has the new setting already.
 */

const secrets: Record<string, string> = { a: 'a'.repeat(43), b: 'b'.repeat(43) }
const setting = (ids: string) =>
  ids
    .split(',')
    .map((id) => `${id}:${secrets[id]}`)
    .join()

t.test('in the documented order no attempt is postponed and none is made twice', async (t) => {
  const world = await setUp(t)
  await world.addEndpoint('a')
  const workers = [await world.startWorker('a'), await world.startWorker('a')]
  const all = [...workers]
  const load = world.startLoad()
  for (const keys of ['a,b', 'b,a', 'rotate', 'b']) {
    if (keys === 'rotate') {
      const { status } = await world.run(['keys', 'rotate'], 'b,a')
      t.equal(status, 0)
      continue
    }
    for (const [index, old] of [...workers.entries()]) {
      if (index === 1) await world.addEndpoint(keys)
      old.child.kill('SIGTERM')
      t.equal(await old.ended, 0)
      const next = await world.startWorker(keys)
      workers[index] = next
      all.push(next)
    }
    await world.announced(2)
    const { status, output } = await world.run(['keys', 'status'], keys)
    t.equal(status, 0, output)
    t.notMatch(output, 'NOT SAFE')
  }
  await load.stop()
  await world.allDelivered()
  t.ok(load.published() > 20, `${load.published()} events`)
  t.strictSame(await world.troubles(), [])
  for (const { output } of all) t.notMatch(output(), 'postponed')
  t.strictSame(await world.keysInUse(), ['b'])
})

t.test('in the wrong order nothing is burned: the worker with the key delivers', async (t) => {
  const world = await setUp(t)
  await world.addEndpoint('a')
  await world.addEndpoint('b,a')
  const lacking = await world.startWorker('a')
  const load = world.startLoad()
  await lacking.says(/delivery attempts postponed/)
  await world.announced(1)
  const knowing = await world.startWorker('b,a')
  await knowing.says(/1 of 2 running processes lack the key b, with which others encrypt/)
  const { status, output } = await world.run(['keys', 'status'], 'b,a')
  t.equal(status, 1)
  t.match(output, /Next step for ENCRYPTION_KEYS \(NOT SAFE\): 1 of 2 running processes lack/)
  await load.stop()
  lacking.child.kill('SIGTERM')
  t.equal(await lacking.ended, 0)
  await world.allDelivered()
  t.strictSame(await world.troubles(), [])
})

async function setUp(t: Test) {
  const outbox = await createOutbox(t)
  const { database, tenant } = outbox
  const receiver = await openReceiver(t)
  // A worker verifies at start that it may call no such function; only the web role publishes.
  await database.admin.query(`
    REVOKE ALL ON FUNCTION enter_test(bigint, uuid) FROM PUBLIC;
    GRANT EXECUTE ON FUNCTION enter_test(bigint, uuid) TO test_app`)
  // The only attempt: if it failed, the delivery would be exhausted and the endpoint failing.
  const env = {
    ...testSettings(database),
    ...allowing(receiver),
    OUTBOUND_RETRY_SECONDS: '0',
    LOG_LEVEL: 'info',
    NODE_ENV: 'production',
    BASE_URL: 'https://app.example.com',
    TRUST_PROXY: '127.0.0.1',
    OIDC_DEMO_ISSUER: 'https://login.example.com',
  }
  const start = (args: string[], keys: string) =>
    runProgram(t, args, { ...env, ENCRYPTION_KEYS: setting(keys) })

  return {
    addEndpoint: (keys: string) =>
      createEndpoint(database, tenant, {
        url: receiver.url,
        keys: readEncryptionKeys(setting(keys), []),
      }),
    async startWorker(keys: string): Promise<Program> {
      const worker = await start(['worker'], keys)
      await worker.says(/"msg":"started"/)
      return worker
    },
    async run(args: string[], keys: string) {
      const program = await start(args, keys)
      return { status: await program.ended, output: program.output() }
    },
    startLoad() {
      let published = 0
      let isStopping = false
      const running = (async () => {
        while (!isStopping) {
          await outbox.publish()
          published += 1
          await pause(20)
        }
      })()
      const stop = async () => {
        isStopping = true
        await running
      }
      t.teardown(stop)
      return { stop, published: () => published }
    },
    announced: (count: number) => untilAnnounced(database, count),
    allDelivered: () =>
      outbox.until(`SELECT FROM deliveries HAVING every(status = 'succeeded') AND count(*) > 0`),
    /** Whatever a customer would see of the rotation. */
    async troubles(): Promise<unknown[]> {
      const { rows } = await database.admin.query(`
        SELECT 'attempt' AS what, error FROM delivery_attempts WHERE number > 1 OR error IS NOT NULL
        UNION ALL SELECT 'endpoint', status FROM endpoint_states WHERE status <> 'active'
        UNION ALL SELECT 'notification', kind FROM notifications`)
      return rows
    },
    async keysInUse(): Promise<string[]> {
      const { rows } = await database.admin.query<{ id: string }>(
        `SELECT DISTINCT convert_from(substring(secret FROM 3 FOR 1), 'UTF8') AS id
         FROM webhook_endpoints ORDER BY id`,
      )
      return rows.map(({ id }) => id)
    },
  }
}
