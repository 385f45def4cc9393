import { fileURLToPath } from 'node:url'
import { runOnApp } from './on-app.ts'

await runOnApp(fileURLToPath(new URL('../support/small-app', import.meta.url)), [
  () => import('#test/access/matrix.test.ts'),
  () => import('#test/access/row-level-security-alone.test.ts'),
  () => import('#test/access/query-scope-alone.test.ts'),
  () => import('#test/schema/migrations/next.test.ts'),
  () => import('#test/schema/resource-indexes.test.ts'),
  () => import('#test/resources/resources.test.ts'),
  () => import('#test/resources/small-app/field-kinds.ts'),
  () => import('#test/resources/small-app/references.ts'),
  () => import('#test/resources/small-app/expand-trips.ts'),
  () => import('#test/resources/small-app/members.ts'),
  () => import('#test/resources/small-app/field-permissions.ts'),
  () => import('#test/resources/small-app/jobs.ts'),
  () => import('#test/resources/small-app/own-actions.ts'),
  () => import('#test/resources/small-app/unexpected-errors.ts'),
  () => import('#test/resources/small-app/lists.ts'),
  () => import('#test/resources/small-app/list-pages.ts'),
  () => import('#test/rows/rows.test.ts'),
])
