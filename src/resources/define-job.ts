import type { Static, TNull, TSchema } from 'typebox'
import { isHyphenated } from '#src/runtime/words.ts'
import type { DataOf, Publishes } from './kit/event-data.ts'
import { type OptionsOf, requireKnown } from './kit/options.ts'
import type { UsePrisma } from './typed-client.ts'

/** What a run of a job works with: one transaction in the tenant of the job, which no person has entered. */
export type JobRun<Input = unknown> = {
  /** Statements under row-level security: they see and write rows of this tenant alone. */
  readonly tx: {
    sql<Row extends object>(text: TemplateStringsArray, ...values: unknown[]): Promise<Row[]>
    readonly prisma: UsePrisma
  }
  readonly tenant: { readonly id: string }
  /** What `enqueue` was given; null without a schema. */
  readonly input: Input
  readonly now: Date
  /** For `of` of what `defineSettings` returns. */
  readonly settings: object
  /** Each line names the job and its tenant. */
  readonly log: Record<'info' | 'warn' | 'error', (facts: object, message: string) => void>
  /** Adds another job of the tenant, which exists if this run commits. */
  readonly enqueue: Enqueue
  /** Publishes an event of a resource to the endpoints of the tenant, if this run commits. */
  readonly publish: Publish
}

/**
 * Publishes an event in the transaction.
 * @param data the row, or what the schema in `payloads` of the resource describes
 */
export type Publish = <One extends Publishes, Event extends keyof One['events'] & string>(
  resource: One,
  event: Event,
  data: DataOf<NoInfer<One>, NoInfer<Event>>,
) => Promise<void>

/** Adds a job in the transaction. */
export type Enqueue = <Input extends TSchema>(
  job: Job<Input>,
  input: Static<NoInfer<Input>>,
) => Promise<void>

type Declaration<Input extends TSchema> = {
  /** In logs, metrics and on the page of operations: lower-case words with hyphens. */
  readonly name: string
  /** When it runs in every tenant: a cron expression in UTC. Without one it runs when it is enqueued. */
  readonly schedule?: string
  /** Tries after the first, 1 s, 2 s, 4 s … up to an hour apart; 12 by default. Then the job is dead. */
  readonly retries?: number
  /** Of what it gets when it is enqueued: ids, not contents. */
  readonly input?: Input
  /** Everything it does in the database is one commit with the end of the job. It has ten seconds. */
  run(work: JobRun<Static<Input>>): Promise<void>
}

/** Background work of an app, in the scope of a tenant. */
export type Job<Input extends TSchema = TSchema> = Omit<Declaration<Input>, 'retries' | 'input'> & {
  readonly retries: number
  readonly input: TSchema | null
  /** It is a hook, whose job no app lists. */
  readonly isHook?: boolean
}

/** A job of any input. */
export type AnyJob = Omit<Job, 'run'> & { run(work: JobRun<never>): Promise<void> }

const maxRetries = 50

/** The tries after the first of a job that says no other number: the last one is hours later. */
export const usualRetries = 12

const options = {
  ...{ name: true, schedule: true, retries: true, input: true, run: true },
} as const satisfies OptionsOf<Declaration<TSchema>>

/**
 * Declares background work of the app.
 * @throws Error if its name, an option or its number of retries is wrong, or it has a schedule and an input
 */
export function defineJob<Input extends TSchema = TNull>(
  declaration: Declaration<Input>,
): Job<Input> {
  requireKnown(`The job ${declaration.name}`, declaration, options)
  const { name, schedule, retries = usualRetries, input = null } = declaration
  const fault = faultOf({ name, schedule, retries, input })
  if (fault !== null) throw new Error(`The job ${name} ${fault}.`)
  return { ...declaration, retries, input }
}

function faultOf({
  name,
  schedule,
  retries,
  input,
}: Pick<Job, 'name' | 'retries' | 'input'> & { schedule: string | undefined }): string | null {
  if (!isHyphenated(name)) return 'has a name that is not lower-case words with hyphens'
  if (!Number.isInteger(retries) || retries < 0 || retries > maxRetries) {
    return `has ${retries} retries, which is no number from 0 to ${maxRetries}`
  }
  if (schedule !== undefined && input !== null) {
    return 'has a schedule and an input, but a scheduled run is given none: remove one of them'
  }
  return null
}
