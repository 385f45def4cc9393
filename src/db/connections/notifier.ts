import { setTimeout as wait } from 'node:timers/promises'
import { Prisma } from '../generated/client.ts'
import type { Statement } from './one-trip.ts'

/** A channel of NOTIFY, and the payload of a notification. */
export type Notification = { readonly channel: string; readonly payload: string }

export type Notifier = {
  notify(notifications: readonly Notification[]): void
  /** Resolves when nothing is being sent. */
  settled(): Promise<void>
}

/**
 * Sends notifications, those of one moment together, one statement at a time. A notification that
 * cannot be sent is lost: those who wait for it look by themselves after a while.
 * @param gapMs under load one statement in this time notifies for many commits; a lone one is sent at once
 */
export function createNotifier(
  send: (statement: Statement) => Promise<unknown>,
  gapMs: number,
): Notifier {
  const waiting = new Map<string, Notification>()
  let isSending = false
  let sent = Promise.resolve()

  async function run(): Promise<void> {
    isSending = true
    while (waiting.size > 0) {
      const next = [...waiting.values()]
      waiting.clear()
      sent = send(statementOf(next)).then(
        () => {},
        () => {},
      )
      await sent
      await wait(gapMs)
    }
    isSending = false
  }

  return {
    notify(notifications) {
      for (const one of notifications) waiting.set(`${one.channel} ${one.payload}`, one)
      if (!isSending && waiting.size > 0) void run()
    },
    settled: () => sent,
  }
}

/** Its commit is asynchronous: a lost notification only means that the receiver polls. */
function statementOf(notifications: readonly Notification[]): Statement {
  return Prisma.sql`
    SELECT set_config('synchronous_commit', 'off', true), (
      SELECT count(pg_notify(channel, payload))
      FROM json_to_recordset(${JSON.stringify(notifications)}::text::json)
        AS one (channel text, payload text))`
}
