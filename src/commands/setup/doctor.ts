import { planNames } from '#src/access/entitlements.ts'
import { createProvider } from '#src/auth/oidc/client.ts'
import { findLeftover, findOtherHolders } from '#src/billing/former.ts'
import { type Config, ConfigError, readConfig } from '#src/config/config.ts'
import type { Environment } from '#src/config/parse.ts'
import { requireSameSite } from '#src/config/same-site.ts'
import { isDatabaseUnavailable } from '#src/db/errors.ts'
import { findLastCheck } from '#src/ledger/last-check.ts'
import { isWrong, measureClockOffset } from '#src/operations/clock-offset.ts'
import { findQuarantine } from '#src/operations/installation.ts'
import { findKeyUse } from '#src/operations/key-rotation.ts'
import { clockFault, findProcessFaults } from '#src/operations/running-processes.ts'
import { openQueue } from '#src/queue/queue.ts'
import { explanations, quarantineRemedy } from '#src/queue/supervisor.ts'
import { app } from '#src/resources/running-app.ts'
import { isUntrustedCertificate } from '#src/runtime/certificate-errors.ts'
import { describeUnreachable } from '#src/schema/unreachable.ts'
import { describeDatabase, verifyDatabase, verifyOwner } from '#src/schema/verification/verify.ts'
import { encryptedColumns } from '../keys/keys.ts'
import { openCommandDatabase } from '../kit/databases.ts'
import { withEnvironment } from '../kit/environment.ts'
import { print, printJson } from '../kit/output.ts'
import { adviceFor } from './advice.ts'
import { examineBilling, leftoverHints, otherHolderHints } from './billing.ts'
import { providerRemedy } from './providers.ts'
import { findMailFaults, findRedisFaults } from './services.ts'

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
  const config = await tryConfig(env)
  if (config instanceof ConfigError) return [{ subject: 'settings', faults: config.faults }]
  const found: Finding[] = [
    {
      subject: 'settings',
      faults: proxyFaults(config),
      hints: [...config.warnings, ...adviceFor(config)],
    },
  ]
  const logins = loginsOf(config)
  for (const login of logins) found.push(await examineDatabase(login))
  for (const login of logins.slice(-1)) {
    found.push(await examineQueue(login), await examineProcesses(login, config))
    found.push(await examineLedger(login))
  }
  // The web role may not read what is encrypted.
  if (config.role !== 'web') {
    found.push(await examineQuarantine(config), await examineKeys(config))
  }
  return [
    ...found,
    ...(await examineServices(config)),
    ...(await Promise.all(config.providers.map((provider) => examineProvider(provider, config)))),
  ]
}

async function tryConfig(env: Environment): Promise<Config | ConfigError> {
  try {
    const config = readConfig(env, app.settings?.schema, planNames)
    await requireSameSite(config)
    return config
  } catch (error) {
    if (error instanceof ConfigError) return error
    throw error
  }
}

/** Behind a proxy that terminates TLS, the secure cookie is set only if the proxy is trusted. */
function proxyFaults({ role, session, trustProxy }: Config): string[] {
  return role !== 'worker' && session.secureCookie && trustProxy.length === 0
    ? [
        'BASE_URL is https, but no proxy is trusted: the session cookie would never be set. Name the address of your TLS proxy in TRUST_PROXY.',
      ]
    : []
}

type Login = { setting: string; url: string; duty: 'web' | 'worker' }

/** The logins of a process with these settings: a process of one role has one. */
function loginsOf({ role, database: { url, workerUrl } }: Config): Login[] {
  const logins: Login[] = [
    { setting: 'DATABASE_URL', url, duty: 'web' },
    { setting: 'DATABASE_WORKER_URL', url: workerUrl, duty: 'worker' },
  ]
  return logins.filter(({ duty }) => role === 'all' || role === duty)
}

async function examineDatabase({ setting, url, duty }: Login): Promise<Finding> {
  const subject = `database, ${duty === 'web' ? 'application' : 'worker'} role`
  const findings = await verifyDatabase(url, duty).catch((error) => [
    describeUnreachable(setting, url, error),
  ])
  const kind = await describeDatabase(url).catch(() => null)
  const owner = duty === 'web' ? await verifyOwner(url).catch(() => null) : null
  return {
    subject,
    faults: [...findings, ...(owner === null ? [] : [owner])].map(
      ({ problem, remedy }) => `${problem} ${remedy}`,
    ),
    hints: kind === null ? [] : [kind],
  }
}

async function examineQueue({ setting, url }: Login): Promise<Finding> {
  const subject = 'queue'
  const runMigrate = 'Run `gatehouse migrate`.'
  const queue = openQueue(url, 'web', () => {})
  try {
    await queue.start()
    const known = await queue.getQueue('billing-event')
    return { subject, faults: known ? [] : [`Its queues are missing. ${runMigrate}`] }
  } catch (error) {
    return { subject, faults: [faultOf(setting, url, error, runMigrate)] }
  } finally {
    await queue.stop({ graceful: false }).catch(() => {})
  }
}

