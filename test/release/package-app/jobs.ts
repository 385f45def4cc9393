import { defineJob } from 'gatehouse'
import Type from 'typebox'

/** Files the notes whose title has not changed for a year. */
export const fileNotes = defineJob({
  name: 'file-notes',
  schedule: '0 3 * * *',
  async run({ tx, now, log }) {
    const before = new Date(now.getTime() - 365 * 86_400_000)
    const filed = await tx.sql`
      UPDATE notes SET title = 'Filed: ' || title
      WHERE updated_at < ${before} AND title NOT LIKE 'Filed: %' RETURNING id`
    log.info({ notes: filed.length }, 'notes filed')
  },
})

/** Files the notes of one person; enqueued with `enqueue(fileNotesOf, { userId })`. */
export const fileNotesOf = defineJob({
  name: 'file-notes-of',
  input: Type.Object({ userId: Type.Integer() }),
  retries: 5,
  async run({ tx, input }) {
    await tx.sql`UPDATE notes SET title = 'Filed: ' || title WHERE author_id = ${input.userId}`
  },
})
