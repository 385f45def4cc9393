import t from 'tap'
import { summaryOf, wrongOf } from '#dev/testing/access/verdicts.ts'
import { policy } from '#src/access/policy.ts'
import { entriesOf, gaps, isWhole } from '#test/access/matrix/entries.ts'
import { openProgram, runMatrix } from '#test/access/matrix/matrix.ts'
import { like, type Settled } from '#test/access/matrix/settled.ts'
import { settledOfApp } from '#test/resources/index.ts'

/** Contract 3, 6 and 8, and authorization.md. The matrix fails if one has no cases. */
const settled: Settled = {
  '401 without an identity, whatever the object': like({
    actor: 'anonymous',
    place: 'malformed',
    expected: 401,
  }),
  '401 with a session or token that has ended': ({ actor, expected }) =>
    / ended| its limit|removed|revoked/.test(actor) && expected === 401,
  'permission first: 403 also for what is missing': like({ place: 'missing', expected: 403 }),
  'permission first: 403 also for another tenant’s': like({
    place: 'another tenant’s',
    expected: 403,
  }),
  'permission first: 403 also for what is no id': like({ place: 'malformed', expected: 403 }),
  'a malformed id is 400': like({ place: 'malformed', expected: 400 }),
  'then the scope: 404 for what is missing': like({ place: 'missing', expected: 404 }),
  'then the scope: 404 for another tenant’s, admins included': like({
    actor: 'admin, at night',
    place: 'another tenant’s',
    expected: 404,
  }),
  'a limited token can always GET /me': ({ route, actor, expected }) =>
    route === 'GET /me' && actor.endsWith('limited to nothing') && expected === 200,
  'a token manages no tokens, sessions or links': like({
    route: 'POST /auth/tokens',
    actor: 'token of an admin',
    expected: 403,
  }),
  'a service creates no service token': like({
    route: 'POST /service-tokens',
    actor: 'service that may do everything',
    expected: 403,
  }),
  'the app publishes in every tenant that it names': like({
    route: 'POST /tenants/:id/events',
    actor: 'app that may do what is needed',
    place: 'another tenant’s',
    expected: 201,
  }),
  'an app does nothing that its permissions do not name': like({
    route: 'POST /tenants/:id/events',
    actor: 'app that may do all but what is needed',
    expected: 403,
  }),
  'nobody but the app publishes, operators included': like({
    route: 'POST /tenants/:id/events',
    actor: 'operator',
    expected: 403,
  }),
  'an app creates no app token': like({
    route: 'POST /app-tokens',
    actor: 'app that may do everything',
    expected: 403,
  }),
  'a portal session sees the webhooks of its tenant': like({
    route: 'GET /portal/webhooks/:id',
    actor: 'portal session',
    place: 'a colleague’s',
    expected: 200,
  }),
  'another tenant’s object is a 404 in the portal': like({
    route: 'POST /portal/webhooks/:id/settings',
    actor: 'portal session',
    place: 'another tenant’s',
    expected: 404,
  }),
  'a portal session is nobody elsewhere': like({
    route: 'GET /app/webhooks',
    actor: 'portal session',
    expected: 401,
  }),
  'nobody else is in the portal, admins included': like({
    route: 'GET /portal/webhooks',
    actor: 'admin, at night',
    expected: 401,
  }),
  'operators alone: 403 for admins': like({
    route: 'GET /billing/events',
    actor: 'admin, at night',
    expected: 403,
  }),
  ...settledOfApp,
}

const bothLocks = { queryScope: true, rowLevelSecurity: true }

t.test('every route answers every actor as the contract says', async (t) => {
  const { setup, routes } = await openProgram(t, bothLocks)
  t.strictSame(gaps(routes, policy), [], 'program, contract and matrix match')
  const { verdicts, before, after } = await runMatrix(setup, entriesOf(routes))
  t.strictSame(wrongOf(verdicts), [])
  t.strictSame(after, before, 'no refused request changed anything')
  for (const [rule, isCase] of Object.entries(isWhole ? settled : {})) {
    t.ok(verdicts.some(isCase), rule)
  }
  t.comment(summaryOf(verdicts))
})

t.test('the matrix fails for an unknown route or rule', async (t) => {
  const { routes } = await openProgram(t, bothLocks)
  const access = { resource: 'secret', action: 'read' }
  t.strictSame(gaps([...routes, { method: 'GET', url: '/secrets', access }], policy), [
    'no row for the route GET /secrets',
  ])
  t.strictSame(gaps(routes, [...policy, access]), [
    'no row for the rule secret:read',
    'no route for secret:read',
  ])
  const withoutMe = routes.filter(({ url }) => url !== '/me')
  t.strictSame(gaps(withoutMe, policy), ['no route for the row GET /me'])
  const withOpenMe = [...withoutMe, { method: 'GET', url: '/me', access: 'public' }]
  t.strictSame(gaps(withOpenMe, policy), ['GET /me states anyone'])
  const [first, ...others] = policy
  t.strictSame(gaps(routes, others), [`no rule for the row ${first?.resource}:${first?.action}`])
})
