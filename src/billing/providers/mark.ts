import { objectIn } from '../event.ts'

/** Marks an object at the provider as created by this installation for a user. */
export function markOf(userId: number, baseUrl: string) {
  return { gatehouse_user: String(userId), gatehouse_origin: baseUrl }
}

/** The user of such a mark; null for an object that this installation has not created. */
export function readUser(mark: unknown, baseUrl: string): number | null {
  const { gatehouse_user: user, gatehouse_origin: origin } = objectIn(mark)
  const id = typeof user === 'string' && /^[1-9]\d*$/.test(user) ? Number(user) : Number.NaN
  return origin === baseUrl && Number.isSafeInteger(id) ? id : null
}
