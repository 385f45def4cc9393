import { fileURLToPath } from 'node:url'
import { runOnApp } from '#test/resources/on-app.ts'

await runOnApp(fileURLToPath(new URL('../support/kinds-app', import.meta.url)), [
  () => import('./field-kinds.ts'),
])
