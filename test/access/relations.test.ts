import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { documents } from '#shop/resources/documents.ts'
import type { TenantScope } from '#src/access/caller.ts'
import type { ChainScope } from '#src/access/relations.ts'
import { type Database, openDatabase } from '#src/db/database.ts'
import type { Entry } from '#src/db/entry.ts'
import { Problem } from '#src/http/problems.ts'
import { actionsOf } from '#src/rows/actions.ts'
import { changeFolder } from '#src/teams/folders.ts'
import { attemptsAs } from '#test/db/attempt.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { patient } from '#test/support/database/open.ts'
import { allowScopes } from '#test/support/database/scope.ts'
import { createRandomWorld, randomWorld } from './random-relations.ts'

const { update: changeDocument, find: findDocument, list: listDocuments } = actionsOf(documents)

t.test('model, check, list, change and each lock alone agree on the chain', async (t) => {
  const database = await createDatabase(t)
  const db = openDatabase(database.url, 2, patient)
  // A superuser bypasses row-level security, so this shows what the queries alone find.
  const unguarded = openDatabase(database.superuserUrl, 2, patient)
  t.teardown(() => Promise.all([db.close(), unguarded.close()]))
  const entryOf = await allowScopes<ChainScope>(database)
  const tenantEntryOf = await allowScopes<TenantScope>(database)
  const attempt = await attemptsAs(t, database, database.url)
  const seen = { reached: 0, hidden: 0, moved: 0, refused: 0 }

  const property = fc.asyncProperty(randomWorld, async (plan) => {
    const world = await createRandomWorld(database, plan)
    await compare(world)
    for (const { folder, target } of world.moves) {
      const outcome = await move(folder, target)
      assert.equal(outcome, world.move(folder, target) ? 'moved' : 'refused')
      seen[outcome] += 1
      await compare(world)
    }

    async function move(folder: number, target: { teamId: number } | { parentId: number }) {
      const { tenantId } = world
      const work = db.write(tenantEntryOf({ tenantId }), (tx) =>
        changeFolder(tx, { tenantId }, folder, target, new Date()),
      )
      return work.then(
        () => 'moved' as const,
        (error: unknown) => {
          if (error instanceof Problem && error.code === 'conflict') return 'refused' as const
          throw error
        },
      )
    }
  })

  async function compare(world: Awaited<ReturnType<typeof createRandomWorld>>) {
    for (const userId of world.users) {
      const caller = { tenantId: world.tenantId, userId }
      const reachable = world.documents.filter((id) => world.reaches(userId, id))
      seen.reached += reachable.length
      seen.hidden += world.documents.length - reachable.length
      for (const one of [db, unguarded]) {
        assert.deepEqual(await listAll(one, entryOf(caller), world.limit), reachable.toReversed())
      }
      const shown = await attempt(caller, 'SELECT id::int FROM documents ORDER BY id')
      assert.deepEqual('data' in shown && shown.data.map(({ id }) => id), reachable)
      for (const id of world.documents) {
        const expected = reachable.includes(id) ? id : undefined
        for (const one of [db, unguarded]) {
          const read = await one.read(entryOf(caller), findDocument(id))
          assert.equal(read?.id, expected)
          const changed = await one.write(entryOf(caller), (tx) =>
            changeDocument(tx, caller, id, { title: 'Changed' }, new Date()),
          )
          assert.equal(changed?.id, expected)
        }
      }
    }
  }

  for (let more = 0; more < 4 && Object.values(seen).includes(0); more += 1) {
    await fc.assert(property, { numRuns: 25 })
  }
  for (const [what, times] of Object.entries(seen)) t.ok(times > 0, `${times} ${what}`)
})

/** The ids of all pages. */
async function listAll(db: Database, entry: Entry<ChainScope>, limit: number): Promise<number[]> {
  const ids: number[] = []
  for (let after: string[] | null = null; ; ) {
    const page = { limit, after }
    const { data, nextCursor } = await db.read(entry, (tx, caller) =>
      listDocuments(tx, caller, page),
    )
    ids.push(...data.map(({ id }) => id))
    if (nextCursor === null) return ids
    after = [String(ids.at(-1))]
  }
}
