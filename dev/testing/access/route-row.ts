import type { Reach } from './rules.ts'
import type { Caller } from './world.ts'

/** Who may call a route: a kind of caller, or a rule of the contract. */
type Who = 'anyone' | 'signature' | `${string}:${string}`

export type RouteRow = {
  who: Who
  /** Its status for allowed callers. */
  answer: number
  /** The status of an open route for a signed-in caller, if it differs. */
  answerInSession?: number
  /** The kind of object that its path, or else its body, names. */
  object?: string
  /** The status for an object out of reach, if it is not 404. */
  outOfReach?: number
  /** The scope of the object, if no rule defines it. */
  reach?: Reach
  /** The kind of the rows in its response, of which each caller gets the fields that they may see. */
  shows?: string
  /** Fields of its body that need a permission. */
  writes?: readonly string[]
  /** A valid body. */
  body?: (params: Readonly<Record<string, string>>, caller: Caller) => object | Promise<object>
  /** The role that its body gives to someone. */
  gives?: string
  /** The kind of object that it lists: exactly those the caller can reach. */
  lists?: string
  /** Its list can be counted. */
  counts?: true
  /** The name of the cursor parameter, if it is not `cursor`. */
  cursor?: string
  /** Its list may be delayed: only checks that no foreign object is in it. */
  lags?: true
  /**
   * Composite foreign keys or a function of the database protect it too, so that it does not leak even
   * without both locks.
   */
  heldByKeys?: true
  /**
   * Row-level security shows the caller more than the route lists: the audit log has own entries and
   * those of the tenant.
   */
  narrowedByQuery?: true
  /** A proxy asks about a request, of which the matrix does not name the method: as if it were unsafe. */
  asksForOther?: true
  /** For the app alone, in the tenant that the path names, though the rule is for others on other routes. */
  forApp?: true
  /** Works only with an active tenant. */
  needsTenant?: true
  /** Any answer but a refusal counts as `answer`: its body is only an example. */
  passes?: true
}

export type RouteRows = Readonly<Record<string, RouteRow>>

/** An id as a JSON value; a malformed id stays a string. */
export function idInBody(id = ''): number | string {
  return /^[1-9]/.test(id) ? Number(id) : id
}
