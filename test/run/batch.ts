import { registerHooks } from 'node:module'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'

/*
 * Runs several test files in one process, one after the other. Loading the program's modules takes
 * longer than most files do, and the first server of a process twice as long as any other. Each file
 * is a subtest with the file's path as its name: what it imports as `t` is that subtest.
 */

const root = fileURLToPath(new URL('../..', import.meta.url))
const subtests = new Map<string, Test>()
const key = 'gatehouse.subtests'

/** The time limit of one file; tap passes on its own, which would end the whole batch. */
const fileTimeoutMs = Number(process.env.TAP_TIMEOUT ?? 900) * 1_000

/** @param urls file URLs of the test files, in the order in which they run */
export async function runBatch(urls: readonly string[]): Promise<void> {
  t.setTimeout(0)
  Object.defineProperty(globalThis, Symbol.for(key), { value: subtests })
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === 'tap' && subtests.has(context.parentURL ?? '')
        ? { url: subtestModule(context.parentURL ?? ''), shortCircuit: true }
        : next(specifier, context),
  })
  for (const url of urls) {
    const path = relative(root, fileURLToPath(url))
    await t.test(path, { timeout: fileTimeoutMs }, async (subtest) => {
      subtests.set(url, subtest)
      await import(url)
    })
  }
}

/** The module that a test file of a batch gets for `tap`. */
function subtestModule(url: string): string {
  const text = `export default globalThis[Symbol.for('${key}')].get(${JSON.stringify(url)})`
  return `data:text/javascript,${encodeURIComponent(text)}`
}
