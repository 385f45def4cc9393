import { spawnSync } from 'node:child_process'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { temporaryFolder } from '#test/support/processes/program.ts'

const runner = JSON.stringify(new URL('./batch.ts', import.meta.url).href)

t.test('a file that leaves a server open fails, and keeps no batch from ending', async (t) => {
  const { status, stdout } = await run(t, {
    'first.mjs': `import t from 'tap'\nt.pass('first')\n`,
    'open.mjs': `import net from 'node:net'\nimport t from 'tap'\n
      t.test('opens', async (t) => {
        await new Promise((resolve) => net.createServer().listen(0, '127.0.0.1', resolve))
        t.fail('before it closes')
      })\n`,
    'last.mjs': `import t from 'tap'\nt.pass('last')\n`,
  })
  t.equal(status, 1)
  t.match(stdout, /not ok 1 - before it closes/)
  t.match(stdout, /ok 1 - last/, 'the others run')
  t.match(stdout, /not ok 4 - a file has left something open/)
  t.match(stdout, /TCPServerWrap, since \S*open\.mjs/i)
  t.match(stdout, /^1\.\.4$/m, 'the result is whole')
})

t.test('tests that run after the last file are waited for', async (t) => {
  const tap = JSON.stringify(
    new URL('../../node_modules/tap/dist/esm/index.js', import.meta.url).href,
  )
  const { status, stdout } = await run(
    t,
    {
      'adds.mjs': `import t from ${tap}\n
      t.test('later', async (t) => {
        await new Promise((resolve) => setTimeout(resolve, 3_000))
        t.pass('waited for')
      })\n`,
    },
    { closingMs: 2_000 }, // a busy machine takes a while to end the process
  )
  t.equal(status, 0)
  t.match(stdout, /ok 1 - waited for/)
})

t.test('processes that share files run each of them once', async (t) => {
  const files = {
    'first.mjs': `import t from 'tap'\nt.pass('first')\n`,
    'last.mjs': `import t from 'tap'\nt.pass('last')\n`,
  }
  const taken = await temporaryFolder(t)
  await mkdir(join(taken, '0'))
  const rest = await run(t, files, { taken })
  t.equal(rest.status, 0)
  t.notMatch(rest.stdout, /ok 1 - first/, 'another process has taken it')
  t.match(rest.stdout, /ok 1 - last/)
  t.strictSame(await readdir(taken), ['0', '1'])
  const { status, stdout } = await run(t, files, { taken })
  t.equal(status, 0, 'a process that comes too late is no failure')
  t.notMatch(stdout, /^ *ok/m)
})

/** Runs files of this text as one batch, which may be alive for a moment after the last one. */
async function run(
  t: Test,
  files: Readonly<Record<string, string>>,
  { closingMs = 100, taken }: { closingMs?: number; taken?: string } = {},
) {
  const folder = await temporaryFolder(t)
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  const urls = Object.keys(files).map((name) => pathToFileURL(join(folder, name)).href)
  const entry = join(folder, 'entry.mjs')
  await writeFile(
    entry,
    `import { runBatch } from ${runner}\nawait runBatch(${JSON.stringify(urls)}, ${JSON.stringify({ closingMs, taken })})\n`,
  )
  return spawnSync(process.execPath, [entry], { encoding: 'utf8', timeout: 60_000 })
}
