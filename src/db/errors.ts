import { setTimeout } from 'node:timers/promises'
import { Prisma } from '#src/db/generated/client.ts'

/** True for a foreign-key violation: the referenced row is missing, or the row is still referenced. */
export function isForeignKeyViolation(error: unknown): boolean {
  return error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2003'
}

// serialization_failure, deadlock_detected
const rollbackCodes: readonly unknown[] = ['40001', '40P01']

/**
 * True when PostgreSQL has rolled a transaction back to let another one go on: run again, it can
 * succeed. Prisma names the same P2034, or P2010 where the statement was hand-written.
 */
export function isRolledBackForAnother(error: unknown): boolean {
  if (error instanceof Prisma.PrismaClientKnownRequestError) {
    return error.code === 'P2034' || rollbackCodes.includes(originalCode(error.meta))
  }
  return error instanceof Error && 'code' in error && rollbackCodes.includes(error.code)
}

/** The SQLSTATE that Prisma's adapter met with. */
function originalCode(meta: Record<string, unknown> | undefined): unknown {
  const cause = meta?.driverAdapterError instanceof Error ? meta.driverAdapterError.cause : null
  return typeof cause === 'object' && cause !== null && 'originalCode' in cause
    ? cause.originalCode
    : null
}

const pauseMs = 50 // without it the second run could lock its first row before the other wakes up

/** Runs `work`; once more if it fails for a reason that `mayPass` the second time. */
export async function tryTwice<T>(
  work: () => Promise<T>,
  mayPass: (error: unknown) => boolean,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!mayPass(error)) throw error
    if (isRolledBackForAnother(error)) await setTimeout(pauseMs)
    return work()
  }
}

/** True for an error of the driver that reports a duplicate key (SQLSTATE 23505). */
export function isUniqueViolation(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '23505'
}
