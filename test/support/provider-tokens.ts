import type { Test } from 'tap'
import { createProviders } from '#src/auth/oidc/clients.ts'
import { createGrantAccess, type GrantAccess } from '#src/auth/provider-tokens/access.ts'
import { type RevocationDependencies, revokeGrant } from '#src/auth/provider-tokens/revoke.ts'
import { openIdentityPlane } from '#src/db/system-database.ts'
import { openQueue } from '#src/queue/queue.ts'
import type { Journey } from './sign-in-journey.ts'

/** What the worker revokes with: its own role and its own conversations. */
export function createSignOutWorker(
  t: Test,
  { config, database }: Pick<Journey, 'config' | 'database'>,
): RevocationDependencies {
  const plane = openIdentityPlane(database.workerUrl, 2)
  t.teardown(() => plane.close())
  const providers = createProviders(config.providers, config.clock, () => {})
  return { plane, providers, keys: config.encryptionKeys }
}

/** Works on every revocation that has a job, once each; resolves to what came of them. */
export async function drain(
  { database }: Pick<Journey, 'database'>,
  worker: RevocationDependencies,
  isLast = false,
): Promise<string[]> {
  const { rows } = await database.admin.query<{ id: string }>(
    `SELECT data->>'revocationId' AS id FROM pgboss.job WHERE name = 'revoke-grant'`,
  )
  const outcomes: string[] = []
  for (const { id } of rows) outcomes.push(await revokeGrant(worker, id, isLast))
  return outcomes
}

/** The way to the provider's API, as the server of `config` has it. */
export async function openGrantAccess(
  t: Test,
  { config, database }: Pick<Journey, 'config' | 'database'>,
): Promise<GrantAccess> {
  const plane = openIdentityPlane(database.url, 3)
  const locks = openIdentityPlane(database.url, 3)
  const queue = openQueue(database.url, 'web', () => {})
  await queue.start()
  t.teardown(async () => {
    await queue.stop({ graceful: false })
    await Promise.all([plane.close(), locks.close()])
  })
  const providers = createProviders(config.providers, config.clock, () => {})
  return createGrantAccess({ keys: config.encryptionKeys, plane, locks, queue, providers })
}
