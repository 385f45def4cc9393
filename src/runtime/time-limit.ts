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
