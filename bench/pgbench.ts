import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Measured, summarize } from './measured.ts'
import type { Place } from './place.ts'
import { runProgram } from './processes.ts'

/** One event and one job in one statement and one commit: the upper limit for one commit per event. */
const oneCommit = `
\\set n random(1, 9000000000000000000)
WITH event AS (
  INSERT INTO processed_events (event_id) VALUES ('evt_' || :n) RETURNING event_id
)
INSERT INTO pgboss.job (name, data)
SELECT 'billing-event', json_build_object('eventId', event_id) FROM event;
`

/** Commits one event and one job per transaction; null if pgbench is not installed. */
export async function measureOneCommit(
  { superuserUrl }: Place,
  clients: number,
  seconds: number,
): Promise<Measured | null> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-pgbench-'))
  const script = join(folder, 'one-commit.sql')
  const threads = Math.min(2, clients)
  try {
    await writeFile(script, oneCommit)
    const options = `-n -M prepared -c ${clients} -j ${threads} -T ${seconds} --log`.split(' ')
    const out = await runProgram('pgbench', [...options, '-f', script, superuserUrl], folder)
    if (out === null) {
      console.log('pgbench is not installed; its rows are omitted')
      return null
    }
    return summarize(await readTimes(folder), seconds, 0)
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** The log has a line per transaction; the third column is its duration in microseconds. */
async function readTimes(folder: string): Promise<number[]> {
  const files = (await readdir(folder)).filter((file) => file.startsWith('pgbench_log.'))
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')))
  const lines = texts.flatMap((text) => text.trim().split('\n'))
  return lines.map((line) => Number(line.split(' ')[2]) / 1_000)
}
