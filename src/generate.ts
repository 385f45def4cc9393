import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { accessOverview } from './access/overview.ts'
import { accessDocument } from './access-document.ts'
import { documentedSettings, environmentExample, settingsTable } from './settings-documents.ts'

/*
 * `npm run generate`: writes the documents that are made from the code. A test fails when one of
 * them is not what this would write.
 */

const settings = documentedSettings()
await writeFile(new URL('../.env.example', import.meta.url), environmentExample(settings))

const access = new URL('../docs/access.md', import.meta.url)
await mkdir(new URL('.', access), { recursive: true })
await writeFile(access, accessDocument(accessOverview()))

const readme = new URL('../README.md', import.meta.url)
const text = await readFile(readme, 'utf8')
await writeFile(readme, withTable(text, settingsTable(settings)))

/** Puts the table between the two marks of the README. */
function withTable(document: string, table: string): string {
  return document.replace(
    /(<!-- settings: generated -->\n)[\s\S]*(<!-- settings: end -->)/,
    (_all, start, end) => `${start}${table}${end}`,
  )
}
