import type { Static, TSchema } from 'typebox'
import type { Resource, Action as RuleAction } from '#src/access/policy.ts'
import type { ClientInfo } from '#src/audit/audit.ts'
import type { Tx } from '#src/db/database.ts'
import type { Page } from '#src/http/lists/pagination.ts'
import { type ErrorCode, type PlainErrorCode, Problem } from '#src/http/problems.ts'

/**
 * What an operation works with, in the transaction that its adapter has entered. An interface, so that
 * TypeScript infers `Caller` by name; from a union in `by` it would infer the client's info too.
 */
export interface Acting<Caller> {
  readonly tx: Tx
  readonly by: Caller & { readonly clientInfo: ClientInfo }
  readonly now: Date
}

/** Checks outside of the database, which take longer than a transaction should. */
export type Outside = {
  /** Returns the normalized URL of a receiver. @throws Problem `malformed` with the fault */
  readUrl(text: string): Promise<string>
}

export type ActionInput<
  Params extends TSchema,
  Body extends TSchema,
  Query extends TSchema = TSchema,
> = {
  readonly params: Static<Params>
  readonly body: Static<Body>
  readonly query: Static<Query>
  /** The requested page, if the action is a list. */
  readonly page: Page
}

/** The problems of refusals, by the name of the refusal. */
export type Refusals = Readonly<
  Record<string, string | { readonly code: PlainErrorCode; readonly detail?: string }>
>

/**
 * One operation, declared beside its domain function. It knows nothing of HTTP methods and paths:
 * an adapter makes its route. What does not fit this declaration is a plain route.
 */
export type Action<
  Caller,
  Params extends TSchema = TSchema,
  Body extends TSchema = TSchema,
  Query extends TSchema = TSchema,
> = {
  /** The operationId. */
  readonly name: string
  readonly rule: { readonly resource: Resource; readonly action: RuleAction }
  readonly tag: string
  readonly summary: string
  readonly description?: string
  readonly params?: Params
  readonly body?: Body
  /** The query, unless it is that of a `list`. */
  readonly query?: Query
  /** The name and cursor forms of a list, whose result is a page. */
  readonly list?: { readonly name: string; readonly forms: readonly RegExp[] }
  readonly result: TSchema
  /** 201 for a new object, which has an id; 204 without a body. Default: 200. */
  readonly status?: 201 | 202 | 204
  /** Where the result is read, if not below the path of the request; null for a new object that is not read. */
  location?(result: object): string | null
  /** The problem for each refusal that `run` returns by its name; a text is the detail of a 409. */
  readonly refusals?: Refusals
  /** Problems besides those that every operation with its rule can have. */
  readonly problems?: readonly (ErrorCode | 404)[]
  /** Whether an Idempotency-Key makes it happen once. */
  readonly once?: boolean
  /** The schema whose ETag clients can use. */
  readonly versioned?: TSchema | false
  /** Checks and completes the body before the transaction. */
  prepare?(body: Static<Body>, outside: Outside): Promise<Static<Body>>
  /** Reads what If-Match compares, locked until the transaction ends. */
  lock?(acting: Acting<Caller>, params: Static<Params>): Promise<object | null>
  /** @returns the result or a refusal; null, or false with 204, if there is no such object in reach */
  run(
    acting: Acting<Caller>,
    input: ActionInput<Params, Body, Query>,
  ): Promise<object | boolean | string | null>
}

/** Declares an operation; its parameters and body get the types of their schemas. */
export function defineAction<
  Caller,
  Params extends TSchema = TSchema,
  Body extends TSchema = TSchema,
  Query extends TSchema = TSchema,
>(action: Action<Caller, Params, Body, Query>): Action<Caller, Params, Body, Query> {
  return action
}

/**
 * The problem of a refusal that `run` returned by its name.
 * @throws Error if the action does not declare the refusal
 */
export function refusalOf(
  { name, refusals }: Pick<Action<never>, 'name' | 'refusals'>,
  refusal: string,
): Problem {
  const declared = refusals?.[refusal]
  if (declared === undefined) throw new Error(`${name} has no refusal ${refusal}.`)
  if (typeof declared === 'object') return new Problem(declared.code, declared)
  return new Problem('conflict', { detail: declared })
}
