import type { Reach } from './contract.ts'

/** Who may call a route: a kind of caller, or a rule of contract.ts. */
export type Who =
  | 'anyone'
  | 'signature'
  | 'signed-in'
  | 'session'
  | 'recent-session'
  | `${string}:${string}`

export type RouteRow = {
  who: Who
  /** What it answers to those who may. */
  answer: number
  /** What an open route answers to somebody who has a session, where that differs. */
  answerInSession?: number
  /** The kind of object (objects.ts) that its path, or else its body, names. */
  object?: string
  /** Where no rule says it: whose that object has to be. */
  reach?: Reach
  /** A body that is in order. */
  body?: (params: Readonly<Record<string, string>>) => object
  /** The kind of object that it lists: all that the caller reaches and nothing else. */
  lists?: string
  /** The parameter that takes the cursor, where it is not `cursor`. */
  cursor?: string
  /** What it lists may come late: only what must not be there is looked for. */
  lags?: true
  /**
   * Composite keys hold it as well, its own or those of the deliveries that tell of it, so that it
   * does not leak even without both locks.
   */
  heldByKeys?: true
  /** Only of use inside a tenant. */
  needsTenant?: true
}

export type RouteRows = Readonly<Record<string, RouteRow>>

/** An id as a body has it; what is no id stays what it is. */
export function idInBody(id = ''): number | string {
  return /^[1-9]/.test(id) ? Number(id) : id
}
