import { plansHint, plansPath } from '#src/access/policy.ts'
import type { RefusalReason, UnavailableReason } from '#src/auth/oidc/errors.ts'
import type { IdentityRefusal } from '#src/auth/sign-in/account-linking.ts'
import type { ErrorCode, Problem, Resumption, SignInFailure } from '#src/http/problems.ts'
import { entryAbove } from '#src/pages/kit/destinations.ts'
import { type Html, html, isolated } from '#src/pages/kit/html.ts'
import { layout, type Page, type UnknownViewer, type Viewer } from '#src/pages/kit/layout.ts'
import { signInPath } from './sign-in.ts'

export type PageProblem = {
  status: number
  title: string
  /** Details of this case; empty if there are none. */
  detail: string
  requestId: string
  code: ErrorCode
  /** Path and query of the request. */
  path: string
  /** Seconds to wait before trying again; null if waiting does not help. */
  waitSeconds: number | null
  /** Why a sign-in at a provider failed; null for any other problem. */
  signIn: SignInFailure | null
  /** The fields that were refused, and why: `must not be empty`. */
  fields: readonly { name: string; detail: string }[]
  /** Who asked, for the navigation. */
  viewer: Viewer | UnknownViewer
  /** How to go on with a form that was refused; null for anything else, or if nothing was kept. */
  resumption: Resumption | null
}

/** Explanation and the one suggested next step. */
export type Advice = { title?: string; text: string; label: string; href: string }

const home = { label: 'Go to the start page', href: '/' }
const signIn = { label: 'Sign in', href: '/auth/login' }
const account = { label: 'Go to your account', href: '/app/account' }

/** Advice for every error code. */
const adviceByCode: Readonly<Record<ErrorCode, Advice>> = {
  malformed: { text: 'A field is missing or not valid. Nothing was changed.', ...home },
  unauthenticated: { text: 'You need to sign in to see this page.', ...signIn },
  'invalid-token': { text: 'The token has expired, was revoked or does not exist.', ...account },
  'portal-session-ended': { text: 'Open it again from the app that led you here.', ...home },
  forbidden: {
    text: 'Your role does not allow this.',
    label: 'View permissions',
    href: '/app/access',
  },
  'session-required': {
    text: 'This needs a signed-in user; an API token is not enough.',
    ...signIn,
  },
  'person-required': {
    text: 'Pages are for people; a service token is not enough.',
    ...signIn,
  },
  'plan-required': {
    text: 'Your plan does not include this.',
    label: 'View the plans',
    href: plansPath,
  },
  'limit-reached': {
    text: 'Your plan has no room for more. Nothing was changed.',
    label: 'View the plans',
    href: plansPath,
  },
  'reauthentication-required': {
    text: 'Confirm your identity, then try again within five minutes.',
    label: 'Confirm your identity',
    href: '/auth/login?reauthenticate=true',
  },
  'cross-origin': {
    text: 'The request came from another site, so nothing was changed. Try again from our own pages.',
    ...home,
  },
  'prefetch-refused': {
    text: 'Your browser tried to preload the sign-in page.',
    ...signIn,
  },
  'sign-in-refused': { text: 'Nothing was changed. Sign in again.', ...signIn },
  'logout-refused': { text: 'No session was ended.', ...home },
  'too-many-tenants': {
    text: 'You are a member of a hundred tenants or more. Leave or delete one first.',
    ...account,
  },
  'not-found': { text: 'This page does not exist, or you do not have access to it.', ...home },
  'last-sign-in-method': {
    text: 'Add another sign-in method before you remove this one.',
    ...account,
  },
  'last-admin': { text: 'Make another member an admin first.', ...home },
  'confirmation-mismatch': {
    text: 'Type the name exactly as it is shown. Nothing was deleted.',
    ...home,
  },
  'method-not-allowed': { text: 'This address does not support that request.', ...home },
  'idempotency-key-reused': {
    text: 'The key of this request belongs to another request. Nothing was done.',
    ...home,
  },
  'precondition-failed': {
    text: 'Somebody has changed this in the meantime. Reload the page and try again.',
    ...home,
  },
  'already-exists': {
    text: 'There is one with these values already. Nothing was changed.',
    ...home,
  },
  conflict: { text: 'Something changed in the meantime. Reload the page and try again.', ...home },
  'quota-exceeded': {
    text: 'Nothing was changed. The members page shows what your tenant stores.',
    ...home,
  },
  'too-large': { text: 'The request is larger than the limit. Send less data.', ...home },
  'uri-too-long': { text: 'The address of the page is too long.', ...home },
  'unsupported-media-type': { text: 'The request has a format that we do not support.', ...home },
  'too-many-requests': { text: 'You have sent too many requests.', ...home },
  internal: { text: 'The error is on our side and has been logged.', ...home },
  unavailable: { text: 'Your request could not be processed.', ...home },
}

