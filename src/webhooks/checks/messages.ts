import type { FieldError } from '#src/http/problems.ts'

/** Characters of schemas whose compiled form is kept, which takes several times as much memory. */
export const maxKept = 2 * 1_024 * 1_024

/** The data of an event, to be checked against the version of a type. */
export type CheckedData = {
  /** The type and its version: `keyOf`. */
  key: string
  /** The event as it is sent: JSON with `data`. */
  body: string
  /** Where `data` is in the body of the request (RFC 6901). */
  pointer: string
}

/** What the thread does at a time. Schemas and examples are texts of JSON. */
export type Job =
  /** Keeps the compiled schema of a version. */
  | { kind: 'compile'; key: string; schema: string }
  /** Checks data against schemas that are kept. */
  | { kind: 'check'; items: readonly CheckedData[] }
  /** Compiles a schema and checks an example against it; nothing is kept. */
  | { kind: 'try'; schema: string; example: string | null; pointer: string }

export type Answer =
  | { kind: 'compiled' }
  /** The schema cannot be used. */
  | { kind: 'unusable'; why: string }
  /** The faults of each item. */
  | { kind: 'checked'; faults: FieldError[][] }
  /** A check that did not end in time. */
  | { kind: 'slow'; pointer: string }
  /** Versions whose compiled schema is not kept. Nothing was checked. */
  | { kind: 'missing'; keys: string[] }

/** Jobs in their order. The jobs of one tenant have one lane. */
export type Request = { id: number; lane: string; job: Job }

/** Sent once when the thread has loaded, then for each request in its order. */
export type Reply =
  | { kind: 'ready' }
  /** Not done, because a job of its lane before it was slow: others are first. */
  | { kind: 'postponed'; id: number }
  | { kind: 'done'; id: number; answer: Answer; costs: Cost[] }

/** Processor time that a version of a type took. */
export type Cost = { key: string; ms: number }
