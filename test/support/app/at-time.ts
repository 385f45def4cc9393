import { setTimeout as pause } from 'node:timers/promises'
import type { Test } from 'tap'
import { build } from './app.ts'

export const noon = '2026-03-04T12:00:00.000Z'

/** The server at a time that the test sets: `clock.time`, which stands still. */
export async function buildAt(t: Test, time = noon) {
  const clock = { time, now: () => new Date(clock.time) }
  return { ...(await build(t, {}, { clock })), clock }
}

const dayMs = 86_400_000
const longestTestMs = 60_000

/** For a test of what the database counts by days in UTC: waits if the next one is about to begin. */
export async function awayFromMidnight(): Promise<void> {
  const leftMs = dayMs - (Date.now() % dayMs)
  if (leftMs < longestTestMs) await pause(leftMs)
}
