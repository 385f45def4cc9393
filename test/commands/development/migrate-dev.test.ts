import { cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { runProgram, temporaryFolder } from '#test/support/processes/program.ts'

/* The command itself; docs/migrations.md is carried out with each kind of change. */

const root = fileURLToPath(new URL('../../..', import.meta.url))

t.test('a migration is written after the last one, and applied by nobody unasked', async (t) => {
  const folder = await temporaryFolder(t)
  await cp(join(root, 'test/release/package-app'), folder, { recursive: true })
  await mkdir(join(folder, 'node_modules'))
  await symlink(root, join(folder, 'node_modules/gatehouse'))
  await symlink(join(root, 'node_modules/typebox'), join(folder, 'node_modules/typebox'))
  const migrations = join(folder, 'migrations')
  const run = async (args: readonly string[], env: Record<string, string> = {}) => {
    const program = await runProgram(t, ['migrate', 'dev', ...args], env, { cwd: folder })
    return { status: await program.ended, output: program.output() }
  }
  const refused: [string[], Record<string, string>, number, RegExp][] = [
    [['--name', 'Due date'], {}, 2, /It must be lower-case words with hyphens or underscores/],
    [['--name', '../escape'], {}, 2, /It must be lower-case words/],
    [['--name', ''], {}, 2, /It must be lower-case words/],
    [['--fill', 'title'], {}, 2, /It must be a field and its value, like task\.status=open/],
    [['--drop', 'notes; DROP TABLE users'], {}, 2, /It must be a table or a column/],
    [[], { NODE_ENV: 'production' }, 1, /NODE_ENV is production\. Run gatehouse migrate,/],
    [['--app', 'none'], {}, 1, /There is no folder of an app\./],
  ]
  for (const [args, env, status, output] of refused) {
    t.match(await run(args, env), { status, output }, args.join(' '))
  }
  await mkdir(join(migrations, '29990101000000_later'))
  await writeFile(join(migrations, '29990101000000_later/migration.sql'), 'SELECT 1')
  const declaration = join(folder, 'note.ts')
  const text = await readFile(declaration, 'utf8')
  await writeFile(
    declaration,
    text
      .replace('line, tenant', 'flag, line, optional, tenant')
      .replace('  createdAt:', '  isOpen: optional(flag()),\n  createdAt:'),
  )
  // Nothing listens there: whoever applies it fails.
  const env = { DATABASE_OWNER_URL: 'postgres://owner@127.0.0.1:1/acme' }
  const written = await run([], env)
  t.match(written, {
    status: 0,
    output: /written .*\n.*Not applied\. gatehouse migrate applies it/,
  })
  const name = '29990101000001_notes'
  t.match(await readdir(migrations), ['0_notes', '29990101000000_later', name])
  t.equal(
    await readFile(join(migrations, name, 'migration.sql'), 'utf8'),
    'ALTER TABLE notes ADD COLUMN is_open boolean;\n',
  )
  t.match(await run([]), { status: 0, output: 'The migrations make every declared table.' })
  t.equal((await readdir(migrations)).length, 3, 'a second run writes nothing')
})
