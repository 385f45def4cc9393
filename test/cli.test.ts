import { once } from 'node:events'
import { cp, mkdir, readdir, symlink } from 'node:fs/promises'
import { Agent, createServer } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { webhookSecret } from '#dev/testing/settings.ts'
import { signatureHeader } from '#src/billing/signature.ts'
import { version } from '#src/runtime/assets.ts'
import { readCoreMigrations } from '#src/schema/migrations/applied.ts'
import { askPatiently, faultsIn, untilReadiness } from '#test/reliability/instance.ts'
import { leak, production } from '#test/support/app/production.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { untilTrue } from '#test/support/database/until.ts'
import { addresses, runProgram, temporaryFolder } from '#test/support/processes/program.ts'
import manifest from '../package.json' with { type: 'json' }

t.test(
  'in production a start with invalid settings lists all of them and exits with 1',
  async (t) => {
    const program = await runProgram(t, ['serve'], {
      NODE_ENV: 'production',
      SESSION_SECRETS: 'too short',
      PORT: 'many',
      OIDC_PROVIDERS: 'one',
      RATE_LIMIT_API: 'fast',
      BILLING_PROVIDER: 'stripe',
      GATEHOUSE_NOW: '2026-01-01T00:00:00Z',
    })
    t.equal(await program.ended, 1)
    const named = [
      'PORT',
      'BASE_URL',
      'DATABASE_URL',
      'SESSION_SECRETS',
      'BILLING_WEBHOOK_SECRETS',
      'ENCRYPTION_KEYS',
      'OIDC_ONE_ISSUER',
      'OIDC_ONE_CLIENT_ID',
      'OIDC_ONE_CLIENT_SECRET',
      'RATE_LIMIT_API',
      'GATEHOUSE_NOW',
    ]
    for (const name of named) t.match(program.output(), `  - ${name}:`)
    t.notMatch(program.output(), /too short| {4}at /, 'no secret, no stack')
  },
)

t.test('a busy port is reported before the demo starts anything', async (t) => {
  const { port } = await occupyPort(t)
  for (const setting of ['PORT', 'ADMIN_PORT']) {
    const cwd = await temporaryFolder(t)
    const env = { PORT: '0', ADMIN_PORT: '0', [setting]: port }
    const program = await runProgram(t, ['serve'], env, { cwd })
    t.equal(await program.ended, 1)
    t.match(
      program.messages(),
      new RegExp(`^gatehouse: Port ${port} .* is in use\\. .* ${setting} `),
    )
    t.same(await readdir(cwd), [], 'not even the folder of the data')
  }
})

t.test('an operator error is one line with its remedy, exit status 1', async (t) => {
  const database = await createDatabase(t)
  const behind = await createDatabase(t)
  await behind.admin.query('DELETE FROM _prisma_migrations')
  const empty = await createDatabase(t)
  await empty.admin.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public')
  const leaking = await createDatabase(t)
  await leaking.admin.query(leak)
  const { port } = await occupyPort(t)
  const cases: [string, Record<string, string>, RegExp][] = [
    ['a busy port', { PORT: port }, /Port \d+ on 127\.0\.0\.1 is in use\. .*PORT/],
    [
      'a busy admin port',
      { ADMIN_PORT: port },
      /Port \d+ on 127\.0\.0\.1 is in use\. .*ADMIN_PORT/,
    ],
    [
      'an unreachable database',
      { DATABASE_URL: 'postgres://app:secret_word@127.0.0.1:9/gatehouse' },
      /The database cannot be reached: .*\. Check DATABASE_URL/,
    ],
    [
      'a wrong password',
      { DATABASE_URL: database.url.replace('app%20password', 'secret_word') },
      /The database cannot be reached: password authentication failed .*DATABASE_URL/,
    ],
    ['a database behind', production(behind), /behind by \d+ migration.*gatehouse migrate/],
    ['an empty database', production(empty), /gatehouse migrate/],
    [
      'a policy that looks right and leaks',
      production(leaking),
      /policy wide of the table posts is in no file.*gatehouse migrate/,
    ],
    ['a superuser', { DATABASE_URL: database.superuserUrl }, /can bypass row-level security/],
    ['the owner', { DATABASE_URL: database.ownerUrl }, /owns tables/],
    ['a superuser as worker', { DATABASE_WORKER_URL: database.superuserUrl }, /can bypass/],
  ]
  for (const [name, env, pattern] of cases) {
    const program = await runProgram(t, ['serve'], { ...production(database), ...env })
    t.equal(await program.ended, 1, name)
    const said = program
      .output()
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('{'))
    t.equal(said.length, 1, `${name}: one line`)
    t.match(said[0], pattern, name)
    t.notMatch(program.output(), 'secret_word', `${name}: no secret`)
  }
})

