import { runOnApp } from './on-app.ts'

await runOnApp('none', [
  () => import('#test/access/matrix.test.ts'),
  () => import('#test/access/no-credential.test.ts'),
  () => import('#test/access/former-member.test.ts'),
  () => import('#test/auth/erasure/walk.test.ts'),
])
