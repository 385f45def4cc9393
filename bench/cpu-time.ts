import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'

const maxTries = 100
const pauseMs = 20
const ticksPerSecond = 100 // of /proc, on every Linux

/**
 * @param superuserUrl a database of a PostgreSQL server on this machine
 * @returns what tells the CPU seconds of all processes of the server so far, ended ones included
 */
export async function watchCpu(superuserUrl: string): Promise<() => Promise<number>> {
  const client = new pg.Client({ connectionString: superuserUrl })
  await client.connect()
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  const postmaster = (await statOf(String(rows[0]?.pid)))?.parent
  await client.end()
  if (postmaster === undefined) throw new Error('the server is not on this machine')
  return async () => {
    let last = await readTicks(postmaster)
    // A process that ends meanwhile would be missed, or counted twice.
    for (let tries = 0; tries < maxTries; tries += 1) {
      await wait(pauseMs)
      const next = await readTicks(postmaster)
      if (next.processes === last.processes) return next.ticks / ticksPerSecond
      last = next
    }
    throw new Error('the processes of the server change all the time')
  }
}

/** The ticks so far, and the ids of the processes that they were read from. */
async function readTicks(postmaster: string): Promise<{ ticks: number; processes: string }> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const stats = await Promise.all(pids.map(async (pid) => ({ pid, stat: await statOf(pid) })))
  const own = stats.flatMap(({ pid, stat }) => {
    if (stat === null) return []
    if (pid === postmaster) return [{ pid, ticks: stat.own + stat.ended }]
    return stat.parent === postmaster ? [{ pid, ticks: stat.own }] : []
  })
  return {
    ticks: own.reduce((sum, { ticks }) => sum + ticks, 0),
    processes: own.map(({ pid }) => pid).join(),
  }
}

/** Fields of /proc/PID/stat (proc_pid_stat(5)): the parent, and ticks of it and its ended children. */
async function statOf(pid: string) {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const [parent, utime, stime, cutime, cstime] = [1, 11, 12, 13, 14].map((at) => fields[at])
  if (parent === undefined) return null
  return { parent, own: Number(utime) + Number(stime), ended: Number(cutime) + Number(cstime) }
}
