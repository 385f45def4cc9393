import { readFile } from 'node:fs/promises'
import t from 'tap'
import { databaseDocument } from '#src/release/database.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { logins } from '#test/support/database/template.ts'

t.test('docs/database.md is generated from the catalogue (npm run generate)', async (t) => {
  const { admin } = await createDatabase(t)
  const client = await admin.connect()
  t.teardown(() => client.release())
  const roles = { web: logins.app.name, worker: logins.worker.name }
  const document = await readFile(new URL('../../docs/database.md', import.meta.url), 'utf8')
  t.equal(document, await databaseDocument(client, roles), 'as npm run generate writes it')
})
