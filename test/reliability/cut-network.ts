import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readlink } from 'node:fs/promises'
import { promisify } from 'node:util'
import type { Test } from 'tap'
import { untilTrue } from '#test/support/database/until.ts'

const run = promisify(execFile)

/** Addresses of the two machines on the link of the clients and on that of the database. */
const clientLink = { here: '10.1.0.1', there: '10.1.0.2' }
const databaseLink = { here: '10.2.0.1', there: '10.2.0.2' }
/** No interface has it, so frames to it are dropped by whoever receives them. */
const nobody = '02:00:00:00:00:01'

export type Network = {
  /** A command that turns itself into a program on the other machine. */
  there: readonly [string, ...string[]]
  /** Where the other machine is reached by clients. */
  host: string
  /** Where this machine is reached over the link of the database. */
  databaseHost: string
  /** From now on every packet of the database link is lost, in both directions and without an error. */
  cut(): Promise<void>
  heal(): Promise<void>
}

/**
 * A second machine, a network namespace, which clients reach over one link and from which the
 * database is reached over another. The test itself must run in a namespace of its own.
 */
export async function buildNetwork(t: Test): Promise<Network> {
  const holder = spawn('unshare', ['--net', 'sleep', 'infinity'], { stdio: 'ignore' })
  const ended = once(holder, 'close')
  t.teardown(async () => {
    holder.kill('SIGKILL')
    await ended
  })
  const own = await readlink('/proc/self/ns/net')
  await untilTrue(async () => (await readlink(`/proc/${holder.pid}/ns/net`)) !== own)
  const there = ['nsenter', `--net=/proc/${holder.pid}/ns/net`, '--'] as const
  const ip = (line: string) => run('ip', line.split(' '))
  const ipThere = (line: string) => run(there[0], [...there.slice(1), 'ip', ...line.split(' ')])
  await ip('link set lo up')
  await ipThere('link set lo up')
  const links = { client: clientLink, data: databaseLink }
  for (const [name, addresses] of Object.entries(links)) {
    await ip(`link add ${name}0 type veth peer name ${name}1 netns ${holder.pid}`)
    await ip(`address add ${addresses.here}/30 dev ${name}0`)
    await ipThere(`address add ${addresses.there}/30 dev ${name}1`)
    await ip(`link set ${name}0 up`)
    await ipThere(`link set ${name}1 up`)
  }
  return {
    there,
    host: clientLink.there,
    databaseHost: databaseLink.here,
    async cut() {
      const lost = `lladdr ${nobody} nud permanent`
      await ip(`neighbour replace ${databaseLink.there} dev data0 ${lost}`)
      await ipThere(`neighbour replace ${databaseLink.here} dev data1 ${lost}`)
    },
    async heal() {
      await ip(`neighbour delete ${databaseLink.there} dev data0`)
      await ipThere(`neighbour delete ${databaseLink.here} dev data1`)
    },
  }
}
