import t from 'tap'
import type { Verdict } from '#dev/testing/access/matrix.ts'
import { runOnRowLevelSecurity } from '#test/access/matrix/row-level-security.ts'
import { runOnCluster } from './on-cluster.ts'

/**
 * A statement without its tenant that locks a row, joins tables or has GROUPING SETS cannot be sent to the
 * nodes. That it is refused shows no row either.
 */
const refused: readonly string[] = [
  'PATCH /posts/:id',
  'GET /app/posts/:id',
  'HEAD /app/posts/:id',
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
  'GET /app/webhooks/:id/deliveries',
  'HEAD /app/webhooks/:id/deliveries',
  'GET /app/webhooks/:id/deliveries/events',
  'GET /app/deliveries/:id',
  'HEAD /app/deliveries/:id',
  'POST /app/deliveries/:id/replay',
  'POST /app/deliveries/:id/check',
]

function isRefused({ route, actual }: Verdict): boolean {
  return actual === 500 && refused.includes(route)
}

async function testRowLevelSecurity(): Promise<void> {
  const name = 'row-level security alone hides every foreign object of a cluster'
  await t.test(name, (t) => runOnRowLevelSecurity(t, isRefused))
}

/* The access matrix on each lock alone, on a Citus cluster, by default for one actor. */
await runOnCluster([testRowLevelSecurity, () => import('#test/access/query-scope-alone.test.ts')], {
  MATRIX_ACTORS: process.env.MATRIX_ACTORS ?? 'admin, at night',
})
