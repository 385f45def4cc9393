import t from 'tap'
import { errorTable, Problem } from '#src/http/problems.ts'

t.test('a problem has the title of its code, and a detail only if one is given', async (t) => {
  t.equal(new Problem('forbidden').message, errorTable.forbidden.title)
  const refusal = new Problem('unavailable', { detail: 'Later.', retryAfterSeconds: 7 })
  t.match(refusal, { code: 'unavailable', detail: 'Later.', retryAfterSeconds: 7 })
  t.ok(refusal instanceof Error)
})
