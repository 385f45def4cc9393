import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { buildPackage, top } from './package-app.ts'

type Told = { name: string; size: number; files: { path: string; mode: number }[] }

t.test('npm would publish the packed file as it is', async (t) => {
  const archive = buildPackage(top)
  const { url, asked } = await startRegistry(t)
  const options = ['--dry-run', '--json', '--registry', url, '--userconfig', '/dev/null']
  const env = { ...process.env, npm_config_update_notifier: 'false' }
  const npm = spawn('npm', ['publish', archive, ...options], { env })
  const [out, notes] = await Promise.all([text(npm.stdout), text(npm.stderr)])
  t.match(notes, 'dry-run')
  t.same(
    [...new Set(asked)],
    ['GET /gatehouse'],
    'it asks for what is published, and sends nothing',
  )

  const told: { gatehouse: Told } = JSON.parse(out)
  const { files, size } = told.gatehouse
  t.comment(`${files.length} files, ${size} bytes`)
  const modes = new Map(files.map(({ path, mode }) => [path, mode]))
  for (const path of ['LICENSE', 'README.md', 'CHANGELOG.md', 'THIRD-PARTY-NOTICES'])
    t.ok(modes.has(path), path)
  t.equal(Number(modes.get('dist/js/cli.js')) & 0o111, 0o111, 'the command can be run')
  const own = [...modes.keys()].filter((path) => !path.startsWith('dev/template/'))
  t.same(
    own.filter((path) => /^(test|src\/.*\.ts$)|(^|\/)(\.|node_modules)/.test(path)),
    [],
    'no tests, sources, settings or packages of others',
  )
  const packed = execFileSync('tar', ['-xzOf', archive, 'package/package.json'], {
    encoding: 'utf8',
  })
  const manifest = JSON.parse(packed)
  t.match(manifest, { license: 'MIT', publishConfig: { access: 'public', provenance: true } })
  t.notOk(manifest.private || manifest.scripts, 'nothing runs when it is installed')
  const { repository } = JSON.parse(await readFile(join(top, 'package.json'), 'utf8'))
  t.same(manifest.repository, repository, 'as npm needs it for provenance')
  if (repository === undefined) t.comment('package.json names no repository yet')
})

/** A registry in which nothing is published. */
async function startRegistry(t: Test) {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`)
    response.writeHead(404, { 'content-type': 'application/json' }).end('{}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, asked }
}
