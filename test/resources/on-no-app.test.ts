import { runOnApp } from './on-app.ts'

await runOnApp('none', [
  () => import('#test/access/matrix.test.ts'),
  () => import('#test/schema/resource-indexes.test.ts'),
])
