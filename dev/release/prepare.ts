import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { describeApi } from '#src/commands/development/openapi.ts'
import { commandLineDocument } from '#src/commands/documentation.ts'
import { presetsDocument } from '#src/config/providers/presets-document.ts'
import { clientFiles } from './client.ts'

/*
 * Writes what is generated from the code and not in git, after `npm ci` and before a check: the API
 * description, the generated files of the client, and the pages that contain nothing else. Needs no
 * database; docs/database.md does, and `npm run generate` writes it.
 */

const description = await describeApi({})
const files = {
  'docs/openapi.json': `${JSON.stringify(description, null, 2)}\n`,
  'docs/command-line.md': commandLineDocument(),
  'docs/sign-in-providers.md': presetsDocument(),
  ...(await clientFiles(description)),
}
for (const [path, text] of Object.entries(files)) await writeIfChanged(path, text)

/** Leaves a file alone that is up to date: a program may be reading it. */
async function writeIfChanged(path: string, text: string): Promise<void> {
  const file = new URL(`../../${path}`, import.meta.url)
  const present = await readFile(file, 'utf8').catch(() => null)
  if (present === text) return
  await mkdir(new URL('.', file), { recursive: true })
  await writeFile(file, text)
}
