import { spawnSync } from 'node:child_process'
import type { Test } from 'tap'
import { findProgram } from './find-program.ts'

type Kind = '--mount' | '--net'

const inside = 'TEST_INSIDE_NAMESPACES'

/**
 * Runs the tests of a file in Linux namespaces of its own, so that what they mount, and the network
 * that they build and cut, is seen by no other process and gone with them, even if they are killed.
 * Skipped where that is not possible.
 * @param t the tests of the file
 * @param file `import.meta.filename`
 * @param programs that the tests need
 */
export function testInNamespaces(
  t: Test,
  file: string,
  kinds: readonly Kind[],
  programs: readonly string[],
  tests: () => void,
): void {
  if (process.env[inside] === file) {
    tests()
    return
  }
  const skip = whyNot(kinds, programs)
  t.test(`in namespaces of its own (${kinds.join(' ')})`, { skip }, async (t) => {
    await t.spawn('unshare', [...kinds, process.execPath, file], {
      env: { ...process.env, [inside]: file },
    })
  })
}

function whyNot(kinds: readonly Kind[], programs: readonly string[]): string | false {
  if (process.getuid?.() !== 0) return 'only root can make namespaces with a server inside'
  const missing = ['unshare', ...programs].filter((name) => findProgram(name) === null)
  if (missing.length > 0) return `this machine has no ${missing.join(', ')}`
  const { status } = spawnSync('unshare', [...kinds, 'true'])
  return status !== 0 && 'this machine allows no namespaces'
}
