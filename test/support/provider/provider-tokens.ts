import type { Test } from 'tap'
import { createProviders } from '#src/auth/oidc/clients.ts'
import { createProviderTokens, type ProviderTokens } from '#src/auth/provider-tokens/access.ts'
import { type RevocationDeps, revokeGrant } from '#src/auth/provider-tokens/revoke.ts'
import { openSystemDatabase } from '#src/db/system-database.ts'
import { openQueue } from '#src/queue/queue.ts'
import { patient } from '#test/support/database/open.ts'
import type { Journey } from './sign-in-journey.ts'

/** The deps of the worker's revocations: its own role and its own provider clients. */
export function createSignOutWorker(
  t: Test,
  { config, database }: Pick<Journey, 'config' | 'database'>,
): RevocationDeps {
  const systemDb = openSystemDatabase(database.workerUrl, 2, patient)
  t.teardown(() => systemDb.close())
  const providers = createProviders(config.providers, config)
  return { systemDb, providers, keys: config.encryptionKeys }
}

/** Runs every revocation that has a job once, and returns the outcomes. */
export async function drain(
  { database }: Pick<Journey, 'database'>,
  worker: RevocationDeps,
  isLast = false,
): Promise<string[]> {
  const { rows } = await database.admin.query<{ id: string }>(
    `SELECT data->>'revocationId' AS id FROM pgboss.job WHERE name = 'revoke-grant'`,
  )
  const outcomes: string[] = []
  for (const { id } of rows) outcomes.push(await revokeGrant(worker, id, isLast))
  return outcomes
}

/** Provider tokens as the server with `config` has them. */
export async function openGrantAccess(
  t: Test,
  { config, database }: Pick<Journey, 'config' | 'database'>,
): Promise<ProviderTokens> {
  const systemDb = openSystemDatabase(database.url, 3, patient)
  const locks = openSystemDatabase(database.url, 3, patient)
  const queue = openQueue(database.url, 'web', () => {})
  await queue.start()
  t.teardown(async () => {
    await queue.stop({ graceful: false })
    await Promise.all([systemDb.close(), locks.close()])
  })
  const providers = createProviders(config.providers, config)
  return createProviderTokens({ keys: config.encryptionKeys, systemDb, locks, queue, providers })
}
