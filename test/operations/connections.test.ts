import pg from 'pg'
import t, { type Test } from 'tap'
import { testConfig } from '#dev/testing/settings.ts'
import { createLogger } from '#src/observability/logger.ts'
import { start } from '#src/server.ts'
import { readPage } from '#test/docs/page.ts'
import { createDatabase } from '#test/support/database/database.ts'

/** Every pool of the process adds a listener for errors; this notes how large it may become. */
function watchPools(t: Test): { total(): number } {
  const pools = new Set<pg.Pool>()
  const { on } = pg.Pool.prototype
  t.teardown(() => Object.assign(pg.Pool.prototype, { on }))
  Object.assign(pg.Pool.prototype, {
    on(this: pg.Pool, ...args: Parameters<typeof on>) {
      pools.add(this)
      return on.apply(this, args)
    },
  })
  return { total: () => [...pools].reduce((sum, { options }) => sum + (options.max ?? 0), 0) }
}

const page = await readPage('docs/operations.md')

for (const role of ['web', 'worker', 'all']) {
  for (const poolSize of [10, 3]) {
    t.test(`connections of ROLE=${role} with DATABASE_POOL_SIZE=${poolSize}`, async (t) => {
      const database = await createDatabase(t)
      const pools = watchPools(t)
      const settings = { ROLE: role, DATABASE_POOL_SIZE: String(poolSize) }
      const running = await start(testConfig(database, settings), createLogger('silent'))
      t.teardown(() => running.stop())
      const [, formula = '', atTen] =
        new RegExp(`^\\| \`${role}\` \\| ([^|]+) \\| (\\d+) \\|`, 'm').exec(page) ?? []
      t.equal(pools.total(), sumOf(formula, poolSize), formula)
      if (poolSize === 10) t.equal(pools.total(), Number(atTen))
    })
  }
}

/** Of a text such as `3 × P + P/2 (rounded up) + 8`. */
function sumOf(formula: string, poolSize: number): number {
  const terms = formula.split('+').map((term) => term.trim())
  return terms.reduce((sum, term) => {
    if (term.startsWith('P/2')) return sum + Math.ceil(poolSize / 2)
    const [factor = '', unit] = term.split(' × ')
    return sum + Number(factor) * (unit === 'P' ? poolSize : 1)
  }, 0)
}
