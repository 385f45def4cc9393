import { randomBytes } from 'node:crypto'
import { chmod, chown, mkdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import t, { type Test } from 'tap'
import { createUser, signIn } from '#dev/testing/people.ts'
import { testConfig } from '#dev/testing/settings.ts'
import { settle } from '#test/billing/crash-rounds.ts'
import { checkHistory } from '#test/billing/history.ts'
import { createOrder } from '#test/support/callers/objects.ts'
import { unaccounted } from '#test/support/database/ledger.ts'
import { untilTrue } from '#test/support/database/until.ts'
import { testInNamespaces } from '#test/support/processes/namespaces.ts'
import { askPatiently, startInstance } from './instance.ts'
import { type OwnServer, startOwnServer } from './own-server.ts'
import { createSender, type Sent, unexpected } from './senders.ts'
import { mountSmallDisk } from './small-disk.ts'

const senders = 8
const noteBytes = 150_000
/** Random, because PostgreSQL compresses what it can. */
const noteOf = () => randomBytes(noteBytes).toString('base64')

testInNamespaces(t, import.meta.filename, ['--mount'], ['mount', 'umount'], () => {
  t.test('the volume of the tables is full: writes get 503, reads are served', async (t) => {
    const disk = await mountSmallDisk(t)
    const database = await startOwnServer(t)
    await moveTables(database, join(disk.folder, 'tables'))
    const user = await createUser(database, { billingCustomer: 'cus_1' })
    const order = await createOrder(database, user)
    const { cookie } = await signIn({ config: testConfig(database), database }, user)
    const instance = await startInstance(t, database)
    const sender = createSender(instance, noteOf)
    await sender.all(5)

    await disk.fill()
    await untilRefused(sender)
    const refusedBefore = sender.answers.length
    await sendMore(sender)
    const whileFull = sender.answers.slice(refusedBefore)
    t.ok(whileFull.some(({ status }) => status === 503))
    const read = await askPatiently(instance, { path: `/orders/${order}`, headers: { cookie } })
    t.match(read, { status: 200, body: /4242/ }, 'reads need no space')

    await disk.enlarge()
    await checkRecovery(t, database, sender)
    t.equal(instance.child.exitCode, null, 'the process has not restarted')
  })

  t.test(
    'the volume of the whole server is full, its log included: nothing acknowledged is lost',
    async (t) => {
      const disk = await mountSmallDisk(t)
      const settings = { min_wal_size: '32MB', max_wal_size: '48MB' }
      const database = await startOwnServer(t, { folder: disk.folder, settings })
      await createUser(database, { billingCustomer: 'cus_1' })
      const instance = await startInstance(t, database)
      const sender = createSender(instance, noteOf)
      await sender.all(5)

      await disk.fill()
      await Promise.all(Array.from({ length: senders }, () => untilRefused(sender)))
      await sendMore(sender)

      t.comment(database.isRunning() ? 'PostgreSQL runs' : 'PostgreSQL has stopped by itself')
      await disk.enlarge()
      await database.stop('immediate')
      await database.start()
      await checkRecovery(t, database, sender)
      t.equal(instance.child.exitCode, null, 'the process has not restarted')
    },
  )
})

/** Moves the test's database to a tablespace in the folder; the server's log stays where it is. */
async function moveTables(database: OwnServer, folder: string): Promise<void> {
  const { rows } = await database.admin.query<{ data: string }>(
    `SELECT current_setting('data_directory') AS data`,
  )
  const owner = await stat(rows[0]?.data ?? '')
  await mkdir(folder)
  await chmod(join(folder, '..'), 0o755)
  await chown(folder, owner.uid, owner.gid)
  const name = new URL(database.superuserUrl).pathname.slice(1)
  const elsewhere = new URL(database.superuserUrl)
  elsewhere.pathname = '/postgres'
  const cluster = new pg.Client({ connectionString: elsewhere.href })
  await cluster.connect()
  try {
    await cluster.query(`CREATE TABLESPACE small LOCATION '${folder}'`)
    await cluster.query(
      `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '${name}'`,
    )
    await cluster.query(`ALTER DATABASE ${name} SET TABLESPACE small`)
  } finally {
    await cluster.end()
  }
}

async function untilRefused(sender: Sent): Promise<void> {
  await untilTrue(async () => !(await sender.once(`evt_${crypto.randomUUID()}`)))
}

function sendMore(sender: Sent): Promise<boolean[]> {
  const ids = Array.from({ length: senders }, () => `evt_${crypto.randomUUID()}`)
  return Promise.all(ids.map((id) => sender.once(id)))
}

/** The provider sends again what was refused: everything is recorded, once, and takes effect. */
async function checkRecovery(t: Test, database: OwnServer, sender: Sent): Promise<void> {
  const { acknowledged, sent } = sender.history
  t.comment(`${acknowledged.size} of ${sent.size} events were recorded while the disk ran full`)
  for (const id of sent) {
    if (!acknowledged.has(id)) await untilTrue(() => sender.once(id))
  }
  await settle(database)
  t.strictSame(unexpected(sender.answers), [], 'every refusal has Retry-After')
  t.strictSame(await checkHistory(database.admin, sender.history), [])
  t.strictSame(await unaccounted(database), [])
}
