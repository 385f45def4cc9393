import { mock } from 'node:test'
import t from 'tap'
import { createOutageLog } from '#src/observability/outage-log.ts'

const away = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
const isOutage = (error: unknown) => error === away

t.test(
  'failures of an outage are one line a second without a stack, then one at its end',
  async (t) => {
    mock.timers.enable({ apis: ['setTimeout'] })
    t.teardown(() => mock.timers.reset())
    const lines: object[] = []
    const take = () => lines.splice(0)
    const to = (level: string) => (facts: object, msg: string) =>
      lines.push({ level, ...facts, msg })
    const sink = { debug: to('debug'), info: to('info'), warn: to('warn'), error: to('error') }
    const log = createOutageLog(sink, isOutage)

    log.error({ queue: 'deliver', err: away }, 'jobs could not be fetched')
    const msg = 'the database is unavailable'
    t.strictSame(take(), [
      {
        level: 'error',
        reason: 'connect ECONNREFUSED',
        affected: ['jobs could not be fetched'],
        failures: 1,
        msg,
      },
    ])
    for (let n = 0; n < 40; n++) {
      log.error({ queue: 'deliver', err: away }, 'jobs could not be fetched')
      log.warn({ err: away }, 'heartbeat failed')
    }
    t.strictSame(take(), [])
    mock.timers.tick(1_000)
    const affected = ['heartbeat failed', 'jobs could not be fetched']
    t.match(take(), [{ affected, failures: 80, msg }])

    log.warn({ err: new Error('another') }, 'billing event failed')
    log.info({ err: away }, 'told on purpose')
    t.match(
      take(),
      [
        { level: 'warn', err: { message: 'another' } },
        { level: 'info', msg: 'told on purpose' },
      ],
      'everything else is passed on',
    )
    mock.timers.tick(8_999)
    log.warn({ err: away }, 'heartbeat failed')
    t.match(take(), [{ failures: 1 }])
    mock.timers.tick(9_999)
    t.strictSame(take(), [])
    mock.timers.tick(1)
    t.match(take(), [{ level: 'info', msg: 'the database has caused no more failures' }])
    log.close()
    mock.timers.tick(60_000)
    t.strictSame(take(), [])
  },
)
