import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { readTextFile } from '#src/runtime/text-file.ts'
import { temporaryFolder } from '#test/support/processes/program.ts'

const text = 'BASE_URL=https://app.example\nBRAND_NAME=Pförtner\n'
const big = (value: string) => Buffer.from(value, 'utf16le').swap16()

t.test('a file is read as editors save it', async (t) => {
  const folder = await temporaryFolder(t)
  const saved: Readonly<Record<string, Buffer>> = {
    'UTF-8': Buffer.from(text),
    'UTF-8 with a mark': Buffer.from(`\uFEFF${text}`),
    'UTF-16, little endian': Buffer.from(`\uFEFF${text}`, 'utf16le'),
    'UTF-16, big endian': big(`\uFEFF${text}`),
    nothing: Buffer.alloc(0),
  }
  for (const [name, bytes] of Object.entries(saved)) {
    const file = join(folder, 'file')
    await writeFile(file, bytes)
    t.equal(readTextFile(file), bytes.length === 0 ? '' : text, name)
  }
})

t.test('a file in another encoding is refused, and not read as something else', async (t) => {
  const folder = await temporaryFolder(t)
  const others: Readonly<Record<string, Buffer>> = {
    'Latin-1': Buffer.from(text, 'latin1'),
    'UTF-16 without a mark': Buffer.from(text, 'utf16le'),
    'half a character of UTF-16': Buffer.from([0xff, 0xfe, 0x42]),
  }
  for (const [name, bytes] of Object.entries(others)) {
    const file = join(folder, 'file')
    await writeFile(file, bytes)
    t.throws(() => readTextFile(file), /^it is no text in UTF-8/, name)
  }
  t.throws(() => readTextFile(folder), { code: 'EISDIR' })
  t.throws(() => readTextFile(join(folder, 'none')), { code: 'ENOENT' })
})
