import { type Actor, actor } from '#dev/testing/access/actors.ts'
import { roles } from './contract.ts'

const editor = (name: string, facts: Partial<Actor>) => actor(name, { role: 'editor', ...facts })
const admin = (name: string, facts: Partial<Actor>) => actor(name, { role: 'admin', ...facts })
const service = (name: string, facts: Partial<Actor>) =>
  actor(name, { by: 'service', role: 'none', department: null, limit: 'everything', ...facts })
const app = (name: string, facts: Partial<Actor>) => service(name, { by: 'app', ...facts })
const portal = (name: string, facts: Partial<Actor>) =>
  service(name, { by: 'portal', limit: 'none', ...facts })
const token = (name: string, facts: Partial<Actor>) => admin(name, { by: 'token', ...facts })

/** The most privileged actors come first: they find a leak soonest. */
export const actors: readonly Actor[] = [
  admin('admin, at night', { time: '03:00:00.000', department: null, plan: 'pro' }),
  admin('admin of another tenant', { in: 'elsewhere' }),
  actor('anonymous', { by: 'anonymous' }),
  actor('viewer', {}),
  editor('editor, at noon', {}),
  editor('editor, a moment before nine', { time: '08:59:59.999' }),
  editor('editor, at nine', { time: '09:00:00.000' }),
  editor('editor, a moment before five', { time: '16:59:59.999' }),
  editor('editor, at five', { time: '17:00:00.000' }),
  editor('editor of another department', { department: 'sales' }),
  editor('editor of no department', { department: null }),
  ...Object.keys(roles)
    .filter((role) => !['viewer', 'editor', 'admin'].includes(role))
    .map((role) => actor(role, { role })),
  admin('admin of both tenants, in the other one', { in: 'elsewhere', memberOfBoth: true }),
  actor('member with a role that is not in the table', { role: 'stranger' }),
  admin('person of no tenant', { in: 'nowhere' }),
  admin('removed member', { state: 'removed' }),
  admin('admin whose session was ended', { state: 'ended' }),
  admin('admin whose session is past its limit', { state: 'past-its-limit' }),
  admin('admin who authenticated long ago', { authenticatedLongAgo: true }),
  admin('admin, from a page of another site', { fromAnotherSite: true }),
  token('token of an admin', { plan: 'pro' }),
  token('token of an admin, limited to what is needed', { limit: 'what is needed' }),
  token('token of an admin, limited to all but what is needed', {
    limit: 'all but what is needed',
  }),
  token('token of an admin, limited to nothing', { limit: 'nothing' }),
  token('token of a viewer, limited to everything', { role: 'viewer', limit: 'everything' }),
  token('token of an editor, at five', { role: 'editor', time: '17:00:00.000' }),
  token('token of an admin of another tenant', { in: 'elsewhere' }),
  token('token of a removed member', { state: 'removed' }),
  token('token that was ended', { state: 'ended' }),
  token('token past its limit', { state: 'past-its-limit' }),
  actor('operator', { operator: true }),
  actor('operator who authenticated long ago', { operator: true, authenticatedLongAgo: true }),
  token('token of an operator', { operator: true }),
  service('service that may do everything', {}),
  service('service that may do what is needed', { limit: 'what is needed' }),
  service('service that may do all but what is needed', { limit: 'all but what is needed' }),
  service('service of another tenant', { in: 'elsewhere' }),
  service('service whose token was revoked', { state: 'ended' }),
  service('service whose token is past its limit', { state: 'past-its-limit' }),
  app('app that may do everything', {}),
  app('app that may do what is needed', { limit: 'what is needed' }),
  app('app that may do all but what is needed', { limit: 'all but what is needed' }),
  app('app whose token was revoked', { state: 'ended' }),
  app('app whose token is past its limit', { state: 'past-its-limit' }),
  portal('portal session', {}),
  portal('portal session of another tenant', { in: 'elsewhere' }),
  portal('portal session whose app token was revoked', { state: 'ended' }),
  portal('portal session past its limit', { state: 'past-its-limit' }),
  portal('portal session, from a page of another site', { fromAnotherSite: true }),
]

// Where a whole matrix takes too long, only some actors ask: MATRIX_ACTORS="viewer; removed member".
const chosen = process.env.MATRIX_ACTORS?.split(/; */)

const unknown = chosen?.filter((name) => !actors.some((one) => one.name === name)) ?? []
if (unknown.length > 0) throw new Error(`MATRIX_ACTORS names no actor: ${unknown.join('; ')}`)

/** Whether every actor asks, so that every kind of case must occur. */
export const areAll = chosen === undefined

/** The actors that ask. */
export const chosenActors = actors.filter(({ name }) => areAll || chosen?.includes(name))
