import { setTimeout as wait } from 'node:timers/promises'

/** A channel of NOTIFY, and the payload of a notification. */
export type Notification = { readonly channel: string; readonly payload: string }

/** Under load one statement in this time notifies for many commits; a lone one is sent at once. */
const gapMs = 10

/**
 * Sends notifications, those of one moment together, one statement at a time. A notification that
 * cannot be sent is lost: those who wait for it look by themselves after a while.
 * @param send writes one statement for all of them
 */
export function createNotifier(
  send: (notifications: readonly Notification[]) => Promise<unknown>,
): (notifications: readonly Notification[]) => void {
  const waiting = new Map<string, Notification>()
  let isSending = false

  async function run(): Promise<void> {
    isSending = true
    while (waiting.size > 0) {
      const next = [...waiting.values()]
      waiting.clear()
      await send(next).catch(() => {})
      await wait(gapMs)
    }
    isSending = false
  }

  return (notifications) => {
    for (const one of notifications) waiting.set(`${one.channel} ${one.payload}`, one)
    if (!isSending && waiting.size > 0) void run()
  }
}
