import t from 'tap'
import { enterCredential, type Person } from '#src/auth/sessions/enter.ts'
import { createLatestRows } from '#src/auth/sessions/latest-rows.ts'
import { openDatabase } from '#src/db/database.ts'
import { withSettings } from '#src/db/entry.ts'
import { createUser } from '#test/support/callers/callers.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { addSession, connect, enterSession, idleSeconds } from '../../db/credentials.ts'

t.test('of an entry only the facts are kept, not what a page shows or a setting', async (t) => {
  const database = await createDatabase(t)
  const user = await createUser(database, { role: 'admin' })
  const hash = await addSession(database, user)
  const db = openDatabase(database.url, 1)
  t.teardown(() => db.close())
  const latest = createLatestRows()
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
