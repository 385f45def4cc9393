import { requirePackage } from './demo/packages.ts'

/** What dev/cli.ts adds to the program: the demo, and the builder of binaries. */

export { greeting, startDemo } from './demo/demo.ts'
export { describeDemo, findRunningDemo, withDemoSettings } from './demo/running-demo.ts'

/** Loaded late: it needs esbuild, which an app installs for it. */
export async function buildApp(app: string, file: string): Promise<string> {
  requirePackage('esbuild', 'gatehouse build')
  return (await import('./release/build-app.ts')).buildApp(app, file)
}
