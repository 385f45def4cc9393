import type { Contract } from './rules.ts'

/** The sender of a request, with every property that matters for access. */
export type Actor = {
  name: string
  by: 'anonymous' | 'session' | 'token' | 'service' | 'app' | 'portal'
  role: string
  department: string | null
  plan: string | null
  /** Time of day of the request, UTC. */
  time: string
  /** The tenant of the session or token: the one with most objects, another, or none. */
  in: 'home' | 'elsewhere' | 'nowhere'
  /** Also a member of the other tenant. */
  memberOfBoth: boolean
  state: 'live' | 'ended' | 'past-its-limit' | 'removed'
  /** The limit of a token, relative to what the route needs. */
  limit: 'none' | 'what is needed' | 'all but what is needed' | 'everything' | 'nothing'
  operator: boolean
  fromAnotherSite: boolean
  authenticatedLongAgo: boolean
}

/** Someone signed in as a viewer at noon, but for the facts. */
export function actor(name: string, facts: Partial<Actor>): Actor {
  return {
    name,
    by: 'session',
    role: 'viewer',
    department: 'press',
    plan: null,
    time: '12:00:00.000',
    in: 'home',
    memberOfBoth: false,
    state: 'live',
    limit: 'none',
    operator: false,
    fromAnotherSite: false,
    authenticatedLongAgo: false,
    ...facts,
  }
}

/** The permissions of the actor's token on a route that needs `needed`; null for an unlimited token. */
export function limitOf(
  { givable }: Contract,
  { by, limit }: Actor,
  needed: string | undefined,
): readonly string[] | null {
  const all = givable[by === 'app' || by === 'service' ? by : 'token']
  switch (limit) {
    case 'none':
      return null
    case 'everything':
      return all
    case 'nothing':
      return []
    case 'what is needed':
      return needed === undefined || (by !== 'token' && !all.includes(needed)) ? all : [needed]
    case 'all but what is needed':
      return all.filter((permission) => permission !== needed)
  }
}
