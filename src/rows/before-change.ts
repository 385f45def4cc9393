import { decide, needsTeams, type Subject, toProblem } from '#src/access/policy.ts'
import type { Tx } from '#src/db/database.ts'
import { found } from '#src/http/params.ts'
import type { Action } from '#src/resources/kit/define.ts'
import type { Asking } from '#src/resources/kit/fields/field.ts'
import { findOwnTeams } from './own-teams.ts'
import type { Reads } from './reads.ts'
import { isCounted } from './room.ts'
import type { Declared } from './table.ts'

/** Who acts, in which transaction and when. */
export type Act = {
  readonly tx: Tx
  readonly caller: Asking
  readonly now: Date
  /** Gets the name of the condition that refuses the action, for the log. */
  readonly refused?: (reason: string) => void
}

/**
 * Checks the row before its change, such as `If-Match`.
 * @param lock reads and locks the row, once; null if it is missing or out of reach
 */
export type Check<Item> = (lock: () => Promise<Item | null>) => Promise<void>

export type Change = 'create' | 'update' | 'delete'

/** @throws Error if the resource does not declare it */
export function declaredIn({ name, actions, own }: Declared, action: string): Action {
  const found = actions[action as Change] ?? own[action]
  if (found === undefined) throw new Error(`The resource ${name} has no action ${action}.`)
  return found
}

/** Whether the action reads the row before it changes, or counts rows: then it needs several statements. */
export function needsRow(resource: Declared, caller: Asking, action: Change): boolean {
  if (action === 'create' && isCounted(resource, caller)) return true
  const { run, unless = [] } = declaredIn(resource, action)
  return run !== undefined || unless.some(({ appliesTo }) => appliesTo?.(caller) ?? true)
}

/**
 * Locks the row and decides, if anything depends on the row: `If-Match`, a condition or an override.
 * Otherwise the change itself finds out whether it exists.
 * @returns the row, or null if nothing depends on it
 * @throws Problem `not-found`, or `forbidden` if a condition forbids the action
 */
export async function lockBefore<Item>(
  resource: Declared,
  rows: Pick<Reads<Item>, 'lock'>,
  { tx, caller, now, refused }: Act,
  id: number,
  action: string,
  check: Check<Item> = async () => {},
): Promise<Item | null> {
  let row: Promise<Item | null> | undefined
  const lock = () => {
    row ??= rows.lock(tx, caller, id)
    return row
  }
  await check(lock)
  const { unless = [], run } = declaredIn(resource, action)
  if (unless.length === 0 && run === undefined) return null
  // The entry of the transaction has returned all the facts of a subject.
  const subject = caller as Asking & Subject
  const [locked, teams] = await Promise.all([
    lock(),
    needsTeams(unless, subject) ? findOwnTeams(tx, caller) : [],
  ])
  const object = found(locked)
  const decision = decide({
    ...{ caller: subject, resource: resource.name, action, now, teams },
    object: Object(object),
  })
  if (decision.effect === 'allow') return object
  refused?.(decision.reason)
  throw toProblem(decision.reason, decision)
}
