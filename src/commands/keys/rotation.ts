import { identityTokenSeconds, keySetSeconds } from '#src/auth/forward-auth/identity-token.ts'
import { findKeyFaults, type SeenKeys } from '#src/operations/running-processes.ts'

/** What comes next in the rotation of a setting, and whether doing it now breaks nothing. */
export type NextStep = { setting: string; next: string; safe: boolean }

/**
 * The next step of `a`, `a,b` everywhere, `b,a` everywhere, `gatehouse keys rotate`, `b`. Each step is
 * safe once every process has taken the one before.
 * @param configured ids in the setting of this command
 * @param inUse ids of the keys that encrypt stored values
 */
export function nextEncryptionStep(
  configured: readonly string[],
  inUse: ReadonlySet<string>,
  seen: readonly SeenKeys[],
): NextStep {
  const setting = 'ENCRYPTION_KEYS'
  const all = ofEncryption(seen)
  const running = all.filter(isRunning)
  const own: SeenKeys = {
    ...{ role: 'command', encryptionKeys: configured, sessionSecrets: [] },
    ...{ running: 1, startedAt: new Date(), lastSeenAt: new Date() },
  }
  const lost = [...inUse].find((id) => !configured.includes(id))
  if (lost !== undefined) return unsafe(setting, `Add the key ${lost}: stored values need it.`)
  // First what is wrong already, then what a process with this setting would break.
  const fault = findKeyFaults(running)[0] ?? findKeyFaults([...running, own])[0]
  if (fault !== undefined) return unsafe(setting, fault)
  const others = running.filter(({ encryptionKeys }) => !isSame(encryptionKeys, configured))
  if (others.length > 0) {
    const rest = `${count(others)} of ${count(running)} running processes`
    return safe(setting, `Restart the other ${rest} with ${configured.join()}.`)
  }
  const [first = '', ...older] = configured
  if (older.some((id) => inUse.has(id))) return safe(setting, 'Run `gatehouse keys rotate`.')
  const [old, ...rest] = older
  if (old === undefined) {
    return safe(setting, `None. To rotate, restart every process with ${first},NEW.`)
  }
  // Identity tokens: a key is published before it signs, and until its last token has expired.
  const before = all.filter(({ encryptionKeys }) => encryptionKeys[0] === old)
  if (before.length > 0) {
    const next = `Restart every process with ${[first, ...rest].join()}: ${old} is no longer needed`
    const since = latest(before.map(({ lastSeenAt }) => lastSeenAt))
    return safe(setting, `${next} when ${identityTokenSeconds} s have passed since ${since}.`)
  }
  const next = `Restart every process with ${[old, first, ...rest].join()}`
  if (running.length === 0) return safe(setting, `${next}.`)
  const since = latest(running.map(({ startedAt }) => startedAt))
  return safe(setting, `${next} when ${keySetSeconds} s have passed since ${since}.`)
}

/**
 * The next step of `old`, `old,new` everywhere, `new,old` everywhere, `new` when every cookie that the
 * old secret has signed has expired. Secrets are named by their fingerprints.
 * @returns null if no process that signs cookies was seen
 */
export function nextSessionStep(seen: readonly SeenKeys[]): NextStep | null {
  const setting = 'SESSION_SECRETS'
  const all = seen
    .filter(({ sessionSecrets }) => sessionSecrets.length > 0)
    .map((keys) => ({ ...keys, encryptionKeys: [] }))
  const running = all.filter(isRunning)
  const [one] = running
  if (one === undefined) return null
  const [fault] = findKeyFaults(running)
  if (fault !== undefined) return unsafe(setting, `${fault} Sign-ins fail until then.`)
  const { sessionSecrets } = one
  if (running.some((keys) => !isSame(keys.sessionSecrets, sessionSecrets))) {
    return safe(setting, 'Restart the remaining processes: they have different secrets.')
  }
  const [first = '', old] = sessionSecrets
  if (old === undefined) {
    return safe(setting, 'None. To rotate, restart every process with the new secret added last.')
  }
  const before = all.filter((keys) => keys.sessionSecrets[0] === old)
  if (before.length === 0) {
    return safe(setting, `Restart every process with ${old} (fingerprint) first, ${first} second.`)
  }
  const since = latest(before.map(({ lastSeenAt }) => lastSeenAt))
  const limit = 'SESSION_ABSOLUTE_SECONDS have passed since'
  return safe(setting, `Remove ${old} (fingerprint) when ${limit} ${since}.`)
}

/** RFC 3339 in UTC. */
function latest(times: readonly Date[]): string {
  return new Date(Math.max(...times.map((time) => time.getTime()))).toISOString()
}

function ofEncryption(seen: readonly SeenKeys[]): SeenKeys[] {
  return seen.map((keys) => ({ ...keys, sessionSecrets: [] }))
}

function isRunning({ running }: SeenKeys): boolean {
  return running > 0
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  return some.join() === others.join()
}

function count(seen: readonly SeenKeys[]): number {
  return seen.reduce((sum, { running }) => sum + running, 0)
}

function safe(setting: string, next: string): NextStep {
  return { setting, next, safe: true }
}

function unsafe(setting: string, next: string): NextStep {
  return { setting, next, safe: false }
}
