import { createProvider } from '#src/auth/oidc/client.ts'
import { type Config, ConfigError, readConfig } from '#src/config/config.ts'
import type { Environment } from '#src/config/parse.ts'
import { findKeyUse } from '#src/db/key-rotation.ts'
import { findKeyFaults, listSeenKeys } from '#src/db/running-processes.ts'
import { openSystemDatabase } from '#src/db/system-database.ts'
import { openQueue } from '#src/queue/queue.ts'
import { verifyDatabase } from '#src/schema/verify.ts'
import { withEnvironment } from './environment.ts'
import { encryptedColumns } from './keys.ts'
import { print, printJson } from './output.ts'

/** The result of one check. A fault names the problem and the remedy; a hint may be harmless. */
type Finding = { subject: string; faults: readonly string[]; hints?: readonly string[] }

type Options = { readonly json?: true }

/** `gatehouse doctor`: checks everything the program needs and reports how to fix it. */
export default async function doctorCommand(env: Environment, { json }: Options): Promise<void> {
  const findings = await withEnvironment(env, examine)
  if (findings.some(({ faults }) => faults.length > 0)) process.exitCode = 1
  if (json) return printJson(findings)
  for (const { subject, faults, hints = [] } of findings) {
    print(`${faults.length === 0 ? 'ok   ' : 'FAULT'}  ${subject}`)
    for (const line of [...faults, ...hints]) print(`         ${line}`)
  }
}

async function examine(env: Environment): Promise<Finding[]> {
  const config = tryConfig(env)
  if (config instanceof ConfigError) return [{ subject: 'settings', faults: config.faults }]
  const { url, workerUrl } = config.database
  return [
    { subject: 'settings', faults: proxyFaults(config), hints: config.warnings },
    await examineDatabase('database, application role', 'DATABASE_URL', url, 'web'),
    await examineDatabase('database, worker role', 'DATABASE_WORKER_URL', workerUrl, 'worker'),
    await examineQueue(config),
    await examineKeys(config),
    ...(await Promise.all(config.providers.map((provider) => examineProvider(provider, config)))),
  ]
}

function tryConfig(env: Environment): Config | ConfigError {
  try {
    return readConfig(env)
  } catch (error) {
    if (error instanceof ConfigError) return error
    throw error
  }
}

/** Behind a proxy that terminates TLS, the secure cookie is set only if the proxy is trusted. */
function proxyFaults({ session, trustProxy }: Config): string[] {
  return session.secureCookie && trustProxy.length === 0
    ? [
        'BASE_URL is https, but no proxy is trusted: the session cookie would never be set. Name the address of your TLS proxy in TRUST_PROXY.',
      ]
    : []
}

async function examineDatabase(
  subject: string,
  setting: string,
  url: string,
  duty: 'web' | 'worker',
): Promise<Finding> {
  try {
    const findings = await verifyDatabase(url, duty)
    return { subject, faults: findings.map(({ problem, remedy }) => `${problem} ${remedy}`) }
  } catch (error) {
    return {
      subject,
      faults: [`It cannot be reached: ${messageOf(error)}. Check ${setting} and PostgreSQL.`],
    }
  }
}

async function examineQueue({ database }: Config): Promise<Finding> {
  const subject = 'queue'
  const queue = openQueue(database.workerUrl, 'web', () => {})
  try {
    await queue.start()
    const known = await queue.getQueue('billing-event')
    return { subject, faults: known ? [] : ['Its queues are missing. Run `gatehouse migrate`.'] }
  } catch (error) {
    return { subject, faults: [`${messageOf(error)}. Run \`gatehouse migrate\`.`] }
  } finally {
    await queue.stop({ graceful: false }).catch(() => {})
  }
}

async function examineKeys({ database, encryptionKeys }: Config): Promise<Finding> {
  const subject = 'encryption keys'
  const systemDb = openSystemDatabase(database.workerUrl, 1)
  try {
    const known = encryptionKeys.map(({ id }) => id)
    const uses = await findKeyUse(systemDb, encryptedColumns)
    const missing = uses.filter(({ keyId }) => !known.includes(keyId))
    const faults = missing.map(
      ({ table, column, keyId, count }) =>
        `${table}.${column}: ${count} need the key ${keyId}. Add it to ENCRYPTION_KEYS, after the first.`,
    )
    const seen = await listSeenKeys(systemDb)
    return { subject, faults: [...faults, ...findKeyFaults(seen)] }
  } catch (error) {
    return { subject, faults: [`They cannot be checked: ${messageOf(error)}.`] }
  } finally {
    await systemDb.close()
  }
}

async function examineProvider(
  setup: Config['providers'][number],
  { clock }: Config,
): Promise<Finding> {
  const subject = `provider ${setup.name} (${setup.issuer})`
  try {
    await createProvider(setup, { clock }).check()
    return { subject, faults: [] }
  } catch (error) {
    const prefix = `OIDC_${setup.name.toUpperCase()}`
    return { subject, faults: [`${messageOf(error)} Check ${prefix}_ISSUER and the network.`] }
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error)
}
