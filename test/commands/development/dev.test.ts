import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { runProgram, temporaryFolder } from '#test/support/processes/program.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const ports = {
  ...{ PORT: '0', ADMIN_PORT: '0', DEMO_PROVIDER_PORT: '0', DEMO_RECEIVER_PORT: '0' },
  ...{ DEMO_BILLING_PORT: '0', DEMO_SECOND_PROVIDER_PORT: '0', LOG_LEVEL: 'warn' },
}

/** The app of the template, in which `gatehouse` is this checkout. */
async function makeApp(t: Test): Promise<string> {
  const folder = await temporaryFolder(t)
  await cp(join(root, 'dev/template/tasks'), folder, { recursive: true })
  await writeFile(join(folder, 'package.json'), '{ "name": "acme", "type": "module" }')
  await mkdir(join(folder, 'node_modules'))
  await symlink(root, join(folder, 'node_modules/gatehouse'))
  return folder
}

t.test('dev starts the app again after a change, and prints a mistake once', async (t) => {
  const cwd = await makeApp(t)
  const file = join(cwd, 'resources/tasks.ts')
  const declared = await readFile(file, 'utf8')
  const change = (from: string, to: string) => writeFile(file, declared.replace(from, to))
  const program = await runProgram(t, ['dev'], ports, { cwd })
  const [, origin = ''] = await program.says(/open (http:\/\/localhost:\d+) and sign in/)
  const longest = async () => {
    const document = await (await fetch(`${origin}/openapi.json`)).json()
    return JSON.stringify(document).includes('"maxLength":123')
  }
  t.notOk(await longest())

  await change('line(200)', 'line(123)')
  await program.says(/The app was started again, in [\d.]+ s\./)
  t.ok(await longest(), 'at the same address')

  await change('line(200)', 'line(200')
  await program.says(/cannot be loaded: .*, at .*resources\/tasks\.ts:\d+\./)
  await change('line(200)', ' line(200')
  await program.says(/The same error as before\./)

  await change('title: line(200),', "title: line(200),\n    size: choice('s', 'l'),")
  await program.says(/tasks\.size .* is missing\. Run `gatehouse migrate dev`/)
  await program.says(/Waiting for a change\. gatehouse migrate dev --yes, .* applies it\./)

  // No migration has the functions and policies that follow from a rule.
  await writeFile(file, declared)
  await program.says(/again, in .*again, in /s)
  const config = join(cwd, 'gatehouse.config.ts')
  const app = await readFile(config, 'utf8')
  await writeFile(config, app.replace('resources: [tasks]', 'resources: []'))
  await program.says(/are not those of this release\..*gatehouse migrate/s)
  const applied = await runProgram(t, ['migrate', 'dev', '--yes'], {}, { cwd })
  t.equal(await applied.ended, 0, applied.output())
  t.match(applied.output(), 'replaced functions, policies, triggers and privileges')

  const before = program.output().length
  await writeFile(config, app.replace('resources: [tasks]', 'resources: [] '))
  await program.says(/(?:again, in .*){3}/s)
  t.notMatch(program.output().slice(before), 'gatehouse:')
  t.notOk(await longest())

  program.child.kill('SIGTERM')
  t.equal(await program.ended, 0, program.output())
  await t.rejects(fetch(origin), 'nothing of it is left')
})

t.test('dev is not for production', async (t) => {
  const cwd = await makeApp(t)
  const program = await runProgram(t, ['dev'], { NODE_ENV: 'production' }, { cwd })
  t.equal(await program.ended, 1)
  t.match(program.messages(), 'gatehouse dev is for development')
})
