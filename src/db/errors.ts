import { Prisma } from '#src/db/generated/client.ts'
import { Problem } from '#src/http/problems.ts'

/** Whether a key of another table refused the write: it points at nothing, or is still pointed at. */
export function isForeignKeyViolation(error: unknown): boolean {
  return error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2003'
}

/**
 * For the `catch` of a write whose keys name who writes it.
 * @throws Refusal `forbidden` for who was removed since the request was let in
 */
export function refuseLeaver(error: unknown): never {
  throw isForeignKeyViolation(error) ? new Problem('forbidden') : error
}

/** True for an error of the driver that reports a duplicate key (SQLSTATE 23505). */
export function isUniqueViolation(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '23505'
}
