import { readFile } from 'node:fs/promises'
import t from 'tap'
import { tableNamesOf } from '#src/resources/kit/names.ts'
import { app } from '#src/resources/running-app.ts'
import { prismaSchemaOf } from '#src/schema/app-tables/prisma-schema.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { differenceTo, differentColumns } from '#test/support/database/difference.ts'

const schemaFile = new URL('../../prisma/schema.prisma', import.meta.url)

t.test('the migrations and schema.prisma describe the same database', async (t) => {
  const database = await createDatabase(t)
  const content = await readFile(schemaFile, 'utf8')
  // The migrations of the app create its tables, which schema.prisma does not have.
  const others = tableNamesOf(app.resources)
  const difference = (to: string) => differenceTo(database.ownerUrl, to, others)
  t.strictSame(await difference(content), '-- This is an empty migration.\n')
  t.match(
    await difference(content.replace('currency       String', 'currency       Int')),
    /"currency"/,
    'a changed column is detected',
  )
})

t.test('the schema for the typed client of an app describes its tables', async (t) => {
  const { ownerUrl } = await createDatabase(t)
  const content = prismaSchemaOf(app.resources)
  t.strictSame(await differentColumns(ownerUrl, content), [])
  const changed = content.replace(/title +String/, 'title Int')
  t.match(await differentColumns(ownerUrl, changed), [/"title"/, /"title"/], 'a changed column')
})

t.test('what it has of other tables is as in schema.prisma', async (t) => {
  const own = modelsOf(await readFile(schemaFile, 'utf8'))
  const generated = modelsOf(prismaSchemaOf(app.resources))
  for (const name of ['Tenant', 'User', 'Membership', 'Folder']) {
    const columns = generated.get(name)?.filter((line) => !/@relation\("|\[\]/.test(line)) ?? []
    t.ok(columns.length > 1)
    t.strictSame(
      columns.filter((line) => !own.get(name)?.includes(line)),
      [],
      name,
    )
  }
})

/** The lines of each model, with single spaces. */
function modelsOf(schema: string): Map<string, string[]> {
  const models = schema.matchAll(/^model (\w+) \{\n([^}]*)^\}/gm)
  const linesOf = (text: string) =>
    text.split('\n').map((line) => line.trim().replaceAll(/ +/g, ' '))
  return new Map([...models].map(([, name = '', text = '']) => [name, linesOf(text)]))
}
