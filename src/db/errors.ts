import { Prisma } from '#src/db/generated/client.ts'
import { Problem } from '#src/http/problems.ts'

/** Whether the error is a foreign-key violation. */
export function isForeignKeyViolation(error: unknown): boolean {
  return error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2003'
}

/**
 * For the `catch` of a write with a foreign key to its author: maps a violation to 403, because the
 * author was removed while the request ran.
 * @throws Problem `forbidden`, or the given error
 */
export function refuseLeaver(error: unknown): never {
  throw isForeignKeyViolation(error) ? new Problem('forbidden') : error
}

/** True for an error of the driver that reports a duplicate key (SQLSTATE 23505). */
export function isUniqueViolation(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '23505'
}
