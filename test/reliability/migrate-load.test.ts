import t from 'tap'
import { type Definitions, describe, readDefinitions } from '#src/schema/definitions.ts'
import { migrate } from '#src/schema/migrate.ts'
import { createOwnedDatabase } from '#test/support/database/database.ts'
import { reasonsOf, startInstance, troublesOf } from './instance.ts'
import { clients, startLoad } from './load.ts'

/** Of each kind of release; 2,000 in all. */
const requests = 500

const own = await readDefinitions()
const withMore = (part: keyof Definitions['scripts'], sql: string) =>
  describe({ ...own.scripts, [part]: [...own.scripts[part], sql] })

/** Releases by what they change, each time in another way. All requests read `sessions`, and most `orders`. */
const releases: Readonly<Record<string, (turn: number) => Definitions>> = {
  nothing: () => own,
  functions: (turn) =>
    withMore(
      'functions',
      `CREATE OR REPLACE FUNCTION extra_${turn}() RETURNS integer LANGUAGE sql RETURN ${turn};`,
    ),
  policies: (turn) =>
    withMore(
      'policies',
      `CREATE POLICY more ON orders AS RESTRICTIVE USING (user_id = (SELECT current_user_id()) AND id <> -${turn});
       CREATE POLICY more ON sessions AS RESTRICTIVE USING (user_id = (SELECT current_user_id()) AND user_id <> -${turn});`,
    ),
  triggers: (turn) =>
    withMore(
      'triggers',
      `CREATE TRIGGER more BEFORE DELETE ON orders FOR EACH ROW WHEN (OLD.id = -${turn}) EXECUTE FUNCTION note_erasure();
       CREATE TRIGGER more BEFORE DELETE ON sessions FOR EACH ROW WHEN (OLD.user_id = -${turn}) EXECUTE FUNCTION note_erasure();`,
    ),
}

t.test(
  'no request is refused because migrate replaces functions; changed policies refuse one at most of each client',
  async (t) => {
    const database = await createOwnedDatabase(t)
    const instance = await startInstance(t, database)
    const load = await startLoad(t, database, [instance])
    await load.more(50)
    for (const [changes, make] of Object.entries(releases)) {
      const [answered, refused, since] = [load.answered(), load.busy(), Date.now()]
      let turns = 0
      while (load.answered() < answered + requests && load.failures.length === 0) {
        turns += 1
        const { defined } = await migrate(database, { definitions: make(turns) })
        if (changes !== 'nothing') t.equal(defined, true)
      }
      await migrate(database, { definitions: own })
      const reasons = reasonsOf([instance], load.refusals.slice(refused), since)
      t.comment(
        `changes ${changes}: ${turns} runs, ${load.answered() - answered} requests, refused: ${JSON.stringify(reasons)}`,
      )
      // The tables are locked once in a run. A client sends one request after another, so one of each waits for them.
      const locks = changes === 'policies' || changes === 'triggers' ? (turns + 1) * clients : 0
      const timeouts = reasons.other.filter((reason) => /lock timeout/.test(reason))
      t.ok(timeouts.length <= locks, `${timeouts.length} lock timeouts`)
      t.strictSame(
        reasons.other.filter((reason) => !timeouts.includes(reason)),
        [],
        'all others are of a busy machine',
      )
    }
    await load.stop()
    t.strictSame(load.failures, [], 'each response is 200, or 503 with Retry-After')
    t.strictSame(troublesOf([instance], load), [], 'no verification finds a broken lock')
  },
)
