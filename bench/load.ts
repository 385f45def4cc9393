import { createHmac, randomBytes } from 'node:crypto'
import autocannon from 'autocannon'

/*
 * The load generator, a process of its own: signed new events, each once, over as many connections
 * as asked for. Prints its result as JSON.
 */

const [url = '', secret = '', connections = '1', seconds = '1'] = process.argv.slice(2)
const run = randomBytes(6).toString('hex')
let sent = 0

const times: number[] = []
const options: autocannon.Options = {
  url: `${url}/webhooks/billing`,
  connections: Number(connections),
  duration: Number(seconds),
  requests: [
    {
      method: 'POST',
      setupRequest(request) {
        const time = Math.floor(Date.now() / 1000)
        const body = JSON.stringify({
          id: `evt_${run}_${sent++}`,
          type: 'charge.succeeded',
          created: time,
          data: { object: { id: 'ch_1', customer: 'cus_1', amount: 4_900, currency: 'eur' } },
        })
        const v1 = createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')
        const headers = {
          'content-type': 'application/json',
          'webhook-signature': `t=${time},v1=${v1}`,
        }
        return { ...request, body, headers }
      },
    },
  ],
}
const result = await new Promise<autocannon.Result>((resolve, reject) => {
  const running = autocannon(options, (error, result) => (error ? reject(error) : resolve(result)))
  // autocannon's own histogram has whole milliseconds.
  running.on('response', (_client, _status, _bytes, ms) => times.push(ms))
})
times.sort((a, b) => a - b)

console.log(
  JSON.stringify({
    perSecond: result['2xx'] / result.duration,
    p50Ms: times[Math.floor(times.length * 0.5)],
    p99Ms: times[Math.floor(times.length * 0.99)],
    failed: result.non2xx + result.errors,
  }),
)
