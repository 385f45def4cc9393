import { appendFile, cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { createDatabase, createUnmigratedDatabase } from '#test/support/database/database.ts'
import { runProgram, temporaryFolder } from '#test/support/processes/program.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))

t.test('what this version changes in an app is said, and nothing is written', async (t) => {
  const cwd = await temporaryFolder(t)
  await cp(join(root, 'dev/template/tasks'), cwd, { recursive: true })
  await mkdir(join(cwd, 'node_modules'))
  await symlink(root, join(cwd, 'node_modules/gatehouse'))
  const upgrade = async (args: readonly string[] = ['--check'], env = {}) => {
    const program = await runProgram(t, ['upgrade', ...args], env, { cwd })
    return { status: await program.ended, output: program.output() }
  }
  const clean = await upgrade()
  t.equal(clean.status, 0, clean.output)
  t.match(clean.output, /ok +generated[\s\S]*no database was looked at/)

  const table = join(cwd, 'generated/access.md')
  const written = await readFile(table, 'utf8')
  const before = `${written}\nAs another version writes it.\n`
  await writeFile(table, before)
  const { ownerUrl } = await createUnmigratedDatabase(t)
  const gone = { DATABASE_OWNER_URL: ownerUrl, OUTBOUND_RETRIES: '3' }
  const changed = await upgrade(['--check'], gone)
  t.equal(changed.status, 1)
  t.match(
    changed.output,
    /ACTION +generated: generated\/access\.md would differ\. Run gatehouse gen/,
  )
  t.match(
    changed.output,
    /ACTION +migrations: 0_baseline, app:.*0_tasks are missing\. Run gatehouse mi/,
  )
  t.match(changed.output, /ACTION +settings: OUTBOUND_RETRIES is unknown/)
  t.equal(await readFile(table, 'utf8'), before, 'a check writes nothing')
  const { looks } = JSON.parse((await upgrade(['--check', '--json'], gone)).output)
  t.match(looks, [{ what: 'node', action: null }])

  t.equal((await upgrade([])).status, 0, 'without it, what is generated is written')
  t.equal(await readFile(table, 'utf8'), written)

  const lateText = "import { formOf as form, ledgerOfOld, type Viewer } from 'gatehouse/routes'\n"
  await mkdir(join(cwd, 'routes'))
  await writeFile(join(cwd, 'routes/report.ts'), lateText)
  const lost = await upgrade()
  t.equal(lost.status, 1)
  t.match(lost.output, /ACTION +imports: routes\/report\.ts imports ledgerOfOld from gatehouse\/r/)
  t.equal(lost.output.match(/ACTION/g)?.length, 1, lost.output)

  await appendFile(join(cwd, 'gatehouse.config.ts'), "import { noneOfThese } from 'gatehouse'\n")
  const broken = await upgrade()
  t.equal(broken.status, 1)
  t.match(broken.output, /gatehouse\.config\.ts cannot be loaded: .*named 'noneOfThese', at/)
})

t.test('a migrated database lacks nothing', async (t) => {
  const { ownerUrl } = await createDatabase(t)
  const env = { DATABASE_OWNER_URL: ownerUrl }
  const program = await runProgram(t, ['upgrade', '--check'], env)
  t.equal(await program.ended, 0, program.output())
  t.match(program.output(), 'the database has all of them')
  const without = await runProgram(t, ['upgrade', '--check', '--app', 'none'], {})
  t.equal(await without.ended, 1)
  t.match(without.output(), 'There is no folder of an app.')
})
