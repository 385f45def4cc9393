import type { Test } from 'tap'
import { until } from '#test/running-worker.ts'
import { chargeOf } from './installation.ts'
import type { Instances } from './instances.ts'

const events = 20

/** The same event at both processes at once: recorded by one of them, and worked on once. */
export async function recordOnce(t: Test, { ask, database }: Instances): Promise<void> {
  const invoices = await count(`invoices`)
  const ids = Array.from({ length: events }, (_, index) => `evt_both_${index}`)
  const answers = await Promise.all(
    ids.map(async (id) => {
      const { url, headers, data } = chargeOf(id, 'http://any')
      const { pathname } = new URL(url)
      const post = { method: 'POST', headers, body: data }
      const both = await Promise.all([ask(0, pathname, post), ask(1, pathname, post)])
      return Promise.all(both.map(async (one) => `${one.status} ${await one.text()}`))
    }),
  )
  for (const pair of answers) t.same(pair.toSorted(), ['200 duplicate', '200 recorded'])
  await until(
    database,
    `SELECT FROM received_events WHERE event_id LIKE 'evt_both_%'
     HAVING count(*) = ${events} AND every(status = 'processed' AND attempts = 1)`,
  )
  t.equal(await count('invoices'), invoices + events, 'one effect of each')

  async function count(table: 'invoices'): Promise<number> {
    const { rows } = await database.admin.query(`SELECT count(*)::int FROM ${table}`)
    return rows[0].count
  }
}
