import { type Actor, limitOf } from '#dev/testing/access/actors.ts'
import * as shared from '#dev/testing/access/world.ts'
import { type Caller, foreignOf, otherSite, perLimit } from '#dev/testing/access/world.ts'
import { randomApiToken } from '#src/crypto/api-token.ts'
import { randomToken, sha256 } from '#src/crypto/hash.ts'
import { portalCookie } from '#src/http/headers/portal-cookie.ts'
import { addOperator, type TestApp } from '#test/support/app/app.ts'
import { addIdentity } from '#test/support/callers/account.ts'
import { addAppToken } from '#test/support/callers/app-caller.ts'
import { formTokenOf } from '#test/support/callers/portal.ts'
import { contract } from './contract.ts'
import { addPortalApp, portalAppOf } from './portal-app.ts'

export type World = shared.World<TestApp>

/** Two tenants with a member each, and a type of event that the app has. */
export async function createWorld(test: TestApp): Promise<World> {
  await test.database.admin.query(
    `INSERT INTO app_event_types (name, description) VALUES ('demo', 'x') ON CONFLICT DO NOTHING`,
  )
  return shared.createWorld(test)
}

/**
 * Creates the user, membership and session or token of an actor.
 * @param operators the running program's set of operators
 */
export async function createCaller(
  world: World,
  actor: Actor,
  operators: Set<string>,
): Promise<Caller> {
  const foreign = foreignOf(world, actor)
  if (actor.by === 'app') return { ...(await createApp(world, actor)), foreign }
  if (actor.by === 'portal') return { ...(await createPortal(world, actor)), foreign }
  return shared.createCaller(contract, world, actor, async ({ userId }) => {
    if (!actor.operator) return
    const { test } = world
    await addIdentity(test, userId, `operator-${userId}`)
    operators.add(`demo:operator-${userId}`)
    await addOperator(test.database, `demo:operator-${userId}`)
  })
}

/** The app is in no tenant: its requests name one. */
async function createApp({ test }: World, actor: Actor) {
  const limited = perLimit(async (permissions) => {
    if (actor.state === 'ended') return randomApiToken('app')
    const seconds = actor.state === 'live' ? 86_400 : -1
    return (await addAppToken(test.database, { permissions, seconds })).token
  })
  const headersFor = async (needed: string | undefined) => ({
    authorization: `Bearer ${await limited(limitOf(contract, actor, needed) ?? [])}`,
  })
  return { ...actor, userId: null, tenantId: null, memberOf: [], headersFor }
}

/** Somebody who has opened a link; who is to lose the session has it from an app token of their own. */
async function createPortal({ test, home, elsewhere }: World, actor: Actor) {
  const { database } = test
  const tenantId = actor.in === 'home' ? home : elsewhere
  const app = await (actor.state === 'ended' ? addPortalApp(test) : portalAppOf(test))
  const secret = randomToken()
  await database.admin.query(
    `INSERT INTO portal_sessions (hash, tenant_id, app_token_id, opened_at, expires_at)
     VALUES ($1, $2, $3, now(), now() + make_interval(secs => $4))`,
    [sha256(sha256(secret)), tenantId, app.id, actor.state === 'past-its-limit' ? -1 : 3_600],
  )
  if (actor.state === 'ended') {
    await database.admin.query('DELETE FROM app_tokens WHERE id = $1', [app.id])
  }
  const cookie = `${portalCookie}=${secret}`
  const headers = { cookie, ...(actor.fromAnotherSite && otherSite) }
  const formFields = { token: formTokenOf(secret) }
  const headersFor = async () => headers
  return { ...actor, userId: null, tenantId, memberOf: [], headersFor, formFields }
}
