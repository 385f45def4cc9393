import { Agent } from 'undici'
import { warmUpMs } from '../measured.ts'
import { plainPost } from './plain-post.ts'

/*
 * The upper limit: undici posts the same signed bodies with the same concurrency, without database and
 * address checks. Prints deliveries per second after the warm-up.
 */

const [ports = '', perEndpoint = '1', seconds = '1', secret = '', body = ''] = process.argv.slice(2)
const agent = new Agent({ connections: Number(perEndpoint) })
const begun = performance.now() + warmUpMs
const end = begun + Number(seconds) * 1_000
let sent = 0
let measured = 0

async function post(port: string): Promise<void> {
  while (performance.now() < end) {
    const id = `msg_plain${sent++}`
    await plainPost(agent, { url: `http://127.0.0.1:${port}`, secret, id, body })
    if (performance.now() >= begun) measured += 1
  }
}

const lanes = ports.split(',').flatMap((port) => Array(Number(perEndpoint)).fill(port))
await Promise.all(lanes.map(post))
console.log(JSON.stringify({ perSecond: (measured / (performance.now() - begun)) * 1_000 }))
await agent.close()
