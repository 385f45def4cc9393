import { Agent } from 'undici'
import { plainPost } from './plain-post.ts'

/*
 * The upper limit: undici posts the same signed bodies with the same concurrency, without database and
 * address checks. Prints deliveries per second.
 */

const [ports = '', perEndpoint = '1', seconds = '1', secret = '', body = ''] = process.argv.slice(2)
const agent = new Agent({ connections: Number(perEndpoint) })
const end = performance.now() + Number(seconds) * 1_000
let sent = 0

async function post(port: string): Promise<void> {
  while (performance.now() < end) {
    const id = `msg_plain${sent++}`
    await plainPost(agent, { url: `http://127.0.0.1:${port}`, secret, id, body })
  }
}

const lanes = ports.split(',').flatMap((port) => Array(Number(perEndpoint)).fill(port))
const begun = performance.now()
await Promise.all(lanes.map(post))
console.log(JSON.stringify({ perSecond: (sent / (performance.now() - begun)) * 1_000 }))
await agent.close()
