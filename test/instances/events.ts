import type { Test } from 'tap'
import { until } from '#test/support/database/until.ts'
import { chargeOf } from './installation.ts'
import type { Instances } from './instances.ts'

const events = 20

/** The same event at both processes at once: recorded and processed once. */
export async function recordOnce(t: Test, { ask, database }: Instances): Promise<void> {
  const invoices = await countInvoices()
  const ids = Array.from({ length: events }, (_, index) => `evt_both_${index}`)
  const answers = await Promise.all(
    ids.map(async (id) => {
      const { url, headers, data } = chargeOf(id, 'http://any')
      const { pathname } = new URL(url)
      const post = async (web: 0 | 1): Promise<string> => {
        const answer = await ask(web, pathname, { method: 'POST', headers, body: data })
        return `${answer.status} ${await answer.text()}`
      }
      return Promise.all([post(0), post(1)])
    }),
  )
  for (const pair of answers) t.same(pair.toSorted(), ['200 duplicate', '200 recorded'])
  await until(
    database,
    `SELECT FROM received_events WHERE event_id LIKE 'evt_both_%'
     HAVING count(*) = ${events} AND every(status = 'processed')`,
  )
  t.equal(await countInvoices(), invoices + events, 'one effect each')

  async function countInvoices(): Promise<number> {
    const { rows } = await database.admin.query('SELECT count(*)::int FROM invoices')
    return rows[0].count
  }
}
