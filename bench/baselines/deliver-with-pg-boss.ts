import { once } from 'node:events'
import pg from 'pg'
import { PgBoss } from 'pg-boss'
import { Agent } from 'undici'
import { plainPost } from '../outbound/plain-post.ts'

/*
 * A worker as one would tune it by hand: one job per delivery with everything that it needs, fetched in
 * batches of 25 and at once on NOTIFY, one batch after the other or in several lines at once; the
 * outcomes of a batch are one statement, and so is the end of its jobs. It knows no attempts, limits or
 * states of endpoints, and checks no addresses. Runs until SIGTERM.
 */

const { DATABASE_URL = '', SECRET = '', LINES = '1' } = process.env
const batchSize = 25
const lines = Number(LINES)
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: lines })
const boss = new PgBoss({
  connectionString: DATABASE_URL,
  max: lines + 1,
  migrate: false,
  supervise: false,
})
const agent = new Agent({ connections: 32 })
let isEnding = false
let wake = () => {}

async function fetchAll(): Promise<void> {
  while (!isEnding) {
    const jobs = await boss.fetch<{ id: string; url: string; body: string }>('post', { batchSize })
    if (jobs.length === 0) {
      const woken = new Promise<void>((resolve) => {
        const before = wake
        wake = () => {
          before()
          resolve()
        }
      })
      await Promise.race([woken, new Promise((resolve) => setTimeout(resolve, 500))])
      continue
    }
    const statuses = await Promise.all(
      jobs.map(({ data }) => plainPost(agent, { secret: SECRET, ...data })),
    )
    await pool.query({
      name: 'record',
      text: `INSERT INTO posted (id, status_code, posted_at)
             SELECT *, now() FROM unnest($1::text[], $2::int[])`,
      values: [jobs.map(({ data }) => data.id), statuses],
    })
    await boss.complete(
      'post',
      jobs.map(({ id }) => id),
    )
  }
}

await boss.start()
const listener = new pg.Client({ connectionString: DATABASE_URL })
await listener.connect()
await listener.query('LISTEN posts')
listener.on('notification', () => {
  const now = wake
  wake = () => {}
  now()
})
const running = Array.from({ length: lines }, fetchAll)
process.send?.('started')
await once(process, 'SIGTERM')
isEnding = true
await Promise.all(running)
process.exit()
