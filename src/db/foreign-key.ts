import { Prisma } from './generated/client.ts'

/** Whether a key of another table refused the write: it points at nothing, or is still pointed at. */
export function isForeignKeyViolation(error: unknown): boolean {
  return error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2003'
}
