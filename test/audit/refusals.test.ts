import t, { type Test } from 'tap'
import { createUser } from '#dev/testing/people.ts'
import type { AuditEntry, ClientInfo } from '#src/audit/audit.ts'
import { createRefusals } from '#src/audit/refusals.ts'
import { openSystemDatabase } from '#src/db/system-database.ts'
import { createLogger } from '#src/observability/logger.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { patient } from '#test/support/database/open.ts'

const windowMs = 60_000
const refusal = (reason: string): AuditEntry => ({ action: 'sign-out', outcome: 'refused', reason })
const from = (ip: string): ClientInfo => ({ ip, userAgent: 'Agent/1' })
const home = from('192.0.2.0/24')

/** Refusals on a clock of the test: no window ends by itself. */
async function setUp(t: Test, maxKinds?: number) {
  const database = await createDatabase(t)
  const systemDb = openSystemDatabase(database.url, 2, patient)
  const clock = { ms: 0 }
  const refusals = createRefusals(systemDb, createLogger('silent'), {
    windowMs,
    nowMs: () => clock.ms,
    ...(maxKinds !== undefined && { maxKinds }),
  })
  let isOpen = true
  const close = async () => {
    if (!isOpen) return
    isOpen = false
    await refusals.close()
    await systemDb.close()
  }
  t.teardown(close)
  const rows = async () =>
    (
      await database.admin.query<{ row: string }>(
        `SELECT concat_ws(' ', reason, coalesce(ip, '-'), occurrences) AS row FROM audit_log ORDER BY id`,
      )
    ).rows.map(({ row }) => row)
  return { database, refusals, clock, rows, close }
}

t.test('a minute of one reason and network becomes one row', async (t) => {
  const { refusals, clock, rows, close } = await setUp(t)
  for (let index = 0; index < 500; index += 1) await refusals.record(refusal('forged'), home)
  await refusals.record(refusal('forged'), from('198.51.100.0/24'))
  await refusals.record(refusal('malformed'), home)
  const first = ['forged 192.0.2.0/24 1', 'forged 198.51.100.0/24 1', 'malformed 192.0.2.0/24 1']
  t.strictSame(await rows(), first, 'the first of each at once')
  clock.ms = windowMs - 1
  await refusals.flush()
  t.strictSame(await rows(), first, 'within the minute nothing more')
  clock.ms = windowMs
  await refusals.flush()
  t.strictSame(await rows(), [...first, 'forged 192.0.2.0/24 499'])
  await refusals.record(refusal('forged'), home)
  await refusals.record(refusal('malformed'), home)
  t.strictSame(
    (await rows()).slice(4),
    ['malformed 192.0.2.0/24 1'],
    'a flood goes on in the next minute, a single one is new',
  )
  await close()
  t.strictSame((await rows()).slice(5), ['forged 192.0.2.0/24 1'], 'a stop loses no count')
})

t.test('what senders can choose does not make many rows', async (t) => {
  const { refusals, rows, close } = await setUp(t, 3)
  for (let index = 0; index < 200; index += 1) {
    const network = from(`2001:db8:${index.toString(16)}::/48`)
    await refusals.record({ ...refusal('forged'), providerError: `e${index}` }, network)
  }
  await close()
  t.strictSame(await rows(), [
    'forged 2001:db8:0::/48 1',
    'forged 2001:db8:1::/48 1',
    'forged 2001:db8:2::/48 1',
    'forged - 1',
    'forged - 196',
  ])
})

t.test('an entry that names a user is written each time', async (t) => {
  const { database, refusals, rows } = await setUp(t)
  const { userId } = await createUser(database)
  for (let index = 0; index < 3; index += 1) {
    await refusals.record({ ...refusal('another-identity'), userId }, home)
  }
  t.equal((await rows()).length, 3)
})

t.test('what cannot be written is not counted as written', async (t) => {
  const { database, refusals, clock, rows } = await setUp(t)
  const { admin } = database
  const refuse = () =>
    admin.query('ALTER TABLE audit_log ADD CONSTRAINT closed CHECK (false) NOT VALID')
  const accept = () => admin.query('ALTER TABLE audit_log DROP CONSTRAINT closed')
  await refuse()
  await t.rejects(refusals.record(refusal('forged'), home))
  await accept()
  for (let index = 0; index < 5; index += 1) await refusals.record(refusal('forged'), home)
  clock.ms = windowMs
  await refuse()
  await refusals.flush()
  await accept()
  clock.ms = 2 * windowMs
  await refusals.flush()
  t.strictSame(await rows(), ['forged 192.0.2.0/24 1', 'forged 192.0.2.0/24 4'])
})
