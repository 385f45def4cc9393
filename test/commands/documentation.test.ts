import t from 'tap'
import { commandLineDocument } from '#src/commands/documentation.ts'

t.test('docs/command-line.md has the help of every command', async (t) => {
  const document = commandLineDocument()
  t.match(document, /^## gatehouse listen$/m)
  t.match(document, /^## gatehouse keys rotate$/m)
})
