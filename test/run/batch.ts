import { mkdirSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'

/*
 * Runs several test files in one process, one after the other. Loading the program's modules takes
 * longer than most files do, and the first server of a process twice as long as any other. Each file
 * is a subtest with the file's path as its name: what it imports as `t` is that subtest.
 *
 * The processes of a lane share one list: each takes the next file that no other has taken. So none
 * waits behind a long file, and all end at about the same time.
 */

const root = fileURLToPath(new URL('../..', import.meta.url))
const subtests = new Map<string, Test>()
const key = 'gatehouse.subtests'

/** The time limit of one file; tap passes on its own, which would end the whole batch. */
const fileTimeoutMs = Number(process.env.TAP_TIMEOUT ?? 900) * 1_000

/** When a quick run starts no other file. */
const deadline = Number(process.env.TEST_DEADLINE ?? Number.POSITIVE_INFINITY)

/**
 * @param urls file URLs of the test files, in the order in which they run
 * @param options `taken`: the folder in which the processes that share these files note what each has
 *   taken; `closingMs`: how long the process may stay alive after the last file
 */
export async function runBatch(
  urls: readonly string[],
  { taken, closingMs = 10_000 }: { taken?: string; closingMs?: number } = {},
): Promise<void> {
  t.setTimeout(0)
  Object.defineProperty(globalThis, Symbol.for(key), { value: subtests })
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === 'tap' && subtests.has(context.parentURL ?? '')
        ? { url: subtestModule(context.parentURL ?? ''), shortCircuit: true }
        : next(specifier, context),
  })
  const open: OpenAfter[] = []
  for (const url of untaken(urls, taken)) {
    const path = relative(root, fileURLToPath(url))
    if (Date.now() > deadline) {
      await t.test(path, { skip: 'the minute of a quick run is over' }, async () => {})
      continue
    }
    await t.test(path, { timeout: fileTimeoutMs }, async (subtest) => {
      subtests.set(url, subtest)
      await import(url)
    })
    open.push({ path, kinds: new Set(process.getActiveResourcesInfo()) })
  }
  endThoughOpen(open, closingMs)
}

/** The files that no other process has taken yet; takes each when it is asked for. */
function* untaken(urls: readonly string[], folder: string | undefined): Generator<string> {
  for (const [index, url] of urls.entries()) {
    if (folder === undefined || take(join(folder, String(index)))) yield url
  }
}

/** Making a folder is atomic: of several processes one succeeds. */
function take(path: string): boolean {
  try {
    mkdirSync(path)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}

/** What kept the process alive when a file had ended. */
type OpenAfter = { path: string; kinds: ReadonlySet<string> }

/**
 * Fails and ends the process if it has not ended by itself. A test that fails may skip closing what it
 * opened, which would keep the process alive, and the run, without a word.
 */
function endThoughOpen(after: readonly OpenAfter[], closingMs: number): void {
  const end = () => {
    const left = [...new Set(process.getActiveResourcesInfo())]
    t.fail('a file has left something open', {
      open: left.map((kind) => `${kind}, since ${sinceWhen(kind, after)}`),
    })
    t.end()
    process.exit(1)
  }
  // The files that test/schema/citus/on-cluster.ts imports add their tests to tap's root: they run after the last one.
  const look = () => setTimeout(t.idle ? end : look, closingMs).unref()
  look()
}

/** The file from whose end on something of the kind was always open. */
function sinceWhen(kind: string, after: readonly OpenAfter[]): string {
  const closed = after.findLastIndex(({ kinds }) => !kinds.has(kind))
  return after[closed + 1]?.path ?? 'the end'
}

/** The module that a test file of a batch gets for `tap`. */
function subtestModule(url: string): string {
  const text = `export default globalThis[Symbol.for('${key}')].get(${JSON.stringify(url)})`
  return `data:text/javascript,${encodeURIComponent(text)}`
}
