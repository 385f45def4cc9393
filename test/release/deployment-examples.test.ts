import { globSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import t from 'tap'
import { parseAllDocuments } from 'yaml'
import { type Config, readConfig } from '#src/config/config.ts'
import { root } from '#test/docs/page.ts'
import { findProgram } from '#test/support/processes/find-program.ts'
import { runProgram, temporaryFolder } from '#test/support/processes/program.ts'

/* docs/deployment: the units of systemd and the example for Kubernetes. */

/** What the files of secrets contain, in both. */
const secrets: Readonly<Record<string, string>> = {
  DATABASE_URL: 'postgresql://app:word@db.example/gatehouse',
  DATABASE_WORKER_URL: 'postgresql://worker:word@db.example/gatehouse',
  DATABASE_OWNER_URL: 'postgresql://owner:word@db.example/gatehouse',
  SESSION_SECRETS: 's'.repeat(32),
  BILLING_WEBHOOK_SECRETS: 's'.repeat(16),
  ENCRYPTION_KEYS: `k:${'a'.repeat(43)}`,
  OIDC_ACME_CLIENT_SECRET: 'secret',
  REDIS_URL: 'redis://redis.example',
  SMTP_URL: 'smtps://user:word@mail.example.com',
}

t.test('what is installed starts the program itself: npm would stay beside it', async (t) => {
  const files = [
    'Dockerfile',
    'dev/template/common/Dockerfile',
    'compose.yaml',
    ...globSync('docs/deployment/**/*.{service,yaml,yml}', { cwd: root }),
  ]
  let starts = 0
  for (const file of files) {
    const text = await readFile(join(root, file), 'utf8')
    const image = text.slice(text.lastIndexOf('\nFROM ') + 1)
    for (const [line] of image.matchAll(
      /^\s*(ExecStart=|ENTRYPOINT|CMD|-? ?(command|args):).*/gm,
    )) {
      starts += 1
      t.notMatch(line, /\b(npm|npx|sh)\b/, `${file}: ${line}`)
    }
  }
  t.ok(starts >= files.length, 'each has a start')
})

const systemdAnalyze = findProgram('systemd-analyze')
const skip = systemdAnalyze === null && 'no systemd-analyze on this machine'

t.test('systemd accepts the units and finds them hardened', { skip }, async (t) => {
  if (systemdAnalyze === null) return
  const units = globSync('docs/deployment/systemd/*.service', { cwd: root })
  t.equal(units.length, 3)
  const cwd = await temporaryFolder(t)
  for (const unit of units) {
    const text = await readFile(join(root, unit), 'utf8')
    // systemd wants to find the program.
    const name = basename(unit)
    await writeFile(join(cwd, name), text.replace('/usr/local/bin/gatehouse', process.execPath))
    const run = async (...args: string[]) => {
      const program = await runProgram(
        t,
        [...args, `./${name}`],
        {},
        { cwd, program: systemdAnalyze },
      )
      return { status: await program.ended, output: program.output() }
    }
    t.strictSame(await run('verify'), { status: 0, output: '' }, name)
    // 0 to 100; a unit without any of these settings has 96.
    const { status, output } = await run('security', '--offline=yes', '--threshold=20')
    t.equal(status, 0, `${name}: ${output.split('\n').at(-2)}`)
  }
})

t.test(
  'the units of processes that check URLs allow what Linux needs for its addresses',
  async (t) => {
    for (const unit of ['web', 'worker']) {
      const text = await readFile(
        join(root, `docs/deployment/systemd/gatehouse-${unit}.service`),
        'utf8',
      )
      const families = /^RestrictAddressFamilies=(.*)$/m.exec(text)?.[1]?.split(' ') ?? []
      t.ok(families.includes('AF_NETLINK'), `${unit}: os.networkInterfaces() throws without it`)
    }
  },
)

type Container = {
  image: string
  args: string[]
  env?: { name: string; value: string }[]
  envFrom: { configMapRef?: { name: string }; secretRef?: { name: string } }[]
  ports?: { name: string; containerPort: number }[]
  [probe: `${string}Probe`]: { httpGet: { path: string; port: string } }
  securityContext: object
}
type Pod = {
  containers: Container[]
  terminationGracePeriodSeconds?: number
  securityContext: object
  automountServiceAccountToken: boolean
}
type Manifest = {
  kind: string
  metadata: { name: string }
  data?: Record<string, string>
  spec: {
    selector?: { matchLabels?: object }
    podSelector?: { matchLabels?: Record<string, string> }
    ingress?: { ports: { port: string | number }[] }[]
    egress?: { ports: { port: string | number }[] }[]
    template?: { metadata: { labels: Record<string, string> }; spec: Pod }
  }
}

const file = await readFile(join(root, 'docs/deployment/kubernetes.yaml'), 'utf8')
const documents = parseAllDocuments(file)
const manifests: Manifest[] = documents.map((document) => document.toJS())
const secretsOf = new Map(
  [...file.matchAll(/^# {3}Secret (\S+) +(.*)$/gm)].map(([, name = '', list = '']) => {
    return [name, list.split(', ')] as const
  }),
)

function find(kind: string, name: string): Manifest {
  const found = manifests.find((one) => one.kind === kind && one.metadata.name === name)
  if (found === undefined) throw new Error(`no ${kind} ${name}`)
  return found
}

function containerOf({ spec }: Manifest): Container {
  const [container] = spec.template?.spec.containers ?? []
  if (container === undefined) throw new Error('no container')
  return container
}

function environmentOf({ env = [], envFrom }: Container): Record<string, string> {
  const given: Record<string, string> = {}
  for (const { configMapRef, secretRef } of envFrom) {
    if (configMapRef) Object.assign(given, find('ConfigMap', configMapRef.name).data)
    for (const name of secretsOf.get(secretRef?.name ?? '') ?? []) given[name] = secrets[name] ?? ''
  }
  for (const { name, value } of env) given[name] = value
  return given
}

t.test('the example for Kubernetes is YAML without a fault', async (t) => {
  t.strictSame(
    documents.flatMap(({ errors, warnings }) => [...errors, ...warnings]),
    [],
  )
  t.strictSame([...new Set(manifests.map(({ kind }) => kind))].sort(), [
    ...['ConfigMap', 'Deployment', 'Job', 'Namespace', 'NetworkPolicy', 'PodDisruptionBudget'],
    'Service',
  ])
})

t.test(
  'its settings are complete for each role, and none has the secrets of another',
  async (t) => {
    const roles = { web: 'web', worker: 'worker' } as const
    for (const part of Object.keys(roles) as (keyof typeof roles)[]) {
      const container = containerOf(find('Deployment', `gatehouse-${part}`))
      const env = environmentOf(container)
      // As the command `worker` does.
      const config: Config = readConfig({ ...env, ROLE: part })
      t.strictSame(config.warnings, [], part)
      t.equal(env.DATABASE_OWNER_URL, undefined, part)
      const ports = Object.fromEntries(
        (container.ports ?? []).map((one) => [one.name, one.containerPort]),
      )
      t.equal(ports.admin, config.admin.port)
      if (part === 'web') t.equal(ports.http, config.port)
      t.equal(config.admin.host, '0.0.0.0', 'the probes reach it')
      const grace = find('Deployment', `gatehouse-${part}`).spec.template?.spec
      t.ok((grace?.terminationGracePeriodSeconds ?? 0) > config.drainMs / 1_000 + 12, part)
    }
    const web = environmentOf(containerOf(find('Deployment', 'gatehouse-web')))
    const worker = environmentOf(containerOf(find('Deployment', 'gatehouse-worker')))
    t.strictSame([web.DATABASE_WORKER_URL, web.SMTP_URL], [undefined, undefined])
    t.strictSame([worker.DATABASE_URL, worker.SESSION_SECRETS], [undefined, undefined])
    const job = containerOf(find('Job', 'gatehouse-migrate'))
    t.strictSame(job.args, ['migrate'])
    t.match(environmentOf(job), { DATABASE_OWNER_URL: String, DATABASE_URL: String })
  },
)

t.test('its pods run one image, without a right that they do not need', async (t) => {
  const pods = manifests.filter(({ spec }) => spec?.template !== undefined)
  t.equal(pods.length, 3)
  t.equal(new Set(pods.map((pod) => containerOf(pod).image)).size, 1)
  for (const pod of pods) {
    const { name } = pod.metadata
    t.match(
      pod.spec.template?.spec,
      {
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      },
      name,
    )
    t.match(
      containerOf(pod).securityContext,
      {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      },
      name,
    )
  }
})

t.test('its probes and policies name ports and pods that exist', async (t) => {
  for (const part of ['web', 'worker']) {
    const deployment = find('Deployment', `gatehouse-${part}`)
    t.strictSame(deployment.spec.selector?.matchLabels, deployment.spec.template?.metadata.labels)
    const container = containerOf(deployment)
    for (const [probe, path] of Object.entries({
      startup: '/healthz',
      readiness: '/readyz',
      liveness: '/healthz',
    })) {
      t.strictSame(container[`${probe}Probe`]?.httpGet, { path, port: 'admin' }, `${part} ${probe}`)
    }
    const policy = find('NetworkPolicy', part).spec
    t.strictSame(policy.podSelector?.matchLabels, deployment.spec.template?.metadata.labels)
    const named = (container.ports ?? []).map(({ name }) => name)
    const opened = (policy.ingress ?? []).flatMap(({ ports }) => ports.map(({ port }) => port))
    t.strictSame(opened.toSorted(), named.toSorted(), part)
  }
  t.strictSame(find('NetworkPolicy', 'closed').spec.podSelector, {}, 'all pods')
  const database = find('NetworkPolicy', 'names-and-database').spec.egress ?? []
  t.ok(database.some(({ ports }) => ports.some(({ port }) => port === 5432)))
})
