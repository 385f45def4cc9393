import { type BillingFact, defineJob, type Hook, type PersonFact } from 'gatehouse'
import Type from 'typebox'
import { notes } from './resources/notes.ts'

/** Writes down what has happened. It fails in a tenant that has a note `fail`. */
export function noteOf(title: string): Hook<PersonFact> {
  return async ({ tx, tenant, input }) => {
    await tx.sql`
      INSERT INTO notes (tenant_id, title, place, status)
      VALUES (${tenant.id}::uuid, ${title}, ${input.userId}, 'published')`
    const [failing] = await tx.sql`SELECT FROM notes WHERE title = 'fail'`
    if (failing !== undefined) throw new Error('the note says so')
  }
}

/** Writes the same as `noteOf`, later. */
export const remember = defineJob({
  name: 'remember',
  input: Type.Object({ title: Type.String(), userId: Type.Integer() }),
  run: async ({ input, ...work }) => noteOf(input.title)({ ...work, input }),
})

/** Tells the endpoints of the tenant, and adds a job. */
export const greet: Hook<PersonFact> = async ({ input: { userId }, publish, enqueue }) => {
  await publish(notes, 'greeted', { userId })
  await enqueue(remember, { title: 'joined', userId })
}

/** Writes down a payment. */
export const record: Hook<BillingFact> = async ({ input, ...work }) => {
  const { userId, kind, amount, currency } = input
  await noteOf(`${kind} of ${amount} ${currency}`)({ ...work, input: { userId: userId ?? 0 } })
}

/** Never ends. */
export const wait: Hook<BillingFact> = () => new Promise(() => {})
