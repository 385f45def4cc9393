import { execFileSync, spawnSync } from 'node:child_process'
import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { temporaryFolder } from '#test/support/processes/program.ts'
import {
  addToken,
  buildPackage,
  emptyDatabase,
  install,
  makeApp,
  runInstalled,
  serve,
  top,
} from './package-app.ts'

const { status: isFound } = spawnSync('git', ['cat-file', '-e', 'HEAD~1:dev/release/package.ts'], {
  cwd: top,
})
const skip = isFound !== 0 && 'there is no commit before that builds a package, or no git'

t.test(
  'an app of the commit before runs with this package, and nothing of it changes',
  { skip },
  async (t) => {
    const folder = await makeApp(t)
    await install(folder, buildPackage(await treeBefore(t)))
    const { urls, env } = await emptyDatabase()
    const succeeds = async (command: string) => {
      const program = await runInstalled(t, folder, [command], env)
      t.equal(await program.ended, 0, `${command}: ${program.output()}`)
    }
    await succeeds('migrate')
    await succeeds('seed')
    const token = await addToken(urls)
    const before = await serve(t, folder, { env, token })
    const { status, body } = await before.send('POST', '/notes', { title: 'From before' })
    t.equal(status, 201)
    t.equal(await before.stop(), 0)

    await install(folder, buildPackage(top))
    await succeeds('migrate')
    const after = await serve(t, folder, { env, token })
    t.same(await after.send('GET', `/notes/${body.id}`), { status: 200, body })
    t.equal(await after.stop(), 0)
  },
)

/** The files of the commit before, ready to be built. */
async function treeBefore(t: Test): Promise<string> {
  const archive = spawnSync('git', ['archive', 'HEAD~1'], { cwd: top, maxBuffer: 1e9 })
  const folder = join(await temporaryFolder(t), 'before')
  await mkdir(folder)
  execFileSync('tar', ['--extract', '--directory', folder], { input: archive.stdout })
  await symlink(join(top, 'node_modules'), join(folder, 'node_modules'))
  execFileSync('npm', ['run', '--silent', 'prepare'], { cwd: folder })
  return folder
}
