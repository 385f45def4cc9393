import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { runProgram, temporaryFolder } from '#test/support/processes/program.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))

t.test('generated files show what a declaration means, and a check compares them', async (t) => {
  const folder = await temporaryFolder(t)
  const app = join(folder, 'shop')
  await cp(join(root, 'examples/shop'), app, { recursive: true })
  await mkdir(join(folder, 'node_modules'))
  await symlink(root, join(folder, 'node_modules/gatehouse'))
  await symlink(join(root, 'node_modules/typebox'), join(folder, 'node_modules/typebox'))
  const run = async (...args: string[]) => {
    const program = await runProgram(t, ['generate', ...args], {}, { cwd: folder })
    return { status: await program.ended, output: program.output() }
  }

  const committed = await run('--check', '--app', 'shop')
  t.equal(committed.status, 0, committed.output)
  const declaration = join(app, 'resources/posts.ts')
  const text = await readFile(declaration, 'utf8')
  await writeFile(
    declaration,
    text.replace("permission: 'post:delete'", "permission: 'post:write'"),
  )
  const changed = await run('--check', '--app', 'shop')
  t.equal(changed.status, 1)
  t.match(changed.output, /access\.md does not match the declarations of the app\..*generate/s)
  t.match((await run('--app', 'shop')).output, /written .*generated\/access\.md/)
  t.equal((await run('--check', '--app', 'shop')).status, 0)
  const table = await readFile(join(app, 'generated/access.md'), 'utf8')
  t.match(table, /\| post \| delete \| – \| yes \| yes \|/)
  t.notMatch(table, /webhook-endpoint/, 'only what the app declares')

  const without = await run('--app', 'none')
  t.equal(without.status, 1)
  t.match(without.output, 'There is no folder of an app. Run it in the folder of an app')
})
