import type { Test } from 'tap'
import { build } from './app.ts'

export const noon = '2026-03-04T12:00:00.000Z'

/** The server at a time that the test sets: `clock.time`, which stands still. */
export async function buildAt(t: Test, time = noon) {
  const clock = { time, now: () => new Date(clock.time) }
  return { ...(await build(t, {}, { clock })), clock }
}
