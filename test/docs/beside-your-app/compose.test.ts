import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { findProgram } from '#test/support/processes/find-program.ts'
import { runProgram, temporaryFolder } from '#test/support/processes/program.ts'
import { readPage } from '../page.ts'

/* The Compose example; proxies.test.ts runs its balancer in front of Gatehouse and an app. */

const text = await readPage('docs/beside-your-app/compose.yaml')
const installation = await readPage('compose.yaml')
const beside = parse(text, { merge: true })

t.test('the app is reached through the balancer only, and has no secret', async (t) => {
  const { app } = beside.services
  t.strictSame(app.networks, ['app'])
  t.equal(beside.networks.app.internal, true)
  const inNetwork = Object.entries<{ networks?: string[] }>(beside.services).filter(
    ([, { networks = [] }]) => networks.includes('app'),
  )
  t.strictSame(
    inNetwork.map(([name]) => name),
    ['app', 'balancer'],
  )
  t.notOk('ports' in app)
  t.notMatch(JSON.stringify(app), /PASSWORD|SECRET|env_file/)
  const audiences = [beside.services['web-a'], beside.services['web-b'], app].map(
    ({ environment }) => environment.IDENTITY_AUDIENCE,
  )
  t.equal(new Set(audiences).size, 1, 'one audience')
})

const program = findProgram('podman-compose')
const skip = program === null && 'no podman-compose on this machine'

t.test('podman-compose reads both files', { skip }, async (t) => {
  if (program === null) return
  const cwd = await temporaryFolder(t)
  await writeFile(join(cwd, 'compose.yaml'), installation)
  await writeFile(join(cwd, 'beside.yaml'), text)
  const passwords = ['SUPERUSER', 'OWNER', 'APP', 'WORKER', 'REDIS']
  const values = passwords.map((password) => `${password}_PASSWORD=word\n`)
  await writeFile(join(cwd, '.env'), `DOMAIN=app.example.com\n${values.join('')}`)
  const files = ['-f', 'compose.yaml', '-f', 'beside.yaml']
  const args = [...files, '--podman-path', '/bin/true', '--dry-run', 'up', '--no-build']
  const run = await runProgram(t, args, {}, { cwd, program })
  t.equal(await run.ended, 0, run.output())
  t.match(run.output(), /go run \/app\/app\.go/)
  t.match(run.output(), /--network-alias app /)
})