/** A problem as a page, with one suggested next step. */
export function problemPage(problem: PageProblem): Page {
  const { status, code, detail, requestId, waitSeconds, resumption, viewer } = problem
  const { title = problem.title, text, label, href } = adviceFor(problem)
  const next = hasNoWay(viewer) ? html`` : html`<a class="button" href="${href}">${label}</a>`
  const isKept = resumption?.isTextKept === true && !isSignInProblem(code)
  const own = detail === '' || isDetailForApi(problem) ? text : detail.replace(plansHint, '')
  const explanation = isKept ? `${own} Nothing that you entered is lost.` : own
  return layout(
    title,
    html`<section class="card narrow">
        <p class="status">${status}</p>
        <h1>${title}</h1>
        <p>${explanation}${waitSeconds === null ? '' : ` ${waitText(waitSeconds)}`}</p>
        ${fieldList(problem.fields)}
        ${next}
        <p class="quiet small">If this keeps happening, contact support with request ID ${requestId}</p>
      </section>`,
    'mayBeSignedIn' in viewer
      ? viewer
      : { current: entryAbove(pathOf(problem))?.href ?? '', ...viewer },
  )
}

/** Outside of its session the portal has no page to lead to. */
function hasNoWay({ portal }: Viewer | UnknownViewer): boolean {
  return portal != null && portal.tenantName === null
}

/** Why a form was refused, in one or two sentences. */
export function refusalText({ code, detail }: Pick<Problem, 'code' | 'detail'>): string {
  return detail?.replace(plansHint, '') ?? adviceByCode[code].text
}

/** True for a request that succeeds once its sender has signed in. */
export function isSignInProblem(code: ErrorCode): boolean {
  return code === 'unauthenticated' || code === 'reauthentication-required'
}

/** Every refused field at once. Browsers check the same before they send a form. */
function fieldList(fields: PageProblem['fields']): Html {
  if (fields.length === 0) return html``
  const items = fields.map(
    ({ name, detail }) => html`<li class="wrap"><b>${isolated(name)}</b> ${detail}.</li>`,
  )
  return html`<ul class="plain">${items}</ul>`
}

/** Details written for API clients, which name URLs; the page has a button instead. */
function isDetailForApi({ code, signIn }: PageProblem): boolean {
  return signIn !== null || code === 'reauthentication-required'
}

/** Leads back to the section the user came from, unless the problem has its own next step. */
function adviceFor({ code, path, signIn, resumption, waitSeconds, viewer }: PageProblem): Advice {
  if (signIn !== null) return signInAdvice(signIn)
  const advice = adviceByCode[code]
  if (viewer.portal) return { ...advice, label: 'Back to the webhooks', href: '/portal/webhooks' }
  if (resumption !== null) return resumptionAdvice(code, advice, resumption)
  if (advice.href !== '/') return advice
  const above = entryAbove(pathOf({ path }))
  if (above !== null) return { ...advice, label: `Back to ${above.label}`, href: above.href }
  return waitSeconds === null ? advice : { ...advice, label: 'Try again', href: '/' }
}

function pathOf({ path }: Pick<PageProblem, 'path'>): string {
  const [pathname = '/'] = path.split('?')
  return pathname
}

function resumptionAdvice(
  code: ErrorCode,
  { text, label }: Advice,
  { returnTo, isTextKept }: Resumption,
): Advice {
  if (!isSignInProblem(code)) {
    const title = code === 'malformed' ? { title: 'The form was not accepted' } : {}
    return { ...title, text, label: 'Back to the form', href: returnTo }
  }
  const reauthenticate = code === 'reauthentication-required'
  const kept = isTextKept ? ' Afterwards, the page shows what you entered, so you can send it.' : ''
  return {
    text: `${reauthenticate ? text : 'Your session has ended, so nothing was changed.'}${kept}`,
    label,
    href: signInPath({ reauthenticate, returnTo }),
  }
}

function waitText(seconds: number): string {
  if (seconds <= 1) return 'Try again in a moment.'
  if (seconds <= 90) return `Try again in ${seconds} seconds.`
  return `Try again in ${Math.ceil(seconds / 60)} minutes.`
}

type Next = { label: string; href: string }
type SignInText = { title?: string; text: string; next?: Next }
type Reason = RefusalReason | UnavailableReason | IdentityRefusal | 'access-denied'

const failedChecks = 'The provider’s response failed our checks. Nothing was changed.'
const otherSignIn = 'The provider’s response does not belong to this sign-in. Nothing was changed.'
const expired = 'The provider’s response has expired, or its clock is wrong. Nothing was changed.'
const misconfigured = 'Sign-in with this provider is not configured correctly. Contact support.'
const noProfile = 'The provider did not return your profile.'
const otherAccount = { label: 'Sign in with another account', href: '/auth/login' }
const notAdmitted: SignInText = {
  title: 'This account may not sign in here',
  text: 'Only certain organizations or groups may use this service. Ask the administrator of this service for access, or sign in with another account.',
  next: otherAccount,
}
const notResponding = 'The provider is not responding. Existing sessions keep working.'
const unavailable = 'The provider is currently unavailable. Existing sessions keep working.'

