import { prepareBetterAuth } from './better-auth.ts'
import { startGatehouse } from './contender.ts'
import { type Contender, measureContest, startBaseline } from './contest.ts'
import { ratioOf } from './measured.ts'
import { placeOrders, type Read } from './orders.ts'
import type { Place } from './place.ts'
import type { Effort, Section } from './section.ts'
import { delayMs } from './trips.ts'
import { prepareTwoTrips, startTwoTrips } from './two-trips.ts'

const connections = 64

const note = `GET /orders/:id with a session. “Plain” is Fastify with two prepared selects, without row-level
security, session plugin or policy; better-auth runs on its Prisma adapter with Prisma's documented
row-level-security recipe. “Two trips” is bare Fastify with the usual form of row-level security, which
Gatehouse had before: a statement that looks up the session, then a transaction that sets the user as a
setting; any SQL could set it. “One packet” is Gatehouse's own read, with both locks, on bare Fastify:
the rest are its hooks (session plugin, limits, metrics, headers, schemas). Gatehouse sends the function
that looks up the session and sets the sealed scope, and the select of the order, in one packet; reads
that arrive together share it, and that is why it can be faster than plain, which sends two packets for
each request and waits for its session before it selects. A read that arrives alone does not wait for
others. Round trips are those that a response waits for: its additional delay if each takes ${delayMs} ms
longer, divided by those; a test counts them at the socket.`

/** Reading an own order, compared with a minimal program and with better-auth. */
export async function measureRead(place: Place, effort: Effort): Promise<Section> {
  const contenders = await prepare(place)
  const { at, tripsOf, table } = await measureContest(contenders, connections, effort)
  const ours = at('gatehouse')
  return {
    title: 'Authorized reads',
    ratios: [
      {
        measure: 'requests/s ÷ plain Fastify and pg, 64 connections',
        value: ratioOf(ours, at('plain'), 'perSecond'),
        goal: '≥ 0.75',
      },
      {
        measure: 'the same packet on bare Fastify ÷ plain, 64',
        value: ratioOf(at('one packet'), at('plain'), 'perSecond'),
        goal: '≥ 0.75',
      },
      {
        measure: 'requests/s ÷ the usual row-level security in two trips, 64',
        value: ratioOf(ours, at('two trips'), 'perSecond'),
        goal: '≥ 1',
      },
      {
        measure: 'requests/s ÷ better-auth with row-level security, 64',
        value: ratioOf(ours, at('better-auth'), 'perSecond'),
        goal: '≥ 4',
      },
      {
        measure: 'forward authentication: GET /auth/verify ÷ GET /me, 64',
        value: ratioOf(at('GET /auth/verify'), at('GET /me'), 'perSecond'),
        goal: '≥ 0.9',
      },
      {
        measure: 'round trips to the database an authorized read waits for',
        value: tripsOf('gatehouse'),
        goal: '≤ 1.1',
      },
    ],
    measures: table,
    note,
  }
}

async function prepare(place: Place): Promise<Map<string, Contender>> {
  const reads = await placeOrders(place)
  const requests = { reads }
  const betterAuth = await prepareBetterAuth(place)
  return new Map<string, Contender>([
    ['gatehouse', { start: (url) => startGatehouse({ url }), databaseUrl: place.url, requests }],
    ['GET /me', ofGatehouse(place, reads, '/me')],
    ['GET /auth/verify', ofGatehouse(place, reads, '/auth/verify')],
    // Without row-level security: it uses the role that can read all rows.
    ['plain', { start: startBaseline('read-plain.ts'), databaseUrl: place.superuserUrl, requests }],
    [
      'one packet',
      { start: startBaseline('read-one-packet.ts'), databaseUrl: place.url, requests },
    ],
    [
      'two trips',
      {
        start: (url) => startTwoTrips(url, place.superuserUrl),
        databaseUrl: await prepareTwoTrips(place),
        requests,
      },
    ],
    [
      'better-auth',
      {
        start: startBaseline('better-auth/server.ts'),
        databaseUrl: betterAuth.url,
        requests: { reads: betterAuth.reads },
      },
    ],
  ])
}

function ofGatehouse({ url: databaseUrl }: Place, reads: readonly Read[], path: string): Contender {
  const start = (url: string) => startGatehouse({ url })
  return { start, databaseUrl, requests: { reads: reads.map(({ cookie }) => ({ path, cookie })) } }
}
