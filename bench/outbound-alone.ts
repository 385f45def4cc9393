import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrate } from '#src/db/migrate.ts'
import { createOwnerAndDatabase } from '#src/demo/demo.ts'
import { removePostgres, startPostgres } from '#src/demo/embedded-postgres.ts'
import { measureOutbound } from './outbound.ts'

/* Outbound webhooks alone, on a PostgreSQL of their own: node bench/outbound-alone.ts [runs] [seconds] */

const [runs = '3', seconds = '5'] = process.argv.slice(2)
const folder = await mkdtemp(join(tmpdir(), 'gatehouse-bench-'))
await chmod(folder, 0o711)
const dataDir = join(folder, 'postgres')
const postgres = await startPostgres({ dataDir, settings: { max_connections: '200' } })
try {
  const owner = { name: 'gatehouse_owner', password: 'owner' }
  await createOwnerAndDatabase(postgres.url('postgres'), owner)
  const url = postgres.url('gatehouse', { name: 'gatehouse_app', password: 'app' })
  await migrate({ ownerUrl: postgres.url('gatehouse', owner), url, workerUrl: url })
  const place = { url, superuserUrl: postgres.url('gatehouse') }
  const effort = { runs: Number(runs), seconds: Number(seconds) }
  const { ratios, measures } = await measureOutbound(place, effort)
  for (const { measure, value, goal } of ratios) console.log(`${measure}: ${value} (${goal})`)
  for (const row of measures) console.log(row.join(' | '))
} finally {
  await postgres.stop()
  await removePostgres(dataDir)
  await rm(folder, { recursive: true, force: true })
}
