import fastifyUnderPressure from '@fastify/under-pressure'
import fp from 'fastify-plugin'
import { Problem } from '#src/http/problems.ts'

// With a delay of 1 s, another process or a later attempt serves the client better.
const defaultMaxDelayMs = 1_000
/** What a refused request is told, and the log says. */
export const overloadDetail =
  'The process is overloaded: its event loop is behind by more than the limit.'
const refused = {
  detail: overloadDetail,
  retryAfterSeconds: 5,
  reason: 'overloaded',
}
// Startup blocks the event loop, and the measured delay is a mean over one second.
const startupGraceMs = 2_500

type Options = { maxEventLoopDelayMs?: number; graceMs?: number }

/**
 * An overloaded process answers immediately with 503 and `Retry-After`. Not used for webhooks, which
 * have their own time limit and are recorded as long as it can be met.
 */
export default fp<Options>(
  async function underPressure(
    app,
    { maxEventLoopDelayMs = defaultMaxDelayMs, graceMs = startupGraceMs },
  ) {
    let isUnderPressure = () => false
    let graceEndsAt = Number.POSITIVE_INFINITY
    // In its own scope: the library only measures, and the hook below refuses requests.
    await app.register(async function pressure(app) {
      await app.register(fastifyUnderPressure, { maxEventLoopDelay: maxEventLoopDelayMs })
      isUnderPressure = app.isUnderPressure
    })
    app.addHook('onListen', async function startGracePeriod() {
      graceEndsAt = performance.now() + graceMs
    })
    app.addHook('onRequest', function refuseOverload(_request, _reply, done) {
      const isRefused = performance.now() >= graceEndsAt && isUnderPressure()
      done(isRefused ? new Problem('unavailable', refused) : undefined)
    })
  },
  { name: 'under-pressure', fastify: '5.x' },
)
