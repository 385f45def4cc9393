import { execFile } from 'node:child_process'
import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const biome = fileURLToPath(
  new URL('../../../node_modules/@biomejs/biome/bin/biome', import.meta.url),
)

type Finding = { path: string; rule: string; line: number }

/** The findings of the project's Biome rules for these files only. */
export async function lint(t: Test, files: Readonly<Record<string, string>>): Promise<Finding[]> {
  const folder = t.testdir({})
  for (const name of ['biome.json', 'package.json']) {
    await copyFile(join(root, name), join(folder, name))
  }
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), `${text}\n`)
  }
  const report = await new Promise<string>((resolve) => {
    const options = ['lint', '--vcs-enabled=false', '--reporter=json', '--max-diagnostics=none']
    execFile(process.execPath, [biome, ...options], { cwd: folder }, (_error, stdout) =>
      resolve(stdout),
    )
  })
  const { diagnostics } = JSON.parse(report) as {
    diagnostics: { category: string; location: { path: string; start: { line: number } } }[]
  }
  return diagnostics.map(({ category, location }) => ({
    path: location.path.replaceAll('\\', '/'),
    rule: category.split('/').at(-1) ?? category,
    line: location.start.line,
  }))
}