t.test(
  'production serves without the demo’s code, processes jobs and stops gracefully',
  async (t) => {
    const database = await createDatabase(t)
    await createUser(database, { billingCustomer: 'cus_1' })
    const cwd = await temporaryFolder(t)
    const entry = await copyWithoutDemo(cwd)
    const program = await runProgram(t, ['serve'], production(database), { cwd, entry })
    const { admin, address } = await addresses(program)
    t.equal((await fetch(`${admin}/healthz`)).status, 200)
    await untilReadiness({ admin }, { status: 'ready', release: version, schema: version })
    await untilTrue(async () => {
      const healthy = await runProgram(t, ['health'], { ADMIN_PORT: new URL(admin).port })
      return (await healthy.ended) === 0 && healthy.results() === 'ready\n'
    })
    t.equal((await fetch(`${address}/healthz`)).status, 404, 'health is not on the public listener')

    const event = {
      id: 'evt_1',
      type: 'charge.succeeded',
      data: { object: { customer: 'cus_1', amount: 5, currency: 'eur' } },
    }
    const body = JSON.stringify(event)
    const signature = signatureHeader(webhookSecret, body, Math.floor(Date.now() / 1000))
    const web = { origin: address, agent: new Agent() }
    const send = async () => {
      const headers = { 'content-type': 'application/json', 'webhook-signature': signature }
      const request = { method: 'POST', path: '/webhooks/billing', headers, body }
      const answer = await askPatiently(web, request)
      return `${answer.status} ${answer.body}`
    }
    t.equal(await send(), '200 recorded')
    t.equal(await send(), '200 duplicate')
    await program.says(/"eventId":"evt_1","applied":"processed"/)
    const { rows } = await database.admin.query('SELECT amount FROM invoices')
    t.strictSame(rows, [{ amount: '5' }])

    program.child.kill('SIGTERM')
    t.equal(await program.ended, 0)
    t.strictSame(faultsIn(program.output(), 'error|fatal|warn'), [])
    const lines = program.results().trim().split('\n')
    const lifecycle = lines.filter((line) => /"msg":"(started|stopped|Server listening)/.test(line))
    t.equal(lifecycle.length, 2, 'start and stop are one line each')
    t.match(JSON.parse(lifecycle[0] ?? ''), { msg: 'started', role: 'all', version, address })
    const stopped = { msg: 'stopped', role: 'all', signal: 'SIGTERM', complete: true, ms: Number }
    t.match(JSON.parse(lifecycle[1] ?? ''), stopped)
  },
)

t.test('a worker has the admin listener only', async (t) => {
  const database = await createDatabase(t)
  const program = await runProgram(t, ['worker'], production(database))
  const [, admin] = await program.says(
    /"address":null,"adminAddress":"(http:[^"]+)","msg":"started"/,
  )
  await untilTrue(async () => (await fetch(`${admin}/readyz`)).ok)
  program.child.kill('SIGTERM')
  t.equal(await program.ended, 0)
})

t.test(
  'help goes to standard output with exit status 0; wrong usage to standard error with 2',
  async (t) => {
    const asked: [string[], RegExp][] = [
      [['--help'], /^ {2}doctor .*Check settings, database/m],
      [
        ['help', 'trigger'],
        /^Usage: gatehouse trigger.*--amount <n> +Amount in minor units \(default: 4900\)/ms,
      ],
      [['--version'], new RegExp(`^gatehouse ${version} `)],
    ]
    for (const [args, pattern] of asked) {
      const program = await runProgram(t, args, {})
      t.equal(await program.ended, 0, args.join(' '))
      t.match(program.results(), pattern)
      t.equal(program.messages(), '')
    }
    const wrong: [string[], RegExp][] = [
      [['docter'], /unknown command 'docter'\n\(Did you mean doctor\?\)/],
      [['doctor', '--jsn'], /unknown option '--jsn'\n\(Did you mean --json\?\)/],
      [['keys'], /^Usage: gatehouse keys/],
      [[], /^Usage: gatehouse/],
    ]
    for (const [args, pattern] of wrong) {
      const program = await runProgram(t, args, {})
      t.equal(await program.ended, 2, args.join(' '))
      t.match(program.messages(), pattern)
      t.equal(program.results(), '')
    }
  },
)

