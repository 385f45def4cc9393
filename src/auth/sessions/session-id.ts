import { randomToken } from '#src/crypto/hash.ts'

/** `p` for the session of a person, `a` for that of a browser that has not signed in. */
type Kind = 'a' | 'p'

const form = /^([ap])([0-9a-z]{6,8})-/

/** An id for the session of a person. */
export function newSessionId(): string {
  return makeId('p')
}

/** An id for a browser that has not signed in. It never becomes that of a person. */
export function newAnonymousId(): string {
  return makeId('a')
}

/** Kind, time of issue in Unix seconds and base 36, and 256 random bits. The cookie has it signed. */
function makeId(kind: Kind): string {
  return `${kind}${unixSeconds().toString(36)}-${randomToken()}`
}

export function isAnonymousId(id: string): boolean {
  return id.startsWith('a')
}

const clockDifferenceSeconds = 300 // between processes

/** Whether a session with this id must be over by now, so that the database need not be asked. */
export function isOverdue(id: string, absoluteSeconds: number): boolean {
  const [, , issued] = form.exec(id) ?? []
  if (issued === undefined) return true
  return unixSeconds() - Number.parseInt(issued, 36) > absoluteSeconds + clockDifferenceSeconds
}

/** By the clock of the machine, because the database ends sessions by its own and not by an injected one. */
function unixSeconds(): number {
  return Math.floor(Date.now() / 1_000)
}
