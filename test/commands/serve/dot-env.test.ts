import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { runProgram, temporaryFolder } from '#test/support/processes/program.ts'

const text = 'BASE_URL=https://app.example\nBRAND_NAME=Pförtner\n'

t.test('.env is read as editors save it', async (t) => {
  const saved: Readonly<Record<string, Buffer>> = {
    'UTF-8': Buffer.from(text),
    'UTF-8 with a byte order mark': Buffer.from(`\uFEFF${text}`),
    'UTF-16': Buffer.from(`\uFEFF${text.replaceAll('\n', '\r\n')}`, 'utf16le'),
  }
  for (const [name, bytes] of Object.entries(saved)) {
    const cwd = await temporaryFolder(t)
    await writeFile(join(cwd, '.env'), bytes)
    const program = await runProgram(t, ['openapi'], {}, { cwd })
    t.equal(await program.ended, 0, program.output())
    t.equal(JSON.parse(program.results()).servers[0].url, 'https://app.example', name)
    const other = await runProgram(t, ['openapi'], { BASE_URL: 'https://first.example' }, { cwd })
    t.equal(await other.ended, 0)
    t.equal(JSON.parse(other.results()).servers[0].url, 'https://first.example', 'the shell first')
  }
})

t.test('what cannot be read is named with its remedy', async (t) => {
  const cwd = await temporaryFolder(t)
  await writeFile(join(cwd, '.env'), Buffer.from(text, 'latin1'))
  const program = await runProgram(t, ['openapi'], {}, { cwd })
  t.equal(await program.ended, 1)
  t.match(program.messages(), '.env cannot be read: it is no text in UTF-8. Save it as UTF-8.')

  const folder = await temporaryFolder(t)
  await mkdir(join(folder, '.env'))
  const another = await runProgram(t, ['openapi'], {}, { cwd: folder })
  t.equal(await another.ended, 1)
  t.match(another.messages(), /^gatehouse: \.env is a folder\. Remove it, and make a file/)
})
