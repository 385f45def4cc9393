import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import t, { type Test } from 'tap'
import { createOwnerAndDatabase } from '#dev/demo/demo.ts'
import { isAlive } from '#dev/demo/postgres/lock-file.ts'
import { startPostgres } from '#dev/demo/postgres/start.ts'
import { readSecrets } from '#dev/demo/running-demo.ts'
import { testSettings } from '#dev/testing/settings.ts'
import { signatureHeader } from '#src/billing/signature.ts'
import { faultsIn } from '#test/reliability/instance.ts'
import { launchBrowser } from '#test/support/browser/browser.ts'
import { type Sent, takeTour } from '#test/support/browser/tour.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { query } from '#test/support/database/raw-sql.ts'
import { addresses, runDemo, runProgram, temporaryFolder } from '#test/support/processes/program.ts'

t.test(
  'the demo: one command, the whole tour with the printed commands, persistent data',
  async (t) => {
    const browser = await launchBrowser()
    t.teardown(() => browser.close())
    const cwd = await temporaryFolder(t)
    const first = await runDemo(t, cwd)
    const event = printedEvent(first.output())
    const [, receiver = ''] = /receiver at (http:\S+),/.exec(first.output()) ?? []
    const printed = await runProgram(t, ['demo'], {}, { cwd })
    t.equal(await printed.ended, 0, printed.output())
    t.strictSame(printedChange(printed.results()), printedChange(first.output()), 'printed printed')
    t.match(printed.results(), `open ${first.baseUrl} and sign in`)
    const elsewhere = await runProgram(t, ['demo'], {}, { cwd: await temporaryFolder(t) })
    t.equal(await elsewhere.ended, 1)
    t.match(elsewhere.messages(), 'No demo runs in this folder. Start it with `npm start`.')
    const { baseUrl } = first
    const change = printedChange(first.output())
    await takeTour(t, { baseUrl, browser, receiver, event, change })
    t.match(first.output(), /receiver: order\.updated msg_\S+, valid signature, response 200/)
    await signInWithSecond(t, browser, baseUrl)

    const again = await runProgram(t, ['serve'], { PORT: '0' }, { cwd })
    t.equal(await again.ended, 1)
    t.match(
      again.output(),
      /A demo already runs in this folder: .* Stop it first, or set DATABASE_URL/,
    )

    const own = await createDatabase(t)
    const settings = { ...testSettings(own), LOG_LEVEL: 'info' }
    const beside = await runProgram(t, ['serve'], settings, { cwd })
    const { address } = await addresses(beside)
    t.equal((await fetch(`${address}/me`)).status, 401, 'a process without embedded parts starts')
    t.notMatch(beside.output(), 'Ctrl-C stops')
    beside.child.kill('SIGTERM')
    t.equal(await beside.ended, 0)

    const doctor = await runProgram(t, ['doctor'], {}, { cwd })
    t.equal(await doctor.ended, 0, doctor.output())
    t.equal(doctor.output().match(/^ok /gm)?.length, 11)

    const postgres = await postmasterOf(cwd)
    first.child.kill('SIGINT')
    t.equal(await first.ended, 130)
    t.notOk(isAlive(postgres), 'no process is left behind')
    t.strictSame(faultsIn(first.output()), [])

    const { billing } = await readSecrets(join(cwd, '.data'))
    const second = await runDemo(t, cwd)
    // The printed signature is valid for five minutes only.
    const signature = signatureHeader(billing, event.data, Math.floor(Date.now() / 1000))
    const sent = await fetch(`${second.baseUrl}/webhooks/billing`, {
      method: 'POST',
      headers: { ...event.headers, 'webhook-signature': signature },
      body: event.data,
    })
    t.equal(
      await sent.text(),
      'duplicate',
      'a second start uses the same data and the same secrets',
    )
    second.child.kill('SIGTERM')
    t.equal(await second.ended, 0)
  },
)

/** The second provider answers with a form; the next sign-in page shows it first. */
async function signInWithSecond(t: Test, browser: Browser, baseUrl: string): Promise<void> {
  const context = await browser.newContext()
  const page = await context.newPage()
  const offered = () => page.getByRole('link', { name: /^Sign in with/ }).allInnerTexts()
  await page.goto(`${baseUrl}/auth/login`)
  t.match(await offered(), [/the demo provider/, /the second provider/])
  await page.getByRole('link', { name: 'Sign in with the second provider' }).click()
  await page.getByRole('button', { name: /Sam Rivers/ }).click()
  await page.getByRole('link', { name: 'Skip', exact: true }).click()
  await page.waitForURL(`${baseUrl}/`)
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.goto(`${baseUrl}/auth/login`)
  t.match(await offered(), [/the second provider/, /the demo provider/])
  t.ok(await page.getByText('Last time you used the second provider.').isVisible())
  await context.close()
}

t.test('data of an unreleased version is recognised and kept', async (t) => {
  const cwd = await temporaryFolder(t)
  const secrets = await readSecrets(join(cwd, '.data'))
  const owner = { name: 'gatehouse_owner', password: secrets.owner }
  const queryDemo = async (sql: string) => {
    const postgres = await startPostgres({ dataDir: join(cwd, '.data/postgres') })
    try {
      await createOwnerAndDatabase(postgres.url('postgres'), owner)
      return await query(postgres.url('gatehouse', owner), sql)
    } finally {
      await postgres.stop()
    }
  }
  // As Prisma has made it for the first migration before the baseline.
  await queryDemo(`
    CREATE TABLE _prisma_migrations (
      id varchar(36) PRIMARY KEY, checksum varchar(64) NOT NULL, finished_at timestamptz,
      migration_name varchar(255) NOT NULL, logs text, rolled_back_at timestamptz,
      started_at timestamptz NOT NULL DEFAULT now(), applied_steps_count integer NOT NULL DEFAULT 0);
    INSERT INTO _prisma_migrations (id, checksum, finished_at, migration_name, applied_steps_count)
    VALUES (gen_random_uuid()::text, repeat('0', 64), now(), '20261121000000_foundation', 1)`)
  const program = await runProgram(t, ['serve'], { PORT: '0' }, { cwd })
  t.equal(await program.ended, 1)
  t.equal(
    program.output().trim(),
    'gatehouse: The database is of an unreleased version of Gatehouse, which cannot be upgraded. Use an empty database; for the demo, delete the folder .data.',
  )
  t.same(await queryDemo('SELECT migration_name FROM _prisma_migrations'), [
    { migration_name: '20261121000000_foundation' },
  ])
})

const json = { 'content-type': 'application/json' }

/** The event of the printed `curl` command. */
function printedEvent(output: string): Sent {
  const [, url = '', signature = '', data = ''] =
    /curl -i (\S+) \\\n.*\n.*'webhook-signature: ([^']+)' \\\n +-d '([^']+)'/.exec(output) ?? []
  return { url, headers: { ...json, 'webhook-signature': signature }, data }
}

/** The order change of the printed `curl` command. */
function printedChange(output: string): Sent {
  const [, token] = /export TOKEN=(\S+)/.exec(output) ?? []
  const [, url = '', data = ''] = /curl -X PATCH (\S+) \\\n.*\n +-d '([^']+)'/.exec(output) ?? []
  return { url, headers: { ...json, authorization: `Bearer ${token}` }, data }
}

async function postmasterOf(cwd: string): Promise<number> {
  const lock = await readFile(join(cwd, '.data/postgres/cluster/postmaster.pid'), 'utf8')
  return Number(lock.split('\n')[0])
}
