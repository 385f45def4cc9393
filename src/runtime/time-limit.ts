import { createContext, Script } from 'node:vm'
import { onFirstUse } from './lazy.ts'

const script = onFirstUse(() => new Script('work()'))
const context = onFirstUse(() => createContext({}))

/**
 * The result of `work`, which does not wait for anything; null if it was ended after `ms`, or calls itself
 * without end. It is ended whatever it does, also within a regular expression, which nothing else in the
 * process can do.
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
