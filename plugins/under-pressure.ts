import fastifyUnderPressure from '@fastify/under-pressure'
import fp from 'fastify-plugin'
import { Problem } from '#src/http/problems.ts'

// A second behind on everything: whoever waits longer is better served by another process, later.
const longestDelayMs = 1_000
const retryAfterSeconds = 5
// The start itself keeps the event loop busy, and what is measured is a mean over a second.
const settleMs = 2_500

type Options = { maxEventLoopDelayMs?: number; settleAfterMs?: number }

/**
 * A process that cannot keep up says so at once, 503 with `Retry-After`, rather than ever later. Not
 * for webhooks: these have a time limit of their own and are to be recorded as long as it can be kept.
 */
export default fp<Options>(
  async function underPressure(
    app,
    { maxEventLoopDelayMs = longestDelayMs, settleAfterMs = settleMs },
  ) {
    let isUnderPressure = () => false
    let settledAt = Number.POSITIVE_INFINITY
    // In a scope of its own: the library measures, the hook with a name refuses.
    await app.register(async function pressure(app) {
      await app.register(fastifyUnderPressure, { maxEventLoopDelay: maxEventLoopDelayMs })
      isUnderPressure = app.isUnderPressure
    })
    app.addHook('onListen', async function beginToSettle() {
      settledAt = performance.now() + settleAfterMs
    })
    app.addHook('onRequest', async function refuseOverload() {
      if (performance.now() < settledAt || !isUnderPressure()) return
      throw new Problem('unavailable', { retryAfterSeconds })
    })
  },
  { name: 'under-pressure', fastify: '5.x' },
)
