import { Prisma } from '#src/db/generated/client.ts'
import type { Queryable } from '#src/db/system-database.ts'
import type { Clock } from '#src/runtime/clock.ts'

/** Sign-ins accept an id_token for this long after its end, and nothing tolerates less. */
const toleratedMs = 30_000

/**
 * How many milliseconds the program's clock is ahead of the database's, negative if it is behind. Half
 * of the time that the question takes is uncertain.
 * @param question a statement that returns the database's clock
 */
export async function measureClockOffset(
  db: Queryable,
  clock: Clock,
  question: Prisma.Sql = Prisma.sql`SELECT clock_timestamp() AS now`,
): Promise<number> {
  const asked = clock.now().getTime()
  const [row] = await db.sql<{ now: Date }>(question)
  const answered = clock.now().getTime()
  return Math.round((asked + answered) / 2) - (row?.now.getTime() ?? answered)
}

/** Whether an offset is so large that sign-ins fail. */
export function isWrong(offsetMs: number): boolean {
  return Math.abs(offsetMs) > toleratedMs
}

/** `4 min 10 s ahead of`, `45 s behind`. */
export function describeOffset(offsetMs: number): string {
  const seconds = Math.round(Math.abs(offsetMs) / 1000)
  const minutes = Math.floor(seconds / 60)
  const length = minutes > 0 ? `${minutes} min ${seconds % 60} s` : `${seconds} s`
  return `${length} ${offsetMs > 0 ? 'ahead of' : 'behind'}`
}
