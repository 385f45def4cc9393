import type { RouteRow } from '#dev/testing/access/route-row.ts'
import { permits, rules } from './contract.ts'
import { reachOf } from './expected.ts'

/** Something that takes a right away from a person who is allowed to call the route. */
export type Revocation = {
  name: string
  /** The actor (actors.ts) who loses it. */
  actor: string
  /** With the user's id as $1; in the portal with the tenant's. */
  sql: string
  /** Statuses of the refusal. */
  refusals: readonly number[]
}

const admin = 'admin, at night'
const editor = 'editor, at noon'
const token = 'token of an admin'
const operator = 'operator'

/** Their author is taken out first, as the function that removes a member does. */
const postsStay = 'WITH post AS (UPDATE posts SET author_id = NULL WHERE author_id = $1)'

const endedSession: Omit<Revocation, 'actor'>[] = [
  { name: 'signed out', sql: 'DELETE FROM sessions WHERE user_id = $1', refusals: [401] },
  {
    name: 'the session is past its limit',
    sql: 'UPDATE sessions SET expires_at = now() WHERE user_id = $1',
    refusals: [401],
  },
  {
    name: 'removed from the tenant',
    sql: `${postsStay} DELETE FROM memberships WHERE user_id = $1`,
    refusals: [401],
  },
  {
    name: 'the user was deleted',
    sql: `${postsStay} DELETE FROM users WHERE id = $1`,
    refusals: [401],
  },
]

const endedToken: Omit<Revocation, 'actor'>[] = [
  {
    name: 'the token was deleted',
    sql: 'DELETE FROM api_tokens WHERE user_id = $1',
    refusals: [401],
  },
  {
    name: 'the token is past its limit',
    sql: `UPDATE api_tokens SET expires_at = now() - interval '1 second' WHERE user_id = $1`,
    refusals: [401],
  },
  {
    name: 'the owner of the token left the tenant',
    sql: `${postsStay} DELETE FROM memberships WHERE user_id = $1`,
    refusals: [401],
  },
]

const ownInvitation = 'invitations WHERE email = (SELECT email FROM users WHERE id = $1)'
const endedInvitation: Omit<Revocation, 'actor'>[] = [
  { name: 'the invitation was withdrawn', sql: `DELETE FROM ${ownInvitation}`, refusals: [404] },
  {
    name: 'the inviter was demoted',
    sql: `UPDATE memberships SET role = 'editor'
          WHERE user_id = (SELECT invited_by FROM ${ownInvitation})`,
    refusals: [404],
  },
  {
    name: 'the address is not verified any more',
    sql: 'UPDATE users SET email_verified = false WHERE id = $1',
    refusals: [404],
  },
]

const itsAppToken = 'id = (SELECT app_token_id FROM portal_sessions WHERE tenant_id = $1)'

/** Nobody in the portal has a role: what ends their session takes everything away. */
const endedPortal: Omit<Revocation, 'actor'>[] = [
  {
    name: 'the app ended the session',
    sql: 'DELETE FROM portal_sessions WHERE tenant_id = $1',
    refusals: [401],
  },
  {
    name: 'the session is past its hour',
    sql: 'UPDATE portal_sessions SET expires_at = now() WHERE tenant_id = $1',
    refusals: [401],
  },
  {
    name: 'the app token was deleted',
    sql: `DELETE FROM app_tokens WHERE ${itsAppToken}`,
    refusals: [401],
  },
  {
    name: 'the app token lost the permission',
    sql: `UPDATE app_tokens SET permissions = '{event:publish}' WHERE ${itsAppToken}`,
    refusals: [401],
  },
  {
    name: 'the secret of the app token was rotated',
    sql: `UPDATE app_tokens SET secret_rotated_at = clock_timestamp() WHERE ${itsAppToken}`,
    refusals: [401],
  },
  { name: 'the tenant was deleted', sql: 'SELECT close_tenant($1)', refusals: [401] },
]

const viewer = { role: 'viewer', operator: false, limit: null, session: true, recent: true }

/** Every way in which somebody who may call the route can stop being allowed to. */
export function revocationsOf({ url, row }: { url: string; row: RouteRow }): Revocation[] {
  if (url.startsWith('/portal/')) {
    return endedPortal.map((one) => ({ ...one, actor: 'portal session' }))
  }
  const rule = rules[row.who]
  // Of an app those of revoked-while-writing.test.ts: it is no person.
  if (rule === undefined || reachOf(row) === 'app') return []
  const found: Revocation[] = []
  const add = (actor: string, ...ones: Omit<Revocation, 'actor'>[]) =>
    found.push(...ones.map((one) => ({ ...one, actor })))
  add(rule.reach === 'operator' ? operator : admin, ...endedSession)
  if (rule.credential === undefined) {
    add(token, ...endedToken)
    if (rule.token !== undefined) {
      add(token, {
        name: 'the token was limited to nothing',
        sql: `UPDATE api_tokens SET all_permissions = false, permissions = '{}' WHERE user_id = $1`,
        refusals: [403],
      })
    }
  }
  if (rule.reach === 'operator') {
    add(operator, {
      name: 'no operator any more',
      sql: 'DELETE FROM oauth_identities WHERE user_id = $1',
      refusals: [403],
    })
  }
  if (rule.credential === 'recent-session') {
    add(rule.reach === 'operator' ? operator : admin, {
      name: 'authenticated too long ago',
      sql: `UPDATE sessions SET authenticated_at = now() - interval '301 seconds' WHERE user_id = $1`,
      refusals: [403],
    })
  }
  if (!permits(rule, { ...viewer, tenantId: 'any' })) {
    const demotion = {
      name: 'demoted to viewer',
      sql: `UPDATE memberships SET role = 'viewer' WHERE user_id = $1`,
      refusals: [403],
    }
    if (rule.reach !== 'operator') add(admin, demotion)
    if (rule.credential === undefined) add(token, demotion)
  }
  if (rule.reach === 'tenant' || rule.reach === 'chain' || row.needsTenant) {
    add(admin, {
      name: 'left the tenant and went on without one',
      sql: 'UPDATE sessions SET tenant_id = NULL WHERE user_id = $1',
      refusals: [403],
    })
  }
  if (rule.reach === 'chain') {
    add(admin, {
      name: 'removed from the team',
      sql: 'DELETE FROM team_members WHERE user_id = $1',
      refusals: [404],
    })
  }
  if (row.object === 'own-invitation') add(admin, ...endedInvitation)
  if (rule.attribute) {
    add(editor, {
      name: 'moved to another department',
      sql: `UPDATE memberships SET department = 'sales' WHERE user_id = $1`,
      refusals: [403],
    })
  }
  return found
}
