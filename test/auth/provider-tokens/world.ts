import { createHash } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import type { PgBoss } from 'pg-boss'
import type { Test } from 'tap'
import { createUser, type TestUser } from '#dev/testing/people.ts'
import { createProvider, type Provider, randomPending } from '#src/auth/oidc/client.ts'
import { createProviderTokens, type ProviderTokens } from '#src/auth/provider-tokens/access.ts'
import type { RefreshStep } from '#src/auth/provider-tokens/refresh.ts'
import { storeGrant } from '#src/auth/provider-tokens/store.ts'
import type { EncryptionKeys } from '#src/crypto/encryption.ts'
import { type Database, openDatabase } from '#src/db/database.ts'
import type { Entry } from '#src/db/entry.ts'
import { openSystemDatabase, type SystemDatabase } from '#src/db/system-database.ts'
import { openQueue } from '#src/queue/queue.ts'
import { systemClock } from '#src/runtime/clock.ts'
import { createDatabase, type TestDatabase } from '#test/support/database/database.ts'
import { patient } from '#test/support/database/open.ts'
import { allowScopes } from '#test/support/database/scope.ts'
import { runProgram } from '#test/support/processes/program.ts'
import { startHostileProvider } from '#test/support/provider/hostile-provider.ts'
import { makeKey } from '#test/support/provider/hostile-tokens.ts'
import { withoutQuirks } from '#test/support/provider/without-quirks.ts'

const clientSecret = 'secret_of_the_client'
const redirectUri = 'http://localhost:3000/auth/callback'
export const identity = { provider: 'hostile', subject: 'subject-1' }
export const keyOf = (id: string) => ({ id, secret: createHash('sha256').update(id).digest() })
export const keys: EncryptionKeys = [keyOf('test')]
const rsaKey = await makeKey('RS256', 'rsa-1')

export type World = {
  database: TestDatabase
  op: Awaited<ReturnType<typeof startHostileProvider>>
  user: TestUser
  provider: Provider
  systemDb: SystemDatabase
  db: Database
  /** Opens a transaction as a user. */
  enter: (user: TestUser) => Entry<TestUser>
  queue: PgBoss
}

/** A user with an identity at a provider that issues refresh tokens. */
export async function createWorld(t: Test): Promise<World> {
  const database = await createDatabase(t)
  const op = await startHostileProvider({
    clock: systemClock,
    keys: [rsaKey],
    secret: clientSecret,
  })
  t.teardown(() => op.close())
  op.fault = { offline: true }
  const user = await createUser(database)
  await database.admin.query(
    `INSERT INTO oauth_identities (provider, provider_user_id, user_id, issuer)
     VALUES ($1, $2, $3, $4)`,
    [identity.provider, identity.subject, user.userId, op.issuer],
  )
  const systemDb = openSystemDatabase(database.url, 5, patient)
  const db = openDatabase(database.url, 2, patient)
  const enter = await allowScopes<TestUser>(database)
  const queue = openQueue(database.url, 'web', () => {})
  await queue.start()
  t.teardown(async () => {
    await queue.stop({ graceful: false })
    await Promise.all([systemDb.close(), db.close()])
  })
  return { database, op, user, provider: connect(op.issuer), systemDb, db, enter, queue }
}

/** Removes what a grant has left behind and the provider's faults, for the next case in the same world. */
export async function startOver({ database, op }: World): Promise<void> {
  op.fault = { offline: true }
  for (const table of ['provider_grants', 'token_revocations', 'audit_log', 'pgboss.job']) {
    await database.admin.query(`DELETE FROM ${table}`)
  }
}

/** The provider's client, as one process has it. */
export function connect(issuer: string): Provider {
  const config = {
    name: identity.provider,
    label: 'Hostile',
    issuer,
    clientId: 'gatehouse',
    clientSecrets: [clientSecret],
    clientAuth: 'client_secret_post',
    clientKey: null,
    ...withoutQuirks,
    storeTokens: true,
    userinfo: false,
    scopes: 'openid email files',
    idTokenAlgorithms: ['RS256'],
    allowInsecure: true,
  } as const
  return createProvider(config, { clock: systemClock, deadlineMs: 3_000 })
}

/** A sign-in at the provider that stores its tokens. @param seconds lifetime of the access token */
export async function grantTokens(world: World, seconds = 0): Promise<void> {
  const { op, provider, db, enter, user } = world
  const pending = randomPending()
  const url = await provider.authorizationUrl(pending, redirectUri)
  const { tokens } = await provider.exchange(op.approve(url), pending, redirectUri)
  if (tokens === null) throw new Error('no tokens')
  const key = { ...identity, userId: user.userId }
  await db.write(enter(user), (connection) =>
    storeGrant(connection, keys, key, { ...tokens, expiresIn: seconds }),
  )
}

/** Provider tokens as one process has them: with its own pools and its own client. */
export function openAccess(
  t: Test,
  { database, op, queue }: World,
  reached?: (step: RefreshStep) => void,
): ProviderTokens {
  const systemDb = openSystemDatabase(database.url, 5, patient)
  const locks = openSystemDatabase(database.url, 4, patient)
  t.teardown(() => Promise.all([systemDb.close(), locks.close()]))
  const providers = new Map([[identity.provider, connect(op.issuer)]])
  return createProviderTokens({
    keys,
    systemDb,
    locks,
    queue,
    providers,
    ...(reached && { reached }),
  })
}

export async function grantRow({ database }: World): Promise<Record<string, unknown> | undefined> {
  const { rows } = await database.admin.query('SELECT * FROM provider_grants')
  return rows[0]
}

export async function revocations({ database }: World): Promise<string[]> {
  const { rows } = await database.admin.query<{ status: string }>(
    'SELECT status FROM token_revocations ORDER BY created_at, id',
  )
  return rows.map(({ status }) => status)
}

/** Makes the access token expire, so that the next request refreshes it. */
export async function expire({ database }: World): Promise<void> {
  await database.admin.query('UPDATE provider_grants SET expires_at = now()')
}

/** Refresh tokens that were sent to the token endpoint more than once. */
export function reused({ op }: World): string[] {
  const { presented } = op.records
  return presented.filter((token, index) => presented.indexOf(token) !== index)
}

const childEntry = fileURLToPath(new URL('./access-child.ts', import.meta.url))

/** A child process that prints access tokens, or kills itself at the step `crash`. */
export function askInChild(t: Test, world: World, crash: RefreshStep | 'never', times = 1) {
  const env = {
    GRANT_DATABASE: world.database.url,
    GRANT_ISSUER: world.op.issuer,
    GRANT_CRASH: crash,
    GRANT_TIMES: String(times),
  }
  return runProgram(t, [], env, { entry: childEntry })
}
