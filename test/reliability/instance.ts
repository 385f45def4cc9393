import { Agent, request as send } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Test } from 'tap'
import { testSettings } from '#dev/testing/settings.ts'
import { overloadDetail } from '#plugins/limits/under-pressure.ts'
import { endedSeconds } from '#src/operations/running-processes.ts'
import type { TestDatabase } from '#test/support/database/database.ts'
import { isOnCluster } from '#test/support/database/template.ts'
import { until, untilTrue, withinMs } from '#test/support/database/until.ts'
import { addresses, type Program, runProgram } from '#test/support/processes/program.ts'

/** The whole program as a process, as a load balancer sees it. */
export type Instance = Program & {
  origin: string
  admin: string
  /** Keeps connections open as long as the server does. */
  agent: Agent
}

/** @param settings override those of a test; `options` are those of `runProgram` */
export async function startInstance(
  t: Pick<Test, 'teardown'>,
  database: Pick<TestDatabase, 'url' | 'workerUrl'> & TestDatabase,
  settings: Record<string, string> = {},
  options: Parameters<typeof runProgram>[3] = {},
): Promise<Instance> {
  const env = { ...testSettings(database), LOG_LEVEL: 'info', DRAIN_SECONDS: '1', ...settings }
  const program = await runProgram(t, ['serve'], env, options)
  const { admin, address } = await addresses(program)
  const agent = new Agent({ keepAlive: true })
  t.teardown(() => agent.destroy())
  return { ...program, origin: address, admin, agent }
}

/** Resolves once exactly this many processes are known to run. */
export function untilAnnounced(database: Pick<TestDatabase, 'admin'>, count: number) {
  // A killed process counts for so long.
  return until(
    database,
    `SELECT FROM running_processes
     WHERE ended_at IS NULL AND seen_at > now() - make_interval(secs => ${endedSeconds}) HAVING count(*) = ${count}`,
  )
}

/** Resolves once the readiness of a process is exactly this: other checks of a busy machine may fail, too. */
export async function untilReadiness({ admin }: Pick<Instance, 'admin'>, expected: object) {
  let found: unknown
  const isFound = async () => {
    const answer = await fetch(`${admin}/readyz`)
    found = await answer.json()
    if (![200, 503].includes(answer.status)) throw new Error(`${answer.status}`)
    return isDeepStrictEqual(found, expected)
  }
  await untilTrue(isFound).catch((cause) => {
    throw new Error(`/readyz says ${JSON.stringify(found)}`, { cause })
  })
}

/** Log messages that only an overloaded machine causes. */
const starved = new RegExp(
  `timeout exceeded when trying to connect|connection timeout|statement timeout|Query read timeout|reached the server too late|: overloaded|${RegExp.escape(overloadDetail)}`,
)
/** Only a cluster plans a statement before a function in it waits for a migration (503). */
const overtaken = isOnCluster() ? /structure of query does not match function result type/ : /^$/

/** The log lines of these levels, without those that only an overloaded machine causes. */
export function faultsIn(log: string, levels: 'error|fatal' | 'error|fatal|warn' = 'error|fatal') {
  const isFault = new RegExp(`"level":"(${levels})"`)
  return log.split('\n').filter((line) => isFault.test(line) && !starved.test(line))
}

/**
 * The errors that the processes have logged, without those of requests that were refused because the
 * machine was busy, and counted as such.
 * @param refusals bodies of responses with 503 and Retry-After, which contain the request id
 */
export function troublesOf(
  programs: readonly Pick<Program, 'output'>[],
  { refusals }: { refusals: readonly string[] },
): string[] {
  return programs
    .flatMap(({ output }) => faultsIn(output()))
    .filter((line) => !overtaken.test(line) && !line.includes('webhook not recorded'))
    .filter((line) => !isOfRefused(line, refusals))
    .map((line) => line.slice(0, 700))
}

/** Reasons of refused requests that an overloaded machine causes: the limits of a connection and of the event loop. */
const overload = new RegExp(`${starved.source}|no time left to record`)

/**
 * Why requests were refused, by the logs of the processes. A refused webhook has no request id: the log has a line
 * a second of these, with the newest reason.
 * @param refusals bodies of responses with 503 and Retry-After, which otherwise contain the request id
 * @param since leaves out the lines about webhooks that are older; in milliseconds
 * @returns how many a busy machine has caused, and the reasons of all others
 */
export function reasonsOf(
  programs: readonly Pick<Program, 'output'>[],
  refusals: readonly string[],
  since = 0,
) {
  const lines = programs
    .flatMap(({ output }) => output().split('\n'))
    .filter((line) => line.startsWith('{') && line.includes('"err"'))
    .map((line): LogLine => JSON.parse(line))
  const ofWebhooks = lines
    .filter(({ msg, time }) => msg === 'webhook not recorded' && Date.parse(time) >= since)
    .map(({ err }) => err.message)
  const ofWebhook = ofWebhooks.find((reason) => !overload.test(reason)) ?? ofWebhooks[0]
  const reasons = refusals.map((body) => {
    const line = lines.find(({ reqId }) => reqId !== undefined && body.includes(reqId))
    const reason = body === 'temporarily unavailable' ? ofWebhook : line?.err.message
    return reason ?? `not in the log: ${body}`
  })
  const other = reasons.filter((reason) => !overload.test(reason))
  return { busy: reasons.length - other.length, other }
}

type LogLine = { time: string; msg: string; reqId?: string; err: { message: string } }

function isOfRefused(line: string, refusals: readonly string[]): boolean {
  const { reqId } = JSON.parse(line)
  return typeof reqId === 'string' && refusals.some((body) => body.includes(reqId))
}

export type Ask = {
  method?: string
  path: string
  headers?: Record<string, string>
  body?: string
}

export type Answer = { status: number; headers: Record<string, unknown>; body: string }

/** Sends one request without a retry; rejects unless the response is complete. */
export function ask({ origin, agent }: Pick<Instance, 'origin' | 'agent'>, what: Ask) {
  return new Promise<Answer>((resolve, reject) => {
    const { method = 'GET', path, headers = {}, body = '' } = what
    const length = method === 'GET' ? {} : { 'content-length': String(Buffer.byteLength(body)) }
    const request = send(`${origin}${path}`, { agent, method, headers: { ...headers, ...length } })
    request.on('error', reject)
    request.on('response', (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part
      })
      response.on('error', reject)
      response.on('close', () => {
        if (!response.complete) return reject(new Error('the answer was cut'))
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text })
      })
    })
    request.end(body)
  })
}

/** As `ask`, but repeats a request that a slow machine has refused: 503 with Retry-After. */
export async function askPatiently(
  instance: Parameters<typeof ask>[0],
  what: Ask,
): Promise<Answer> {
  for (const end = performance.now() + withinMs; ; ) {
    const answer = await ask(instance, what)
    const seconds = answer.headers['retry-after']
    if (answer.status !== 503 || seconds === undefined || performance.now() > end) return answer
    await wait(Number(seconds) * 1_000)
  }
}
