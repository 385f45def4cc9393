import pg from 'pg'
import t from 'tap'
import { describeUnreachable } from '#src/schema/unreachable.ts'

const direct = 'postgres://app:hidden@db.example/gatehouse'
const pooled = 'postgres://app:hidden@pool.example:6432/gatehouse?pgbouncer=true'
const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })

t.test(
  'what cannot be reached is named: PostgreSQL, PgBouncer, or what is behind it',
  async (t) => {
    const cases: [string, Error, RegExp, RegExp][] = [
      [direct, refused, /^The database cannot be reached: connect ECONNREFUSED\.$/, /PostgreSQL/],
      [
        pooled,
        refused,
        /^PgBouncer at pool\.example:6432 cannot be reached/,
        /PgBouncer is running/,
      ],
      [
        pooled,
        new pg.DatabaseError('server login has been failing', 0, 'error'),
        /^PgBouncer at pool\.example:6432 responds with an error: server login/,
        /PostgreSQL behind it/,
      ],
      [
        direct,
        Object.assign(new AggregateError([refused]), { code: 'ECONNREFUSED' }),
        /reached: ECONNREFUSED\.$/,
        /DATABASE_URL/,
      ],
    ]
    for (const [url, error, problem, remedy] of cases) {
      const found = describeUnreachable('DATABASE_URL', url, error)
      t.match(found, { problem, remedy })
      t.notMatch(JSON.stringify(found), 'hidden')
    }
  },
)
