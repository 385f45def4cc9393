import { fileURLToPath } from 'node:url'
import { runOnApp } from './on-app.ts'

await runOnApp(fileURLToPath(new URL('../support/archive-app', import.meta.url)), [
  () => import('./visible-access.ts'),
  () => import('./below-a-row.ts'),
])
