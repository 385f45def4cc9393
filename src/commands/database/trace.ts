import type { Environment } from '#src/config/parse.ts'
import { statementTimeoutsMs } from '#src/db/timeouts.ts'
import { OperatorError } from '#src/runtime/operator-error.ts'
import { withWorkerDatabase } from '../kit/databases.ts'
import { print, printJson, printMessage } from '../kit/output.ts'
import {
  collectTrace,
  maxRows,
  type Trace,
  type TraceEntry,
  type TraceKind,
} from './collect-trace.ts'

type Options = { readonly as?: TraceKind | undefined; readonly json?: true | undefined }

const maxIdLength = 255 // of a billing event, the longest id

/** `gatehouse trace`: a timeline of what is known about an id, from the database. */
export default async function trace(
  env: Environment,
  id: string,
  { as, json }: Options,
): Promise<void> {
  if (id.length > maxIdLength || id.includes('\0')) throw unknown()
  await withWorkerDatabase(env, async (systemDb) => {
    const found = await systemDb.transaction(
      { statementTimeoutMs: statementTimeoutsMs.trace },
      (connection) => collectTrace(connection, id, as),
    )
    if (found.kinds.length === 0) throw unknown()
    if (json) return printJson({ id, ...found })
    printTimeline(id, found)
  })
}

function unknown(): OperatorError {
  return new OperatorError(
    'Nothing is known about this id.',
    'It may be wrong, older than the times of keeping, or of a request that changed nothing: search the log for it.',
  )
}

function printTimeline(id: string, { kinds, entries, isCut }: Trace): void {
  print(`${id}: ${kinds.join(', ')}`)
  if (kinds.length > 1)
    printMessage(`The id is several things: ${kinds.join(', ')}. --as chooses one.`)
  for (const entry of entries) print(line(entry))
  if (isCut) printMessage(`Only the first ${maxRows} entries of each source are shown.`)
}

function line({ at, kind, facts }: TraceEntry): string {
  const known = Object.entries(facts).filter(([, value]) => value !== null)
  return `${at.toISOString()}  ${kind}  ${known.map(([name, value]) => `${name}=${textOf(value)}`).join(' ')}`
}

/** Texts of others, such as the message of an error, may contain control characters. */
function textOf(value: unknown): string {
  const text = String(value)
  return /^[\w:.+-]+$/.test(text) ? text : JSON.stringify(text)
}
