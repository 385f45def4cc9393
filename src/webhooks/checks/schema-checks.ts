import { type FieldError, Problem } from '#src/http/problems.ts'
import type { Clock } from '#src/runtime/clock.ts'
import type { JsonObject } from '#src/runtime/json.ts'
import { createLanes, type Queued, type Taken } from './lanes.ts'
import type { Answer, Cost, Job, Reply } from './messages.ts'
import { createSlowTime } from './slow-time.ts'
import { startThread, type Thread } from './thread-port.ts'

/** The data of an event to check: `body` is the event as it is sent, `pointer` the place of `data`. */
export type Checked = { type: string; version: Date; body: string; pointer: string }

/** A version of a type; `schema` is JSON. */
export type TypeSchema = { type: string; version: Date; schema: string }

export type SchemaChecks = {
  /**
   * Checks data against compiled schemas, in turns of the tenants.
   * @returns the faults of each; null if a schema is not compiled
   * @throws Problem `malformed` if a check does not end in time, `too-many-requests` if slow checks of the
   *   tenant or the type took too long lately, `unavailable` if there was no turn in time
   */
  check(tenantId: string, checked: readonly Checked[]): Promise<FieldError[][] | null>
  /**
   * Compiles schemas one after another, so that others have their turns between them. They are kept until
   * `maxKept` characters of others have been used since.
   * @throws Problem `unavailable` if it takes too long; those that are compiled by then are kept
   */
  compile(tenantId: string, schemas: readonly TypeSchema[]): Promise<void>
  /**
   * Whether a schema can be used, and an example matches it.
   * @throws Problem `malformed` with every fault
   */
  requireUsable(schema: JsonObject, example: JsonObject | null): Promise<void>
  /** Ends the thread. */
  close(): Promise<void>
}

/** How long a request waits for its turns. */
const maxWaitMs = 5_000
/** A thread that says nothing for as long, with work to do, is ended: its longest job may take 1 s. */
const maxSilenceMs = 5_000
/** Jobs in a message; several, because the event loop may be slow to send the next. */
const maxSent = 32
// Quick checks share the thread by turns. Slow ones would make the others wait, so their sum is limited:
// for a tenant to a twentieth of the thread, so that nineteen of twenty checks of others meet none.
const slowMs = 50
const tenantLimit = { burstMs: 1_000, msPerSecond: 50 }
const typeLimit = { burstMs: 4_000, msPerSecond: 200 }
/** How long a request may compile the schemas of its events. */
const maxCompilationMs = 5_000

type Options = {
  clock: Clock
  log: { error(facts: object, message: string): void }
  /** For tests. */
  start?: typeof startThread
  silenceMs?: number
}

/** Compiles the schemas of apps and checks data against them, in a thread. */
export function createSchemaChecks(options: Options): SchemaChecks {
  const { run, close } = superviseThread(options)
  return {
    async check(tenantId, checked) {
      const items = checked.map(({ type, version, body, pointer }) => {
        return { key: keyOf(type, version), body, pointer }
      })
      const answer = await run(tenantId, { kind: 'check', items })
      if (answer.kind === 'slow') throw malformed(tooSlow(answer.pointer))
      return answer.kind === 'checked' ? answer.faults : null
    },
    async compile(tenantId, schemas) {
      const end = performance.now() + maxCompilationMs
      for (const { type, version, schema } of schemas) {
        if (performance.now() > end) throw noTurn()
        const key = keyOf(type, version)
        const answer = await run(tenantId, { kind: 'compile', key, schema })
        if (answer.kind !== 'unusable') continue
        const detail = `The schema of ${type} cannot be used: ${answer.why}.`
        throw new Problem('malformed', { detail })
      }
    },
    async requireUsable(schema, example) {
      const pointer = '/example'
      const answer = await run('', {
        kind: 'try',
        schema: JSON.stringify(schema),
        example: example && JSON.stringify(example),
        pointer,
      })
      if (answer.kind === 'unusable') {
        const detail = `is not a JSON Schema (draft 7) that can be used: ${answer.why}`
        throw malformed({ in: 'body', pointer: '/schema', detail })
      }
      if (answer.kind === 'slow') throw malformed(tooSlow(answer.pointer))
      if (answer.kind !== 'checked') throw noTurn()
      const [fields = []] = answer.faults
      if (fields.length > 0) throw new Problem('malformed', { fields })
    },
    close,
  }
}

/**
 * The thread, started on first use. It gets jobs of tenants in turn, no more of them than their time allows,
 * and another takes its place if it does not reply.
 */
