import { readFile, rm, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'

/** What a running demo tells the other commands of the checkout: its process and its settings. */
export type RunningDemo = { pid: number; env: Record<string, string | undefined> }

const file = () => resolve('.data/running.json')

/** The demo that runs in this checkout, or null. A file left by a killed one counts for nothing. */
export async function findRunningDemo(): Promise<RunningDemo | null> {
  try {
    const running: RunningDemo = JSON.parse(await readFile(file(), 'utf8'))
    process.kill(running.pid, 0)
    return running
  } catch {
    return null
  }
}

/** Announces this process's demo until the returned function is called. */
export async function announceDemo(
  env: Record<string, string | undefined>,
): Promise<() => Promise<void>> {
  const settings = Object.entries(env).filter(([name]) =>
    /^(DATABASE_|OIDC_|SESSION_|BILLING_|OUTBOUND_|(ENCRYPTION_KEYS|OPERATORS|BASE_URL|PORT|ADMIN_PORT)$)/.test(
      name,
    ),
  )
  const running: RunningDemo = { pid: process.pid, env: Object.fromEntries(settings) }
  await writeFile(file(), JSON.stringify(running), { mode: 0o600 })
  return () => rm(file(), { force: true })
}
