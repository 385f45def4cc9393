import { readFile } from 'node:fs/promises'
import t from 'tap'
import { parse } from 'yaml'
import { readConfig } from '#src/config/config.ts'

type Service = {
  environment?: Record<string, string>
  env_file?: string[]
  networks: string[] | Record<string, { ipv4_address?: string }>
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
  const networks = services[name]?.networks ?? []
  return Array.isArray(networks) ? networks : Object.keys(networks)
}

/** The fixed address of a service among those that the balancer reaches. */
function addressOf(name: string): string | undefined {
  const networks = services[name]?.networks ?? []
  return Array.isArray(networks) ? undefined : networks.balanced?.ipv4_address
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
    'migrate worker: database',
    'postgres web-a: database',
    'postgres web-b: database',
    'postgres worker: database',
    'redis web-a: counts',
    'redis web-b: counts',
    // Two processes of one kind share everything.
    'web-a web-b: balanced,database,counts,web-outbound',
    'web-a worker: database',
    'web-b worker: database',
  ])
  for (const network of ['database', 'counts', 'balanced']) {
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
    t.strictSame(
      web.trustProxy,
      [addressOf('balancer')],
      'only the balancer may set the address of a client',
    )
    t.equal(web.admin.host, addressOf(name), 'only this network reaches the admin listener')
    t.match(compose.configs.balancer.content, `${addressOf(name)}:${web.port}`)
    t.match(compose.configs.balancer.content, `health_port ${web.admin.port}\n`)
    t.equal(web.sendsMail, true)
  }
  const worker = settingsOf('worker', { ROLE: 'worker' }) // as the command does
  t.strictSame(worker.warnings, [])
  t.equal(worker.mail?.host, 'mail.example.com')
})