/** An explanation for every reason why a sign-in at a provider can fail. */
export const signInTexts: Readonly<Record<Reason, SignInText>> = {
  'access-denied': { text: 'You cancelled, or the provider denied access.' },
  'provider-error': { text: 'The provider returned an error.' },
  'exchange-rejected': { text: 'The sign-in took too long, or this response was already used.' },
  'client-rejected': { text: misconfigured },
  'iss-missing': { text: failedChecks },
  'iss-mismatch': { text: otherSignIn },
  'code-missing': { text: failedChecks },
  'code-doubled': { text: failedChecks },
  'response-malformed': { text: failedChecks },
  'token-response-malformed': { text: failedChecks },
  'id-token-missing': { text: failedChecks },
  'id-token-malformed': { text: failedChecks },
  'id-token-algorithm': { text: misconfigured },
  'id-token-type': { text: failedChecks },
  'id-token-key': { text: failedChecks },
  'id-token-signature': { text: failedChecks },
  'id-token-issuer': { text: otherSignIn },
  'id-token-audience': { text: otherSignIn },
  'id-token-azp': { text: otherSignIn },
  'id-token-expired': { text: expired },
  'id-token-not-yet-valid': { text: expired },
  'id-token-issued-at': { text: expired },
  'id-token-lifetime': { text: failedChecks },
  'id-token-nonce': { text: otherSignIn },
  'id-token-subject': { text: failedChecks },
  'id-token-at-hash': { text: failedChecks },
  'userinfo-rejected': { text: noProfile },
  'profile-rejected': { text: noProfile },
  'profile-malformed': { text: failedChecks },
  'tenant-not-allowed': notAdmitted,
  'claim-required': notAdmitted,
  'userinfo-malformed': { text: failedChecks },
  'userinfo-subject': { text: otherSignIn },
  'userinfo-signature': { text: failedChecks },
  network: { text: notResponding },
  certificate: { text: notResponding },
  timeout: { text: notResponding },
  'server-error': { text: notResponding },
  'too-large': { text: unavailable },
  'metadata-malformed': { text: unavailable },
  'metadata-issuer-mismatch': { text: unavailable },
  'metadata-endpoint-missing': { text: unavailable },
  'metadata-endpoint-insecure': { text: unavailable },
  'metadata-endpoint-foreign': { text: unavailable },
  'keys-malformed': { text: unavailable },
  'email-known': {
    text: 'An account with this email address already exists. Sign in with your usual method, then add this one on your account page.',
    next: { label: 'Sign in with another method', href: '/auth/login' },
  },
  'session-changed': {
    text: 'Your session has ended or changed. Nothing was changed.',
    next: { label: 'Sign in', href: '/auth/login' },
  },
  'identity-of-another': {
    text: 'This sign-in method already belongs to another account.',
  },
  'another-identity': { text: 'That is not one of your sign-in methods.' },
  'not-authenticated-anew': {
    text: 'The provider did not ask you to sign in again. Sign out there, then confirm again.',
  },
  'issuer-changed': {
    text: 'This account came from another organization or provider before. Ask the administrator of this service.',
  },
  'sign-up-closed': {
    title: 'You have no account here',
    text: 'New accounts are not created here. Ask the administrator of this service for access, or sign in with the account that you were given.',
    next: otherAccount,
  },
  'not-invited': {
    title: 'You need an invitation',
    text: 'Only invited people can sign up. Ask the person who told you about this service to invite exactly this email address. Then open the link of the invitation and sign in again. Without the link, a provider that this service trusts must have verified the address.',
    next: otherAccount,
  },
  'concurrent-change': { text: 'The account was changed at the same time. Try again.' },
}

const purposes: Readonly<Record<SignInFailure['purpose'], { title: string; next: Next }>> = {
  'sign-in': {
    title: 'Sign-in failed',
    next: { label: 'Try again', href: '/auth/login' },
  },
  link: {
    title: 'The sign-in method was not added',
    next: { label: 'Back to your account', href: '/app/account' },
  },
  reauthenticate: {
    title: 'Your identity was not confirmed',
    next: { label: 'Confirm again', href: '/auth/login?reauthenticate=true' },
  },
}

/** Advice after a failed sign-in at a provider. */
function signInAdvice({ purpose, reason, returnTo }: SignInFailure) {
  const { title, next } = purposes[purpose]
  const known = Object.entries(signInTexts).find(([name]) => name === reason)?.[1]
  const { label, href } = known?.next ?? next
  return {
    title: known?.title ?? title,
    text: known?.text ?? failedChecks,
    label,
    href: returningTo(href, returnTo),
  }
}

/** Another sign-in returns to the same page. */
function returningTo(href: string, returnTo: string | null = null): string {
  if (!href.startsWith('/auth/login')) return href
  return signInPath({ reauthenticate: href.includes('reauthenticate'), returnTo })
}
