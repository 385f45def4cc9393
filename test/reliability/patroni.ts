import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { findFreePort } from '#dev/demo/postgres/free-port.ts'
import { chooseAccount } from '#dev/demo/postgres/os-account.ts'
import { postgresPrograms } from '#test/support/database/machine-postgres.ts'
import { untilTrue } from '#test/support/database/until.ts'
import { findProgram } from '#test/support/processes/find-program.ts'

const needed = ['etcd', 'patroni', 'haproxy', 'setpriv'] as const
const missing = needed.filter((name) => findProgram(name) === null)

/** Why there can be no such cluster on this machine, to skip a test with; false if there can. */
export const noPatroni =
  missing.length > 0
    ? `this machine has no ${missing.join(', ')}`
    : postgresPrograms === null && 'this machine has no PostgreSQL with its clients'

const replication = { username: 'replicator', password: 'replication password' }
const rewind = { username: 'rewinder', password: 'rewind password' }
const superuser = { username: 'postgres', password: 'superuser password' }

type Member = { name: string; port: number; apiPort: number; data: string }

/** One of the servers of the cluster, or a part that leads to it. */
export type Part = {
  /** `kill -9`, and a new process. */
  restart(): Promise<void>
  kill(): Promise<void>
  start(): void
}

export type PatroniCluster = {
  /** The superuser's URL of a database, through HAProxy to the primary. */
  url(database: string): string
  etcd: Part
  haproxy: Part
  /** Resolves with the primary once there is one, and a synchronous standby beside it. */
  primary(): Promise<{ name: string; patroni: Part; killPostgres(): Promise<void> }>
}

/**
 * Two PostgreSQL servers under Patroni with a synchronous standby, etcd, and HAProxy, which leads to
 * the primary: the layout of docs/deployment.md on one machine. Gone with the test.
 */
export async function startPatroni(t: Pick<Test, 'teardown'>): Promise<PatroniCluster> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-patroni-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  await chmod(folder, 0o777) // for the account the servers run under when this is root
  const account = await chooseAccount(folder)
  const as = account && [`--reuid=${account.uid}`, `--regid=${account.gid}`, '--clear-groups']
  const start = (args: readonly string[]) =>
    // They end with this process, however that ends. Patroni then stops its PostgreSQL.
    spawn('setpriv', ['--pdeathsig=TERM', ...(as ?? []), '--', ...args], {
      cwd: folder,
      env: { PATH: process.env.PATH, LC_ALL: 'C.UTF-8' },
      stdio: 'ignore',
    })
  const part = (args: readonly string[]) => startPart(t, () => start(args))

  // At the same time, so that all are different.
  const ports = await Promise.all(Array.from({ length: 7 }, () => findFreePort()))
  const [etcdPort = 0, etcdPeerPort = 0, port = 0, ...memberPorts] = ports
  const etcdPeer = `http://127.0.0.1:${etcdPeerPort}`
  const etcdUrl = `http://127.0.0.1:${etcdPort}`
  const etcd = part([
    ...['etcd', '--name=one', `--data-dir=${join(folder, 'etcd')}`],
    ...[`--listen-client-urls=${etcdUrl}`, `--advertise-client-urls=${etcdUrl}`],
    ...[`--listen-peer-urls=${etcdPeer}`, `--initial-advertise-peer-urls=${etcdPeer}`],
    `--initial-cluster=one=${etcdPeer}`,
  ])
  const members: (Member & { patroni: Part })[] = []
  for (const [index, name] of ['pg1', 'pg2'].entries()) {
    const data = join(folder, name)
    const [port = 0, apiPort = 0] = memberPorts.slice(2 * index)
    const member = { name, data, port, apiPort }
    const file = join(folder, `${name}.yml`)
    await writeFile(file, JSON.stringify(patroniSettings(member, etcdPort, folder)), {
      mode: 0o644,
    })
    t.teardown(() => killPostgres(member))
    members.push({ ...member, patroni: part(['patroni', file]) })
  }
  await writeFile(join(folder, 'haproxy.cfg'), haproxySettings(port, members))
  const haproxy = part(['haproxy', '-db', '-f', join(folder, 'haproxy.cfg')])
  const cluster: PatroniCluster = {
    url(database) {
      const password = encodeURIComponent(superuser.password)
      return `postgres://${superuser.username}:${password}@127.0.0.1:${port}/${database}`
    },
    etcd,
    haproxy,
    async primary() {
      let found: typeof members = []
      await untilTrue(async () => {
        const name = await findPrimary(members)
        found = members.filter((member) => member.name === name)
        return found.length > 0
      })
      const [one] = found
      if (one === undefined) throw new Error('No member is primary.')
      return { name: one.name, patroni: one.patroni, killPostgres: () => killPostgres(one) }
    },
  }
  await cluster.primary()
  return cluster
}