/** Whether this machine's clock is right, and the running processes belong together. */
async function examineProcesses(
  { setting, url }: Login,
  { clock, baseUrl, role }: Config,
): Promise<Finding> {
  const subject = 'processes and clocks'
  const systemDb = openCommandDatabase(url)
  try {
    const offsetMs = await measureClockOffset(systemDb, clock)
    const faults = isWrong(offsetMs) ? [clockFault('this machine', offsetMs)] : []
    return {
      subject,
      faults: [...faults, ...(await findProcessFaults(systemDb, { baseUrl, role }))],
    }
  } catch (error) {
    return { subject, faults: [faultOf(setting, url, error, 'They cannot be checked.')] }
  } finally {
    await systemDb.close()
  }
}

/** What the last check of the workers did not account for. */
async function examineLedger({ setting, url }: Login): Promise<Finding> {
  const subject = 'events and deliveries'
  const systemDb = openCommandDatabase(url)
  try {
    const last = await findLastCheck(systemDb)
    if (last === null) return { subject, faults: [], hints: ['No worker has checked them yet.'] }
    const { unaccounted, ageSeconds } = last
    const checked = `Checked ${Math.round(ageSeconds / 60)} minutes ago.`
    const fault = `${unaccounted} are not accounted for. Run \`gatehouse ledger verify\`.`
    return { subject, faults: unaccounted === 0 ? [] : [fault], hints: [checked] }
  } catch (error) {
    return { subject, faults: [faultOf(setting, url, error, 'They cannot be checked.')] }
  } finally {
    await systemDb.close()
  }
}

async function examineQuarantine({ database }: Config): Promise<Finding> {
  const subject = 'quarantine'
  const systemDb = openCommandDatabase(database.workerUrl)
  try {
    const found = await findQuarantine(systemDb, { record: false })
    return { subject, faults: found ? [`${explanations[found.reason]} ${quarantineRemedy}`] : [] }
  } catch (error) {
    const fault = faultOf(
      'DATABASE_WORKER_URL',
      database.workerUrl,
      error,
      'It cannot be looked up.',
    )
    return { subject, faults: [fault] }
  } finally {
    await systemDb.close()
  }
}

async function examineKeys({ database, encryptionKeys }: Config): Promise<Finding> {
  const subject = 'encryption keys'
  const url = database.workerUrl
  const systemDb = openCommandDatabase(url)
  try {
    const known = encryptionKeys.map(({ id }) => id)
    const uses = await findKeyUse(systemDb, encryptedColumns)
    const missing = uses.filter(({ keyId }) => !known.includes(keyId))
    const faults = missing.map(
      ({ table, column, keyId, count }) =>
        `${table}.${column}: ${count} need the key ${keyId}. Add it to ENCRYPTION_KEYS, after the first.`,
    )
    return { subject, faults }
  } catch (error) {
    const fault = faultOf('DATABASE_WORKER_URL', url, error, 'They cannot be checked.')
    return { subject, faults: [fault] }
  } finally {
    await systemDb.close()
  }
}

async function examineServices(config: Config): Promise<Finding[]> {
  const { redisUrl, mail, billing } = config
  const { provider, api } = billing
  const isBilled = api !== null || provider !== 'signed'
  return Promise.all([
    ...(isBilled ? [examineProviderOfBilling(config)] : []),
    ...(redisUrl === null ? [] : [found('Redis', findRedisFaults(redisUrl))]),
    ...(mail === null ? [] : [found('mail server', findMailFaults(mail))]),
  ])
}

async function examineProviderOfBilling(config: Config): Promise<Finding> {
  const { provider, api } = config.billing
  const subject = `billing provider ${provider}${api === null ? '' : ` (${api.url})`}`
  const { faults, hints } = await examineBilling(config)
  return { subject, faults, hints: [...hints, ...(await hintsOfLeftover(config))] }
}

/** None in a web process, and none from a database that cannot be read, which is a fault of its own. */
async function hintsOfLeftover({ role, database, billing }: Config): Promise<string[]> {
  if (role === 'web') return []
  const systemDb = openCommandDatabase(database.workerUrl)
  try {
    const { provider, customer } = billing
    return [
      ...leftoverHints(await findLeftover(systemDb, provider), provider),
      ...otherHolderHints(await findOtherHolders(systemDb, customer), customer),
    ]
  } catch {
    return []
  } finally {
    await systemDb.close()
  }
}

async function found(subject: string, faults: Promise<string[]>): Promise<Finding> {
  return { subject, faults: await faults }
}

/** An unreachable database has its own remedy; any other error has the given one. */
function faultOf(setting: string, url: string, error: unknown, remedy: string): string {
  if (!isDatabaseUnavailable(error) && !isUntrustedCertificate(error)) {
    return `${messageOf(error)}. ${remedy}`
  }
  const unreachable = describeUnreachable(setting, url, error)
  return `${unreachable.problem} ${unreachable.remedy}`
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
    return { subject, faults: [`${messageOf(error)} ${providerRemedy(setup, error)}`] }
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error)
}
