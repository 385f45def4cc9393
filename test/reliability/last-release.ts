import { execFile } from 'node:child_process'
import { mkdir, readFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Test } from 'tap'
import { temporaryFolder } from '#test/support/processes/program.ts'

const run = promisify(execFile)

/** The command line of a tree, or a binary: options of `runProgram`. */
export type Release = { entry: string } | { program: string }

/**
 * The release before the one in `folder`: the binary that TEST_LAST_RELEASE names, otherwise the newest
 * tag `v…` of its history, but that of its own version.
 * @returns null if there is neither
 */
export async function findLastRelease(t: Test, folder: string): Promise<Release | null> {
  const { TEST_LAST_RELEASE: program } = process.env
  if (program) return { program }
  const tag = await findTag(folder)
  return tag === null ? null : { entry: join(await checkOut(t, folder, tag), 'src/cli.ts') }
}

async function findTag(folder: string): Promise<string | null> {
  const { version } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
  const args = ['tag', '--list', 'v[0-9]*', '--merged', 'HEAD', '--sort=-version:refname']
  const tags = await run('git', args, { cwd: folder }).catch(() => ({ stdout: '' }))
  return tags.stdout.split('\n').find((tag) => tag !== '' && tag !== `v${version}`) ?? null
}

/** The tree of the tag, ready to run, in a folder that is gone with the test. */
async function checkOut(t: Test, folder: string, tag: string): Promise<string> {
  const old = join(await temporaryFolder(t), 'last')
  await mkdir(old)
  const archive = `${old}.tar`
  await run('git', ['archive', `--output=${archive}`, tag], { cwd: folder })
  await run('tar', ['--extract', `--file=${archive}`], { cwd: old })
  const lockOf = (where: string) => readFile(join(where, 'package-lock.json'), 'utf8')
  const isSame = withoutVersion(await lockOf(old)) === withoutVersion(await lockOf(folder))
  if (isSame) await symlink(join(folder, 'node_modules'), join(old, 'node_modules'))
  else await run('npm', ['ci', '--ignore-scripts'], { cwd: old })
  await run('npm', ['run', 'prepare'], { cwd: old })
  return old
}

/** The lock file has the version of the program itself in its first lines. */
function withoutVersion(lock: string): string {
  return lock.replaceAll(/^ {2,6}"version": .*$/gm, (line, offset) => (offset < 300 ? '' : line))
}
