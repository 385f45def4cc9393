import t from 'tap'
import { entriesOf, lockedEntries } from '#test/access/matrix/entries.ts'
import { openProgram, runMatrix, type Verdict } from '#test/access/matrix/matrix.ts'
import { summaryOf, wrongOf } from '#test/access/matrix/verdicts.ts'
import { isOnCitus } from '#test/support/database/template.ts'

t.test('row-level security alone hides every foreign object', async (t) => {
  const { setup, routes } = await openProgram(t, { queryScope: false, rowLevelSecurity: true })
  const entries = lockedEntries(entriesOf(routes)).filter(({ row }) => !row.narrowedByQuery)
  const { verdicts, before, after } = await runMatrix(setup, entries, { isExcused })
  t.strictSame(wrongOf(verdicts.filter((verdict) => !isExcused(verdict))), [])
  t.strictSame(after, before, 'no refused request changed anything')
  t.comment(`row-level security alone: ${summaryOf(verdicts)}`)
})

/**
 * With Citus: a statement without its tenant that locks a row, joins tables or has GROUPING SETS cannot be
 * sent to the nodes. That it is refused shows no row either.
 */
const refusedByCitus: readonly string[] = [
  'PATCH /posts/:id',
  'POST /app/posts/:id',
  'GET /documents',
  'POST /app/documents/:id',
  'POST /webhook-endpoints/:id/test',
  'POST /app/webhooks/:id/test',
  'GET /webhook-endpoints/:id/deliveries',
  'HEAD /webhook-endpoints/:id/deliveries',
  'GET /deliveries/:id',
  'HEAD /deliveries/:id',
  'POST /deliveries/:id/replay',
  'GET /app/events/:id',
  'HEAD /app/events/:id',
  'GET /app/webhooks/:id',
  'HEAD /app/webhooks/:id',
  'GET /app/webhooks/:id/deliveries/events',
  'GET /app/deliveries/:id',
  'HEAD /app/deliveries/:id',
  'POST /app/deliveries/:id/replay',
  'POST /app/deliveries/:id/check',
]

function isExcused(verdict: Verdict): boolean {
  const { route, actual } = verdict
  const isRefused = isOnCitus() && actual === 500 && refusedByCitus.includes(route)
  return isRefused || isRefusedInsert(verdict)
}

/** A row that only a policy refuses to insert is an error instead of a 404. It is still not inserted. */
function isRefusedInsert({ route, expected, actual }: Verdict): boolean {
  return /^(POST|PUT) /.test(route) && expected === 404 && actual === 500
}
