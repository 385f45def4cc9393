import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createApp } from '#dev/release/create.ts'
import { runProgram, temporaryFolder } from '#test/support/processes/program.ts'

async function archiveIn(folder: string): Promise<string> {
  const file = join(folder, 'gatehouse.tgz')
  await writeFile(file, '')
  return file
}

async function run(t: Test, folder: string, ...args: string[]) {
  const program = await runProgram(t, ['create', ...args], {}, { cwd: folder })
  return { status: await program.ended, output: program.output() }
}

t.test('an app without the example has no resource', async (t) => {
  const folder = await temporaryFolder(t)
  const archive = await archiveIn(folder)
  const app = join(folder, 'acme')
  const written = await createApp(app, { name: 'acme', isEmpty: true, archive })
  t.notOk(written.some((path) => /resources|migrations/.test(path)))
  t.match(await readFile(join(app, 'gatehouse.config.ts'), 'utf8'), 'resources: []')
  const marks = await Promise.all(written.map((path) => readFile(join(app, path), 'utf8')))
  t.notOk(
    marks.some((text) => /%[A-Z_]+%/.test(text)),
    'every word is filled in',
  )
})

t.test('a folder with files is refused and not changed', async (t) => {
  const folder = await temporaryFolder(t)
  const archive = await archiveIn(folder)
  await mkdir(join(folder, 'acme'))
  await writeFile(join(folder, 'acme/notes.txt'), 'mine')
  const { status, output } = await run(t, folder, 'acme', '--yes', '--package', archive)
  t.equal(status, 1)
  t.match(output, 'The folder acme is not empty. Name a new one, or an empty one.')
  t.strictSame(await readdir(join(folder, 'acme')), ['notes.txt'])
  const file = await run(t, folder, 'gatehouse.tgz', '--yes', '--package', archive)
  t.equal(file.status, 1)
})

t.test(
  'what is no name of an app, and a missing package, are refused with the remedy',
  async (t) => {
    const folder = await temporaryFolder(t)
    for (const name of ['Acme', 'my app', '7up', 'a_b', 'none']) {
      const { status, output } = await run(t, folder, name, '--yes')
      t.equal(status, 1, name)
      t.match(output, 'is no name of an app. Name a folder of lower-case words with hyphens')
    }
    const none = await run(t, folder)
    t.match(none.output, 'The new app has no folder.', 'without a terminal nothing is asked')
    const missing = await run(t, folder, 'acme', '--yes', '--package', 'nothing.tgz')
    t.equal(missing.status, 1)
    t.match(missing.output, 'Run npm run build:package in the checkout of Gatehouse')
    t.strictSame(await readdir(folder), [], 'nothing is written')
  },
)
