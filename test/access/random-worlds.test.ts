import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { documents } from '#shop/resources/documents.ts'
import { orders } from '#shop/resources/orders.ts'
import { posts } from '#shop/resources/posts.ts'
import { decide, decideWithoutObject, policy } from '#src/access/policy.ts'
import type { Tx } from '#src/db/database.ts'
import { invoices } from '#src/resources/invoices.ts'
import { actionsOf } from '#src/rows/actions.ts'
import { attemptsAs } from '#test/db/attempt.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { openPatiently } from '#test/support/database/open.ts'
import { allowScopes, type TestScope } from '#test/support/database/scope.ts'
import { anyWorld, createObjects, type Made, type Viewer } from './random-world.ts'

const { list: listDocuments } = actionsOf(documents)
const { list: listInvoices } = actionsOf(invoices)
const { list: listOrders } = actionsOf(orders)
const { change: changePost, list: listPosts } = actionsOf(posts)

const runs = 60
const all = { limit: 100, after: null }

/** Further facts of a caller with a session. */
const inSession = {
  ...{ operator: false, tokenPermissions: null, sessionId: 'x', authenticatedSecondsAgo: 0 },
  serviceId: null,
  plan: null,
}

type Scope = { userId: number; tenantId: string }
type Listed = 'order' | 'post' | 'invoice' | 'document'
type List = (tx: Tx, scope: Scope) => Promise<{ data: { id: number }[] }>

/** The ids that a list of the program shows in the scope. */
const lists: Readonly<Record<Listed, List>> = {
  order: (tx: Tx, scope: Scope) => listOrders(tx, scope, all),
  post: (tx: Tx, scope: Scope) => listPosts(tx, scope, all),
  invoice: (tx: Tx, scope: Scope) => listInvoices(tx, scope, all),
  document: (tx: Tx, scope: Scope) => listDocuments(tx, scope, all),
}

/** The decision of the policy, with the scope applied to plain facts. */
function mayRead(viewer: Viewer, resource: Listed, object: Made): boolean {
  const caller = { ...viewer, ...inSession }
  const { effect, rule } = decideWithoutObject({ caller, resource, action: 'read' })
  if (effect !== 'allow' || rule === null) return false
  if (rule.scope === 'owner') return object.ownerId === viewer.userId
  const inTenant = object.tenantId === viewer.tenantId
  return inTenant && (rule.scope === 'tenant' || object.team.includes(viewer.userId))
}

t.test('in any world the decision, the list and row-level security agree', async (t) => {
  const database = await createDatabase(t)
  const db = openPatiently(t, database.url, 4)
  const entryOf = await allowScopes<TestScope>(database)
  const attempt = await attemptsAs(t, database, database.url)
  let seen = 0
  let hidden = 0
  await fc.assert(
    fc.asyncProperty(anyWorld, async (plan) => {
      const { objects, viewer } = await createObjects(database, plan)
      for (const resource of ['order', 'post', 'invoice', 'document'] as const) {
        const decided = ids(objects[resource].filter((one) => mayRead(viewer, resource, one)))
        const listed = await db.read(entryOf(viewer), (tx) => lists[resource](tx, viewer))
        const rows = await attempt(viewer, `SELECT id FROM ${resource}s`)
        assert.deepEqual(ids(listed.data), decided, `the list of ${resource}s`)
        assert.deepEqual(
          'data' in rows && ids(rows.data),
          decided,
          `row-level security, ${resource}s`,
        )
        seen += decided.length
        hidden += objects[resource].length - decided.length
      }
    }),
    { numRuns: runs },
  )
  t.ok(seen > runs && hidden > runs, `${seen} objects seen, ${hidden} hidden`)
})

t.test('in any world a change of a post follows the decision', async (t) => {
  const database = await createDatabase(t)
  const db = openPatiently(t, database.url, 4)
  const entryOf = await allowScopes<TestScope>(database)
  const outcomes = new Set<string>()
  const hours = fc.constantFrom('08:59:59.999', '09:00:00.000', '12:30:00.000', '17:00:00.000')
  await fc.assert(
    fc.asyncProperty(anyWorld, hours, async (plan, hour) => {
      const { objects, viewer } = await createObjects(database, plan)
      const now = new Date(`2026-11-21T${hour}Z`)
      const caller = { ...viewer, ...inSession }
      for (const object of objects.post) {
        const { effect } = decide({ caller, resource: 'post', action: 'update', object, now })
        const decided = object.tenantId !== viewer.tenantId ? 'missing' : effect
        const outcome = await db
          .write(entryOf(viewer), (tx) =>
            changePost({ tx, caller, now }, object.id, { title: 'Another' }),
          )
          .then(
            () => 'changed',
            ({ code }) => code,
          )
        const expected = { missing: 'not-found', allow: 'changed', deny: 'forbidden' }[decided]
        assert.equal(outcome, expected)
        outcomes.add(outcome)
      }
    }),
    { numRuns: runs },
  )
  t.same([...outcomes].toSorted(), ['changed', 'forbidden', 'not-found'], 'every outcome occurred')
})

t.test('every kind of scope is covered by a resource', async (t) => {
  const scopes = new Set(policy.map(({ scope }) => scope))
  const covered = policy.filter(({ resource }) => Object.hasOwn(lists, resource))
  t.same(
    new Set(covered.map(({ scope }) => scope)),
    scopes.difference(new Set(['operator', 'self', 'app'])),
  )
})

function ids(rows: readonly object[]): number[] {
  return rows.map((row) => Number('id' in row && row.id)).toSorted((a, b) => a - b)
}
