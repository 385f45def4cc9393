import { parentPort } from 'node:worker_threads'
import { processorMs, resultInTime, resultOfWork } from '#src/runtime/time-limit.ts'
import { compileSchema, faultsOf, type Validate } from './compile.ts'
import {
  type Answer,
  type CheckedData,
  type Cost,
  type Job,
  maxKept,
  type Reply,
  type Request,
} from './messages.ts'

/*
 * The thread that compiles the schemas of apps and checks data against them. Neither can be trusted to end,
 * so each job has a time after which V8 interrupts it; if that fails, the program ends the thread
 * (schema-checks.ts).
 */

// Compiling a schema of a few hundred fields takes some tens of milliseconds.
const maxCompileMs = 1_000
// For all data of a request: a pattern or `uniqueItems` of a schema could take hours.
const maxCheckMs = 250
/** A job that takes longer lets other tenants go first. */
const turnMs = 20

type Kept = { validate: Validate; size: number }

// The least recently used is first.
const kept = new Map<string, Kept>()
let keptSize = 0

parentPort?.on('message', (requests: readonly Request[]) => {
  const slowLanes = new Set<string>()
  for (const { id, lane, job } of requests) {
    if (slowLanes.has(lane)) {
      send({ kind: 'postponed', id })
      continue
    }
    const costs: Cost[] = []
    const begin = processorMs()
    const answer = carryOut(job, costs)
    if (processorMs() - begin > turnMs) slowLanes.add(lane)
    send({ kind: 'done', id, answer, costs })
  }
})
send({ kind: 'ready' })

function send(reply: Reply): void {
  parentPort?.postMessage(reply)
}

function carryOut(job: Job, costs: Cost[]): Answer {
  switch (job.kind) {
    case 'compile':
      return keep(job.key, job.schema)
    case 'check':
      return check(job.items, costs)
    case 'try':
      return tryOut(job)
  }
}

function keep(key: string, schema: string): Answer {
  if (kept.has(key)) return { kind: 'compiled' }
  const compiled = compileInTime(schema)
  if ('why' in compiled) return { kind: 'unusable', why: compiled.why }
  // V8 compiles a function with its first call, which would count as a slow check of the tenant.
  resultOfWork(maxCheckMs, () => compiled.validate({}))
  kept.set(key, { validate: compiled.validate, size: schema.length })
  keptSize += schema.length
  for (const [oldest, { size }] of kept) {
    if (keptSize <= maxKept) break
    kept.delete(oldest)
    keptSize -= size
  }
  return { kind: 'compiled' }
}

function compileInTime(schema: string): { validate: Validate } | { why: string } {
  try {
    const validate = resultInTime(maxCompileMs, () => compileSchema(JSON.parse(schema)))
    return validate === null ? { why: 'it takes too long to compile' } : { validate }
  } catch (error) {
    return { why: error instanceof Error ? error.message.slice(0, 200) : 'unknown' }
  }
}

function check(items: readonly CheckedData[], costs: Cost[]): Answer {
  const keys = new Set(items.map(({ key }) => key))
  const validates = new Map([...keys].map((key) => [key, use(key)] as const))
  const missing = [...keys].filter((key) => validates.get(key) === undefined)
  if (missing.length > 0) return { kind: 'missing', keys: missing }
  let current = items[0]
  let begin = processorMs()
  const faults = resultOfWork(maxCheckMs, () =>
    items.map((item) => {
      current = item
      begin = processorMs()
      const validate = validates.get(item.key)
      const found = validate ? faultsOf(validate, JSON.parse(item.body).data, item.pointer) : []
      costs.push({ key: item.key, ms: processorMs() - begin })
      return found
    }),
  )
  if (faults !== null) return { kind: 'checked', faults }
  const { key = '', pointer = '' } = current ?? {}
  // All of its time, also where a busy machine gave it less of the processor: the others waited as long.
  costs.push({ key, ms: maxCheckMs })
  return { kind: 'slow', pointer }
}

/** A kept schema, which is now the last to be dropped. */
function use(key: string): Validate | undefined {
  const found = kept.get(key)
  if (found === undefined) return undefined
  kept.delete(key)
  kept.set(key, found)
  return found.validate
}

function tryOut({ schema, example, pointer }: Extract<Job, { kind: 'try' }>): Answer {
  const compiled = compileInTime(schema)
  if ('why' in compiled) return { kind: 'unusable', why: compiled.why }
  if (example === null) return { kind: 'checked', faults: [] }
  const data = JSON.parse(example)
  const faults = resultOfWork(maxCheckMs, () => faultsOf(compiled.validate, data, pointer))
  return faults === null ? { kind: 'slow', pointer } : { kind: 'checked', faults: [faults] }
}
