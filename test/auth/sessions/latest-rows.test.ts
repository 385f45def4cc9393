import t, { type Test } from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { enterCredential, type Person } from '#src/auth/sessions/enter.ts'
import { createLatestRows } from '#src/auth/sessions/latest-rows.ts'
import { sha256 } from '#src/crypto/hash.ts'
import { withSettings } from '#src/db/entry.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { openPatiently } from '#test/support/database/open.ts'
import { addSession, connect, enterSession, idleSeconds } from '../../db/credentials.ts'

t.test('of an entry only the facts are kept, not what a page shows or a setting', async (t) => {
  const { database, user, hash, db, latest } = await prepare(t)
  const people: Person[] = []
  const rules = { idleSeconds, operators: new Set<string>(), latest, onStale() {} }
  const onPerson = (person: Person) => void people.push(person)
  const entry = enterCredential({ kind: 'session', hash }, { ...rules, onPerson })
  const facts = Object.keys(await enterSession(await connect(t, database.url), hash))

  await db.read(entry)
  t.match(people, [{ tenants: [{ id: user.tenantId, role: 'admin' }] }], 'the page has it')
  t.strictSame(Object.keys(latest.get(hash) ?? {}), facts)
  const settings = withSettings(entry, () => ({ 'app.cause': 'request:1' }))
  await db.write(settings, async () => {})
  t.strictSame(Object.keys(latest.get(hash) ?? {}), facts)
})

t.test('only the facts of the credentials used last are kept', async (t) => {
  const latest = createLatestRows()
  const hashOf = (n: number) => sha256(String(n))
  const often = sha256('often')
  for (let n = 0; n < 20_000; n += 1) {
    latest.set(hashOf(n), { n })
    if (n % 1_000 === 0) latest.set(often, { at: n })
  }
  const kept = Array.from({ length: 20_000 }, (_, n) => n).filter((n) => latest.get(hashOf(n)))
  t.ok(kept.length >= 5_000 && kept.length <= 10_000, `${kept.length} of 20,000`)
  t.equal(kept[0], 20_000 - kept.length, 'the last ones')
  t.strictSame(latest.get(hashOf(19_999)), { n: 19_999 })
  t.strictSame(latest.get(often), { at: 19_000 }, 'the newest facts, not earlier ones')

  latest.set(hashOf(kept[0] ?? 0), undefined)
  latest.set(often, undefined)
  t.strictSame([latest.get(hashOf(kept[0] ?? 0)), latest.get(often)], [undefined, undefined])
})

t.test('how long ago a person authenticated is not foreseen', async (t) => {
  const { user, hash, db, latest } = await prepare(t)
  const rules = { idleSeconds, operators: new Set<string>(), latest, onStale() {} }
  const entry = enterCredential({ kind: 'session', hash }, rules)
  t.match(await db.read(entry), { userId: user.userId, authenticatedSecondsAgo: Number })
  const facts = entry.foreseen?.()?.facts
  t.match(facts, { userId: user.userId, authenticatedSecondsAgo: null })
})

async function prepare(t: Test) {
  const database = await createDatabase(t)
  const user = await createUser(database, { role: 'admin' })
  const hash = await addSession(database, user)
  const db = openPatiently(t, database.url, 1)
  return { database, user, hash, db, latest: createLatestRows() }
}
