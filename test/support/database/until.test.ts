import { glob, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import t from 'tap'

/** It has a server of its own, whose checkpointer belongs to no database. */
const ownServer = 'test/billing/durable-database.ts'

/** Looks at the connections of the whole server: files run in parallel, each in its own database. */
const whole = /FROM pg_(locks|stat_activity)\b(?![^`]*\bdatname = \S)/

t.test(
  'a test looks at the connections of its own database only, and ends no others',
  async (t) => {
    t.match('SELECT FROM pg_locks WHERE NOT granted', whole)
    t.notMatch('SELECT FROM pg_stat_activity WHERE datname = current_database()', whole)
    const found: string[] = []
    const root = fileURLToPath(new URL('../../..', import.meta.url))
    for await (const path of glob('test/**/*.ts', { cwd: root })) {
      if ([ownServer, 'test/support/until.test.ts'].includes(path)) continue
      if (whole.test(await readFile(`${root}/${path}`, 'utf8'))) found.push(path)
    }
    t.same(found, [])
  },
)
