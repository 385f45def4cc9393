import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { findFreePort } from '#dev/demo/postgres/free-port.ts'
import { exampleOf } from '#src/http/openapi/examples.ts'
import { eventSchema } from '#src/webhooks/events/describe.ts'
import { eventKindOf } from '#src/webhooks/events/kinds.ts'
import { signDelivery } from '#src/webhooks/signing/signature.ts'
import { blocksOf } from '#test/docs/blocks.ts'
import { build } from '#test/support/app/app.ts'
import { owner } from '#test/support/callers/token-owner.ts'
import { runProgram } from '#test/support/processes/program.ts'
import { endpointSecret } from '#test/support/receiver/webhook-endpoint.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../..', import.meta.url))
const source = join(root, 'clients/typescript')
const tsc = join(root, 'node_modules/typescript/lib/tsc.js')

t.test('the installed package does what its README shows', async (t) => {
  const folder = await install(t)
  const page = await readFile(join(source, 'README.md'), 'utf8')
  const blocks = blocksOf(page)
  t.strictSame(
    blocks.map(({ path }) => path),
    ['requests.ts', 'errors.ts', 'lists.ts', 'receiver.ts'],
  )
  for (const { path, text } of blocks) await writeFile(join(folder, path), text)
  await compile(['--project', folder])

  const test = await build(t)
  const { make } = await owner(test, { role: 'admin' })
  const { token } = await make()
  const GATEHOUSE_URL = await test.app.listen({ host: '127.0.0.1', port: 0 })
  const env = { GATEHOUSE_URL, GATEHOUSE_TOKEN: token }
  const output = async (path: string) =>
    (await run(process.execPath, [join(folder, path)], { env: { ...process.env, ...env } })).stdout
  t.match(await output('requests.ts'), /^order \d+ goes to Porto\n$/)
  t.equal(
    await output('errors.ts'),
    '/body must not be blank, and must have no NUL and no lone surrogates\n',
  )
  t.equal(await output('lists.ts'), 'orders for 459\n')

  const PORT = String(await findFreePort())
  const receiver = await runProgram(
    t,
    [],
    { PORT, WEBHOOK_SECRET: endpointSecret },
    { entry: join(folder, 'receiver.ts') },
  )
  await receiver.says(/listening/)
  const url = `http://127.0.0.1:${PORT}`
  const good = delivery()
  t.equal((await fetch(url, good)).status, 204)
  await receiver.says(/order 42 was changed/)
  t.equal((await fetch(url, { ...good, body: `${good.body} ` })).status, 400)
})

/** Builds the package and puts the files that it publishes where a project finds it. */
async function install(t: Test): Promise<string> {
  const dist = join(root, 'dist')
  await mkdir(dist, { recursive: true })
  // Inside the repository, so that the package finds its dependency.
  const folder = await mkdtemp(join(dist, 'client-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const installed = join(folder, 'node_modules/gatehouse-client')
  const manifest = JSON.parse(await readFile(join(source, 'package.json'), 'utf8'))
  await compile(['--project', source, '--outDir', join(installed, 'dist')])
  t.strictSame(manifest.files, ['dist'])
  await cp(join(source, 'package.json'), join(installed, 'package.json'))
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  const tsconfig = {
    extends: '../../tsconfig.json',
    // The declarations of the package are checked too, not only its use.
    compilerOptions: { skipLibCheck: false, lib: ['es2023', 'dom', 'dom.iterable'] },
    include: ['*.ts'],
  }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig))
  const { dependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  t.equal(manifest.dependencies['openapi-fetch'], dependencies['openapi-fetch'], 'one version')
  return folder
}

async function compile(args: readonly string[]): Promise<void> {
  await run(process.execPath, [tsc, ...args]).catch(({ stdout, stderr }) => {
    throw new Error(stdout + stderr)
  })
}

function delivery() {
  const schema = eventSchema(eventKindOf('order.updated'))
  const event = Object(exampleOf(JSON.parse(JSON.stringify(schema))))
  const body = JSON.stringify(event)
  const timestamp = Math.floor(Date.now() / 1_000)
  const signed = {
    profile: 'spec',
    secrets: [endpointSecret],
    id: event.id,
    timestamp,
    body,
  } as const
  return {
    method: 'POST',
    body,
    headers: {
      'webhook-id': event.id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signDelivery(signed),
    },
  }
}
