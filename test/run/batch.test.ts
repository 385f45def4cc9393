import { spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { temporaryFolder } from '#test/support/processes/program.ts'

const runner = JSON.stringify(new URL('./batch.ts', import.meta.url).href)

t.test('a file that leaves a server open fails, and keeps no batch from ending', async (t) => {
  const folder = await temporaryFolder(t)
  const files = {
    'first.mjs': `import t from 'tap'\nt.pass('first')\n`,
    'open.mjs': `import net from 'node:net'\nimport t from 'tap'\n
      t.test('opens', async (t) => {
        await new Promise((resolve) => net.createServer().listen(0, '127.0.0.1', resolve))
        t.fail('before it closes')
      })\n`,
    'last.mjs': `import t from 'tap'\nt.pass('last')\n`,
  }
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  const urls = Object.keys(files).map((name) => pathToFileURL(join(folder, name)).href)
  const entry = join(folder, 'entry.mjs')
  await writeFile(
    entry,
    `import { runBatch } from ${runner}\nawait runBatch(${JSON.stringify(urls)}, 100)\n`,
  )
  const { status, stdout } = spawnSync(process.execPath, [entry], { encoding: 'utf8' })
  t.equal(status, 1)
  t.match(stdout, /not ok 1 - before it closes/)
  t.match(stdout, /ok 1 - last/, 'the others run')
  t.match(stdout, /not ok 4 - a file has left something open/)
  t.match(stdout, /TCPServerWrap, since \S*open\.mjs/i)
  t.match(stdout, /^1\.\.4$/m, 'the result is whole')
})