/**
 * Asks etcd through any member, because what a member remembers may be seconds old: a primary that is
 * killed without a synchronous standby is rightly not replaced.
 */
async function findPrimary(members: readonly Member[]): Promise<unknown> {
  for (const { apiPort } of members) {
    const answer = await fetch(`http://127.0.0.1:${apiPort}/cluster`).catch(() => null)
    const text = (await answer?.text().catch(() => '')) ?? ''
    const all: unknown = answer?.ok ? JSON.parse(text) : {}
    if (!isClusterState(all)) continue
    const leader = all.members.find(({ role, state }) => role === 'leader' && state === 'running')
    if (all.members.some(({ role }) => role === 'sync_standby')) return leader?.name
  }
  return undefined
}

type ClusterState = { members: Record<string, unknown>[] }

function isClusterState(value: unknown): value is ClusterState {
  return (
    typeof value === 'object' &&
    value !== null &&
    'members' in value &&
    Array.isArray(value.members)
  )
}

function startPart(t: Pick<Test, 'teardown'>, spawnIt: () => ChildProcess): Part {
  let child = spawnIt()
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
  const start = () => {
    child = spawnIt()
  }
  t.teardown(kill)
  return {
    kill,
    start,
    async restart() {
      await kill()
      start()
    },
  }
}

/** Patroni does not stop its PostgreSQL when it is killed. */
async function killPostgres({ data }: Pick<Member, 'data'>): Promise<void> {
  const text = await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => '')
  const pid = Number(text.split('\n')[0])
  if (!(pid > 1)) return
  try {
    process.kill(pid, 'SIGKILL')
    await untilTrue(() => !isRunning(pid))
  } catch {
    // It has ended.
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** Those of docs/deployment/patroni.yml on loopback ports. */
function patroniSettings({ name, port, apiPort, data }: Member, etcdPort: number, folder: string) {
  const parameters = {
    max_connections: 200,
    synchronous_commit: 'on',
    wal_log_hints: 'on',
  }
  return {
    scope: 'gatehouse',
    name,
    restapi: { listen: `127.0.0.1:${apiPort}`, connect_address: `127.0.0.1:${apiPort}` },
    etcd3: { hosts: `127.0.0.1:${etcdPort}` },
    bootstrap: {
      dcs: {
        ...{ ttl: 20, loop_wait: 2, retry_timeout: 5, maximum_lag_on_failover: 1_048_576 },
        ...{ synchronous_mode: true, postgresql: { use_pg_rewind: true, parameters } },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }, 'data-checksums'],
      pg_hba: [
        `host replication ${replication.username} 127.0.0.1/32 scram-sha-256`,
        'host all all 127.0.0.1/32 scram-sha-256',
      ],
    },
    postgresql: {
      listen: `127.0.0.1:${port}`,
      connect_address: `127.0.0.1:${port}`,
      data_dir: data,
      bin_dir: postgresPrograms,
      pgpass: join(folder, `${name}.pgpass`),
      authentication: { superuser, replication, rewind },
      parameters: { unix_socket_directories: '' },
    },
  }
}

/** Those of docs/deployment/haproxy.cfg in front of PostgreSQL. */
function haproxySettings(port: number, members: readonly Member[]): string {
  return `global
  maxconn 1000
defaults
  timeout connect 2s
listen postgres
  mode tcp
  bind 127.0.0.1:${port}
  timeout client 1h
  timeout server 1h
  option httpchk OPTIONS /primary
  http-check expect status 200
  default-server inter 1s fastinter 500ms downinter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
${members.map((one) => `  server ${one.name} 127.0.0.1:${one.port} maxconn 150 check port ${one.apiPort}\n`).join('')}`
}
