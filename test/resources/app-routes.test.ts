import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { production } from '#test/support/app/production.ts'
import { createUnmigratedDatabase } from '#test/support/database/database.ts'
import { runProgram, temporaryFolder } from '#test/support/processes/program.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

t.test('a mistake in a route of an app is named, and the program ends', async (t) => {
  const folder = await temporaryFolder(t)
  await cp(join(root, 'test/release/package-app'), folder, { recursive: true })
  await mkdir(join(folder, 'node_modules'))
  await symlink(root, join(folder, 'node_modules/gatehouse'))
  await symlink(join(root, 'node_modules/typebox'), join(folder, 'node_modules/typebox'))
  const database = await createUnmigratedDatabase(t)
  const env = { ...production(database), DATABASE_OWNER_URL: database.ownerUrl }
  const migrated = await runProgram(t, ['migrate'], env, { cwd: folder })
  t.equal(await migrated.ended, 0, migrated.output())

  const file = join(folder, 'routes/title.ts')
  const text = await readFile(file, 'utf8')
  const mistakes: Readonly<Record<string, [piece: string, message: string]>> = {
    'a route without a rule': [
      `config: { access: { resource: 'note', action: 'read' } },`,
      'GET /notes/:id/title does not state config.access.',
    ],
    'a route without a name': [`operationId: 'getTitle',`, 'operationId'],
    'an answer without words': [
      `, { description: 'The title' }`,
      'GET /notes/:id/title: the schema of the response 200 has neither a description nor a title.',
    ],
  }
  for (const [name, [piece, message]] of Object.entries(mistakes)) {
    await writeFile(file, text.replace(piece, ''))
    const program = await runProgram(t, ['serve'], env, { cwd: folder })
    t.equal(await program.ended, 1, name)
    t.match(program.output(), message)
  }
  await writeFile(file, text)
  const config = join(folder, 'gatehouse.config.ts')
  const app = await readFile(config, 'utf8')
  const failing = `on: { 'billing.charge.failed': async () => {} },`
  await writeFile(config, app.replace('on: hooks,', failing))
  const program = await runProgram(t, ['serve'], env, { cwd: folder })
  t.equal(await program.ended, 1, 'a hook of an event that no provider has')
  t.match(
    program.output(),
    /The hook billing\.charge\.failed of .*gatehouse\.config\.ts:\d+ is about a billing event/,
  )
})
