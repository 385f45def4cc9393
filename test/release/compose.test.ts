import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { readConfig } from '#src/config/config.ts'
import { findProgram } from '#test/support/processes/find-program.ts'
import { runProgram, temporaryFolder } from '#test/support/processes/program.ts'

type Service = {
  environment?: Record<string, string>
  env_file?: string[]
  networks: string[]
}

const text = await readFile(new URL('../../compose.yaml', import.meta.url), 'utf8')
const compose = parse(text, { merge: true })
const services: Record<string, Service> = compose.services

const passwords = ['SUPERUSER', 'OWNER', 'APP', 'WORKER', 'REDIS'] as const

/** The passwords of `.env` that a service gets, in its environment or in a file of it. */
function passwordsOf(name: string): string[] {
  const files = JSON.stringify(name === 'redis' ? compose.configs.redis : null)
  const given = JSON.stringify(services[name]?.environment ?? {}) + files
  return passwords.filter((password) => given.includes(`\${${password}_PASSWORD:?}`))
}

function networksOf(name: string): string[] {
  return services[name]?.networks ?? []
}

t.test('each service has the passwords that it needs, and no other', async (t) => {
  t.same(passwordsOf('postgres'), ['SUPERUSER', 'OWNER'])
  t.same(passwordsOf('redis'), ['REDIS'])
  t.same(passwordsOf('migrate'), ['OWNER', 'APP', 'WORKER'])
  t.same(passwordsOf('web-a'), ['APP', 'REDIS'])
  t.same(passwordsOf('web-b'), ['APP', 'REDIS'])
  t.same(passwordsOf('worker'), ['WORKER'])
  t.same(passwordsOf('balancer'), [])
  t.notOk(services.migrate?.env_file, 'migrate gets no other secret')
  t.notOk(services.worker?.env_file?.includes('web.env'))
  t.notOk(services.web?.env_file?.includes('worker.env'))
})

t.test('two services share a network only if one connects to the other', async (t) => {
  const shared: string[] = []
  const names = Object.keys(services).sort()
  for (const [index, one] of names.entries()) {
    for (const other of names.slice(index + 1)) {
      const common = networksOf(one).filter((network) => networksOf(other).includes(network))
      if (common.length > 0) shared.push(`${one} ${other}: ${common}`)
    }
  }
  t.same(shared, [
    'balancer web-a: balanced',
    'balancer web-b: balanced',
    // The clients of PostgreSQL share its network.
    'migrate postgres: database',
    'migrate web-a: database',
    'migrate web-b: database',
    'postgres web-a: database',
    'postgres web-b: database',
    'postgres worker: worker-database',
    'redis web-a: counts',
    'redis web-b: counts',
    // Two processes of one kind share everything.
    'web-a web-b: balanced,database,counts,web-outbound',
  ])
  for (const network of ['database', 'worker-database', 'counts', 'balanced']) {
    t.equal(compose.networks[network].internal, true, `${network} has no way out`)
  }
  t.equal(compose.networks.public.enable_ipv6, true, 'an IPv6 client keeps its address')
})

t.test('the settings of web and worker are complete with the files it names', async (t) => {
  const files: Record<string, Record<string, string>> = {
    'gatehouse.env': {
      ENCRYPTION_KEYS: `k:${'a'.repeat(43)}`,
      OIDC_PROVIDERS: 'acme',
      OIDC_ACME_ISSUER: 'https://login.example.com',
      OIDC_ACME_CLIENT_ID: 'gatehouse',
      OIDC_ACME_CLIENT_SECRET: 'secret',
      ALERT_FROM: 'alerts@example.com',
    },
    'web.env': {
      SESSION_SECRETS: 's'.repeat(32),
      BILLING_WEBHOOK_SECRETS: 's'.repeat(16),
    },
    'worker.env': { SMTP_URL: 'smtp://user:word@mail.example.com' },
  }
  const settingsOf = (name: string, changes: Record<string, string> = {}) => {
    const { environment = {}, env_file = [] } = services[name] ?? {}
    const given = Object.assign({}, ...env_file.map((file) => files[file]), environment)
    const filled = Object.entries<string>(given).map(([key, value]) => [
      key,
      value.replaceAll(/\$\{\w+:\?[^}]*\}/g, 'example.com'),
    ])
    return readConfig({ ...Object.fromEntries(filled), ...changes })
  }
  for (const name of ['web-a', 'web-b']) {
    const web = settingsOf(name)
    t.strictSame(web.warnings, [])
    // The test above says who else is in this network, and in those of the admin listener.
    const [balanced] = compose.networks.balanced.ipam.config
    t.strictSame(web.trustProxy, [balanced.subnet], 'its network may set the address of a client')
    t.equal(web.admin.host, '0.0.0.0', 'the balancer reaches the admin listener')
    t.match(compose.configs.balancer.content, `${name}:${web.port}`)
    t.match(compose.configs.balancer.content, `health_port ${web.admin.port}\n`)
    t.equal(web.sendsMail, true)
  }
  const worker = settingsOf('worker', { ROLE: 'worker' }) // as the command does
  t.strictSame(worker.warnings, [])
  t.equal(worker.mail?.host, 'mail.example.com')
})

const program = findProgram('podman-compose')
const skip = program === null && 'no podman-compose on this machine'

t.test('podman-compose reads it', { skip }, async (t) => {
  if (program === null) return
  const cwd = await temporaryFolder(t)
  await writeFile(join(cwd, 'compose.yaml'), text)
  const values = passwords.map((password) => `${password}_PASSWORD=word\n`)
  await writeFile(join(cwd, '.env'), `DOMAIN=app.example.com\n${values.join('')}`)
  // Prints what it would run; nothing needs podman.
  const args = ['--podman-path', '/bin/true', '--dry-run', 'up', '--no-build']
  const run = await runProgram(t, args, {}, { cwd, program })
  t.equal(await run.ended, 0, run.output())
  for (const name of Object.keys(services)) {
    const networks = `--net(?: [\\w,-]+) --network-alias ${name} `
    t.match(run.output(), new RegExp(networks))
  }
})
