import t from 'tap'
import { readRetryAfter } from '#src/http/headers/retry-after.ts'

const date = 'Wed, 21 Oct 2026 07:28:00 GMT'

t.test('seconds, or a date of HTTP by the clock of the response', async (t) => {
  t.equal(readRetryAfter('0', date), 0)
  t.equal(readRetryAfter('120', null), 120)
  t.equal(readRetryAfter('Wed, 21 Oct 2026 07:29:30 GMT', date), 90)
  t.equal(readRetryAfter('Wed, 21 Oct 2026 07:27:00 GMT', date), -60)
  const soon = new Date(Date.now() + 60_000).toUTCString()
  for (const missing of [undefined, null, '', 'soon', [date, date]]) {
    const seconds = readRetryAfter(soon, missing) ?? 0
    t.ok(seconds > 50 && seconds <= 60, 'by this clock without a date')
  }
})

t.test('anything else is no wait', async (t) => {
  const others = ['', '-1', '1.5', '1e3', ' 7', '7, 8', '1234567890', 'soon', '2026-10-21', ' GMT']
  for (const value of [...others, 'Wed, 41 Oct 2026 07:29:30 GMT', null, undefined, 7, ['7']]) {
    t.equal(readRetryAfter(value, date), null, String(value))
  }
})
