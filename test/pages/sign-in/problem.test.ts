import t from 'tap'
import { refusalReasons, unavailableReasons } from '#src/auth/oidc/errors.ts'
import { plainBrand } from '#src/config/brand.ts'
import { type ErrorCode, errorTable, type SignInFailure } from '#src/http/problems.ts'
import { renderPage } from '#src/pages/kit/layout.ts'
import { type PageProblem, problemPage, signInTexts } from '#src/pages/sign-in/problem.ts'

const codes = Object.keys(errorTable) as ErrorCode[]
const purposes = ['sign-in', 'link', 'reauthenticate'] as const

function page(change: Partial<PageProblem>): string {
  const problem = { status: 400, title: 'A title', detail: '', requestId: 'req-1' } as const
  const rest = {
    code: 'sign-in-refused',
    path: '/auth/callback?code=x',
    waitSeconds: null,
    viewer: { mayBeSignedIn: false },
  } as const
  const shown = { ...problem, ...rest, signIn: null, resumption: null, fields: [], ...change }
  return renderPage(problemPage(shown), plainBrand)
}

const mainOf = (markup: string) => /<main.*<\/main>/s.exec(markup)?.[0] ?? ''

/** Every link, button and form in the main part of the page. */
function nextSteps(markup: string): string[] {
  return [...mainOf(markup).matchAll(/<(?:a|button|form)\b[^>]*/g)].map(([tag]) => tag)
}

t.test('every reason for a failed sign-in has an explanation and one next step', async (t) => {
  const reasons = [...Object.keys(refusalReasons), ...Object.keys(unavailableReasons)]
  for (const reason of reasons)
    t.ok(Object.hasOwn(signInTexts, reason), `explanation for ${reason}`)
  for (const reason of Object.keys(signInTexts)) {
    for (const purpose of purposes) {
      const markup = page({ signIn: { purpose, reason }, detail: 'For programs.' })
      t.equal(nextSteps(markup).length, 1, `${purpose}: ${reason}`)
      t.notMatch(mainOf(markup), /id_token|issuer|nonce|jwks|`|For programs/, 'no technical terms')
    }
  }
})

t.test('the next step depends on the purpose of the sign-in', async (t) => {
  const next = (signIn: SignInFailure) => nextSteps(page({ signIn })).join()
  const reason = 'id-token-expired'
  t.match(next({ purpose: 'sign-in', reason }), '"/auth/login"')
  t.match(next({ purpose: 'link', reason }), '"/app/account"')
  t.match(next({ purpose: 'reauthenticate', reason }), '"/auth/login?reauthenticate=true"')
  const odd = page({ signIn: { purpose: 'sign-in', reason: 'constructor' } })
  t.match(odd, 'Sign-in failed', 'an unknown reason has a page too')
})

t.test('every other problem has one next step', async (t) => {
  for (const code of codes) t.equal(nextSteps(page({ code })).length, 1, code)
})

t.test(
  'a problem below a section links back to the section, a problem of the section itself does not',
  async (t) => {
    const next = (path: string) => nextSteps(page({ code: 'conflict', path })).join()
    t.match(next('/app/tenant/members/remove'), '"/app/tenant"')
    t.match(next('/app/billing/evt/replay?x=/app/account/'), '"/app/billing"')
    t.match(next('/app/tenant'), '"/"')
    t.match(next('//evil.example/app/tenant/x'), '"/"')
  },
)

t.test('the page says how long to wait', async (t) => {
  t.match(page({ code: 'unavailable', waitSeconds: 1 }), 'Try again in a moment.')
  t.match(page({ code: 'too-many-requests', waitSeconds: 30 }), 'Try again in 30 seconds.')
  t.match(page({ code: 'too-many-requests', waitSeconds: 600 }), 'Try again in 10 minutes.')
})

t.test('a page for somebody who is known keeps the navigation', async (t) => {
  const viewer = { userId: 1, email: 'ada@acme.example', role: 'admin', operator: false }
  const markup = page({ viewer, code: 'not-found', status: 404, path: '/app/webhooks/7?x=1' })
  t.match(markup, /<a href="\/app\/webhooks" aria-current="page">/)
  t.match(markup, 'ada@acme.example')
})

t.test(
  'a page for somebody who is unknown leads home, to the reference and to sign-in',
  async (t) => {
    const linksOf = (markup: string) => {
      const header = /<header class="side">.*?<\/header>/s.exec(markup)?.[0] ?? ''
      return [...header.matchAll(/href="([^"]*)"/g)].map(([, href]) => href)
    }
    t.same(linksOf(page({})), ['/', '/', '/docs', '/auth/login'])
    const viewer = { mayBeSignedIn: true }
    t.same(linksOf(page({ viewer })), ['/', '/', '/docs', '/app/account'])
  },
)