function superviseThread({ clock, log, start = startThread, silenceMs = maxSilenceMs }: Options) {
  const { mayRun, charge } = limitSlowChecks(clock)
  const lanes = createLanes({ maxWaitMs, mayRun })
  let thread: Thread | null = null
  let isReady = false
  /** In the thread, in its order. */
  let sent: Taken[] = []
  let silence: NodeJS.Timeout | undefined

  function run(lane: string, job: Job): Promise<Answer> {
    const answer = lanes.add(lane, job)
    send()
    return answer
  }

  function send(): void {
    if (sent.length > 0) return
    thread?.setBusy(!lanes.isEmpty())
    if (lanes.isEmpty()) return
    thread ??= start({ reply: onReply, ended: onEnd })
    if (!isReady) return
    sent = lanes.take(maxSent)
    // Nothing, if all that waited was refused.
    thread.setBusy(sent.length > 0)
    if (sent.length > 0) thread.send(sent.map(({ id, lane, job }) => ({ id, lane, job })))
    expectReply()
  }

  function expectReply(): void {
    clearTimeout(silence)
    if (sent.length > 0) silence = setTimeout(replaceThread, silenceMs)
  }

  function onReply(reply: Reply): void {
    if (reply.kind === 'ready') {
      isReady = true
      send()
      return
    }
    const done = sent.shift()
    expectReply()
    if (done === undefined) return
    if (reply.kind === 'postponed') lanes.giveBack([done])
    else {
      charge(done.lane, reply.costs)
      done.resolve(reply.answer)
    }
    send()
  }

  function replaceThread(): void {
    void thread?.end()
    onEnd(new Error('no reply'))
  }

  /** The first job is the one that ended the thread; the others are sent to the next one. */
  function onEnd(error: unknown): void {
    clearTimeout(silence)
    thread = null
    const [culprit, ...others] = sent
    sent = []
    log.error({ err: error }, 'the thread that checks event data has ended')
    if (!isReady) lanes.refuseAll(noTurn)
    isReady = false
    culprit?.resolve(slowAnswer(culprit.job))
    lanes.giveBack(others)
    send()
  }

  return {
    run,
    async close() {
      clearTimeout(silence)
      lanes.refuseAll(noTurn)
      await thread?.end()
    },
  }
}

/** How long slow checks of a tenant and of a type may take. */
function limitSlowChecks(clock: Clock) {
  const slowOfTenant = createSlowTime(tenantLimit, clock)
  const slowOfType = createSlowTime(typeLimit, clock)

  /** @throws Problem if the job may not run now */
  function mayRun({ lane, job }: Queued): void {
    if (job.kind !== 'check') return
    const seconds = slowOfTenant.secondsUntilRoom(lane)
    if (seconds !== null) throw tooSlowLately('of this tenant', tenantLimit, seconds)
    for (const type of new Set(job.items.map(({ key }) => typeOf(key)))) {
      const seconds = slowOfType.secondsUntilRoom(type)
      if (seconds !== null) throw tooSlowLately(`of the type ${type}`, typeLimit, seconds)
    }
  }

  function charge(lane: string, costs: readonly Cost[]): void {
    const total = costs.reduce((sum, { ms }) => sum + ms, 0)
    if (total < slowMs) return
    slowOfTenant.add(lane, total)
    for (const { key, ms } of costs) if (ms >= slowMs) slowOfType.add(typeOf(key), ms)
  }

  return { mayRun, charge }
}

const keyOf = (type: string, version: Date) => `${type} ${version.getTime()}`
const typeOf = (key: string) => key.slice(0, key.lastIndexOf(' '))

/** What a job that ended the thread gets. */
function slowAnswer(job: Job): Answer {
  if (job.kind === 'compile') return { kind: 'unusable', why: 'it takes too long to compile' }
  return { kind: 'slow', pointer: job.kind === 'try' ? job.pointer : (job.items[0]?.pointer ?? '') }
}

/** The fault of data whose check does not end in time. */
function tooSlow(pointer: string): FieldError {
  return { in: 'body', pointer, detail: 'takes too long to check against its schema' }
}

function malformed(field: FieldError): Problem {
  return new Problem('malformed', { fields: [field] })
}

function tooSlowLately(whose: string, { msPerSecond }: { msPerSecond: number }, seconds: number) {
  return new Problem('too-many-requests', {
    detail: `Slow checks of event data ${whose} against its schema may take ${msPerSecond} ms a second in the long run. Try again in ${seconds} s, or make the schema simpler.`,
    retryAfterSeconds: seconds,
    reason: 'slow-checks',
  })
}

function noTurn(): Problem {
  const detail = 'The schemas of event types are being compiled.'
  return new Problem('unavailable', { detail, retryAfterSeconds: 1, reason: 'schema-checks' })
}
