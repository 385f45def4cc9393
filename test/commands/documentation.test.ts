import { readFile } from 'node:fs/promises'
import t from 'tap'
import { commandLineDocument } from '#src/commands/documentation.ts'

t.test('docs/command-line.md is the help of every command (npm run generate)', async (t) => {
  const document = await readFile(new URL('../../docs/command-line.md', import.meta.url), 'utf8')
  t.equal(document, commandLineDocument(), 'as npm run generate writes it')
  t.match(document, /^## gatehouse listen$/m)
  t.match(document, /^## gatehouse keys rotate$/m)
})
