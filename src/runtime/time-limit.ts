import { createContext, Script } from 'node:vm'
import { onFirstUse } from './lazy.ts'

const script = onFirstUse(() => new Script('work()'))
const context = onFirstUse(() => createContext({}))

/**
 * Runs synchronous work; null if it takes longer than `ms` or overflows the stack. V8 interrupts it even
 * within a regular expression, which a timer of this process cannot.
 */
export function resultOfWork<T>(ms: number, work: () => T): T | null {
  const global = context()
  try {
    return script().runInContext(Object.assign(global, { work }), { timeout: ms })
  } catch (error) {
    const isOverflow = error instanceof RangeError && /call stack/.test(error.message)
    if (isOverflow || Object(error).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return null
    throw error
  } finally {
    delete global.work
  }
}

/** How often work is begun that got less than half of the processor time of its limit. */
const maxTries = 3

/**
 * As resultOfWork, but by processor time: on a busy machine also work is interrupted that had little of it, and it is
 * begun again.
 */
export function resultInTime<T>(ms: number, work: () => T): T | null {
  for (let tries = 1; ; tries += 1) {
    const begin = processorMs()
    const result = resultOfWork(ms, work)
    if (result !== null || tries === maxTries || processorMs() - begin > ms / 2) return result
  }
}

/** Processor time of this thread: a busy machine makes no work more expensive. */
export function processorMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
