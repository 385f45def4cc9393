import { type BadgeMood, badge, pageHead } from '#src/pages/kit/components.ts'
import { type Html, html, timeText } from '#src/pages/kit/html.ts'
import { layout, type Page, type Viewer } from '#src/pages/kit/layout.ts'
import { inWords } from '#src/runtime/words.ts'

/** The plan of a person, and what they can do about it. Times are RFC 3339. */
export type ShownPlan = {
  /** Null without one. */
  plan: string | null
  /** Its name, and that of each offer, for people. */
  title: string
  features: readonly string[]
  /** What is used of its limits; `most` is null if it is unlimited. */
  limits: readonly { words: string; most: number | null; used: number }[]
  /** The subscription that decides the plan; null for people who never had one. */
  subscription: { status: string; periodEnd: string | null; cancelsAt: string | null } | null
  /** What can be bought; empty if nothing can. */
  offers: readonly { price: string; plan: string; title: string }[]
  /** Whether the provider has a page for what this person pays. */
  hasPortal: boolean
}

type State = { words: string; mood: BadgeMood | undefined; note?: string }

const states: Readonly<Record<string, State>> = {
  active: { words: 'Active', mood: 'good' },
  trialing: { words: 'Trial', mood: 'good' },
  past_due: {
    words: 'Payment failed',
    mood: 'warning',
    note: 'The last payment failed. The plan stays while the provider tries again: check your card.',
  },
  unpaid: {
    words: 'Unpaid',
    mood: 'bad',
    note: 'The plan has ended because a payment is missing. Pay the open invoice to get it back.',
  },
  paused: { words: 'Paused', mood: undefined },
  canceled: { words: 'Ended', mood: undefined },
  incomplete: { words: 'Waiting for the first payment', mood: 'warning' },
  incomplete_expired: { words: 'Ended', mood: undefined },
}

/** The plan, its state, and the buttons that lead to the provider. */
export function planSection(shown: ShownPlan): Html {
  const { plan, title, features, limits, subscription, offers, hasPortal } = shown
  const state = subscription === null ? undefined : stateOf(shown, subscription.status)
  const facts = [
    html`<div><dt>Yours</dt><dd>${title}</dd></div>`,
    ...(state === undefined
      ? []
      : [html`<div><dt>State</dt><dd>${badge(state.words, state.mood)}</dd></div>`]),
    ...(subscription === null ? [] : endFact(shown, subscription)),
    ...(features.length === 0
      ? []
      : [html`<div><dt>Includes</dt><dd>${features.map(inWords).join(', ')}</dd></div>`]),
    ...limits.map(limitFact),
  ]
  const canBuy = plan === null && offers.length > 0
  return html`<section class="card" aria-labelledby="plan">
        <h2 id="plan">Plan</h2>
        <dl class="facts">${facts}</dl>
        ${state?.note === undefined ? '' : html`<p>${state.note}</p>`}
        ${canBuy || hasPortal ? html`<div class="row">${canBuy ? offers.map(offerForm) : ''}${hasPortal ? portalForm(canBuy) : ''}</div>` : ''}
        ${canBuy ? html`<p class="quiet small">You pay at the provider’s page. The plan begins here a few seconds after the payment.</p>` : ''}
      </section>`

  function offerForm(offer: ShownPlan['offers'][number]): Html {
    const isOnly = offers.filter((one) => one.plan === offer.plan).length === 1
    return html`<form method="post" action="/app/account/checkout">
            <input type="hidden" name="price" value="${offer.price}">
            <button class="button">Buy ${offer.title}${isOnly ? '' : html` <span class="wrap">(${offer.price})</span>`}</button>
          </form>`
  }
}

/** `3 of 10`, with a mark when there is no room for more. */
function limitFact({ words, most, used }: ShownPlan['limits'][number]): Html {
  const number = used.toLocaleString('en')
  const text = most === null ? `${number}, unlimited` : `${number} of ${most.toLocaleString('en')}`
  const isFull = most !== null && used >= most
  return html`<div><dt>${words}</dt><dd>${text}${isFull ? html` ${badge('Full', 'warning')}` : ''}</dd></div>`
}

function portalForm(isSecond: boolean): Html {
  return html`<form method="post" action="/app/account/portal">
            <button class="${isSecond ? 'button plain' : 'button'}">${isSecond ? 'Cards and invoices' : 'Change or cancel'}</button>
          </form>`
}

/** Without a plan an active subscription has passed its end, which the provider has not reported yet. */
function stateOf({ plan }: ShownPlan, status: string): State | undefined {
  const state = states[status]
  return plan === null && state?.mood === 'good' ? states.canceled : state
}

function endFact(
  { plan }: ShownPlan,
  { status, periodEnd, cancelsAt }: NonNullable<ShownPlan['subscription']>,
): Html[] {
  const fact = (name: string, at: string) => [
    html`<div><dt>${name}</dt><dd>${timeText(at)}</dd></div>`,
  ]
  const isEnded = plan === null && states[status]?.mood !== 'good' // before its time
  if (cancelsAt !== null && !isEnded) return fact(plan === null ? 'Ended' : 'Ends', cancelsAt)
  if (plan === null || periodEnd === null) return []
  return fact(status === 'past_due' ? 'Period ends' : 'Renews', periodEnd)
}

/** Leads to a page of the provider. Browsers open it by themselves, also without scripts. */
export function leavingPage(viewer: Viewer, url: string): Page {
  const title = 'To the billing provider'
  return layout(
    title,
    html`${pageHead({ trail: { href: '/app/account#plan', label: 'Your account' }, title })}
      <section class="card narrow">
        <p>Your card, your payments and your invoices are at the billing provider.</p>
        <a class="button" href="${url}" rel="noreferrer">Continue to ${new URL(url).host}</a>
      </section>`,
    { current: '/app/account', ...viewer },
  )
}
