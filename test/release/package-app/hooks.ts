import type { Hooks } from 'gatehouse'
import { fileNotesOf } from './jobs.ts'
import { notes } from './note.ts'

export const hooks: Hooks = {
  /** A new tenant begins with a note. */
  async 'tenant.created'({ tx, tenant, input }) {
    await tx.sql`
      INSERT INTO notes (tenant_id, author_id, title)
      VALUES (${tenant.id}::uuid, ${input.userId}, 'Welcome')`
  },
  async 'user.joined'({ input, publish }) {
    await publish(notes, 'introduced', { userId: input.userId })
  },
  /** After a payment the notes of the person are filed. */
  async 'billing.charge.succeeded'({ input: { userId }, enqueue }) {
    if (userId !== null) await enqueue(fileNotesOf, { userId })
  },
}