t.test('the version is that of package.json', async (t) => {
  t.equal(version, manifest.version)
})

t.test('version names the release, its schema and the release of the database', async (t) => {
  const program = await runProgram(t, ['version'], {})
  t.equal(await program.ended, 0)
  const migration = (await readCoreMigrations()).at(-1)?.name
  t.match(program.results(), `gatehouse ${version} (Node v`)
  t.match(program.results(), `brings the schema of the migration ${migration}`)
  t.notMatch(program.results(), 'the database')

  const database = await createDatabase(t)
  await database.admin.query(`INSERT INTO schema_releases (version, files) VALUES ('7.0.0', '{}')`)
  const asked = await runProgram(t, ['version', '--json'], { DATABASE_URL: database.url })
  t.equal(await asked.ended, 0)
  t.match(JSON.parse(asked.results()), {
    ...{ release: version, schema: { migration, queue: Number }, database: '7.0.0' },
  })
  const away = await runProgram(t, ['version'], { DATABASE_URL: 'postgres://a:b@127.0.0.1:9/none' })
  t.equal(await away.ended, 1)
  t.match(away.results(), `gatehouse ${version}`)
  t.match(away.messages(), /The database cannot be reached: .*ECONNREFUSED/)
})

t.test('a closed pipe is not an error', async (t) => {
  const program = await runProgram(t, ['openapi'], {})
  program.child.stdout?.destroy()
  t.equal(await program.ended, 0)
  t.equal(program.messages(), '')
})

t.test('an unusable database is one line, for every command', async (t) => {
  const nowhere = 'postgres://app:secret_word@127.0.0.1:9/gatehouse'
  const empty = await createDatabase(t)
  await empty.admin.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public')
  const cases: [string[], Record<string, string>, RegExp][] = [
    [['seed'], { DATABASE_OWNER_URL: nowhere }, /cannot be reached: .*Check DATABASE_URL/],
    [['keys', 'status'], { DATABASE_WORKER_URL: nowhere }, /cannot be reached: .*Check/],
    [['keys', 'status'], production(empty), /does not match this release: .*gatehouse migrate/],
    [
      ['billing', 'replay'],
      { ...production(empty), DATABASE_URL: empty.url.replace('app%20password', 'secret_word') },
      /cannot be reached: password authentication failed/,
    ],
  ]
  for (const [args, env, pattern] of cases) {
    const program = await runProgram(t, args, { ...production(empty), ...env })
    t.equal(await program.ended, 1, args.join(' '))
    t.match(program.messages(), pattern)
    t.notMatch(program.output(), /secret_word|^ +at /m, 'no secret, no stack')
  }
})

async function occupyPort(t: Test): Promise<{ port: string }> {
  const busy = createServer().listen(0, '127.0.0.1')
  await once(busy, 'listening')
  t.teardown(() => busy.close())
  const address = busy.address()
  return { port: typeof address === 'object' && address !== null ? String(address.port) : '' }
}

/** Copies the tree without dev/demo. Resolves to the path of its command line. */
async function copyWithoutDemo(folder: string): Promise<string> {
  const tree = fileURLToPath(new URL('..', import.meta.url))
  await mkdir(join(folder, 'app'))
  for (const name of ['src', 'plugins', 'routes', 'prisma', 'examples/shop']) {
    await cp(join(tree, name), join(folder, 'app', name), { recursive: true })
  }
  await cp(join(tree, 'package.json'), join(folder, 'app/package.json'))
  await symlink(join(tree, 'node_modules'), join(folder, 'app/node_modules'))
  return join(folder, 'app/src/cli.ts')
}
