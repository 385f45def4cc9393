import { fileURLToPath } from 'node:url'
import { runOnApp } from './on-app.ts'

await runOnApp(fileURLToPath(new URL('../support/office-app', import.meta.url)), [
  () => import('./own-roles.ts'),
  () => import('./visible.ts'),
  () => import('./hooks.ts'),
  () => import('./plans.ts'),
])
