import { needed, type Seats } from '#src/auth/members/seats.ts'
import type { PriceTerms } from '#src/billing/details.ts'
import type { Offer, PlanChoice } from '#src/billing/offers.ts'
import type { OwnSubscription } from '#src/billing/subscriptions.ts'
import { badge, pageHead } from '#src/pages/kit/components.ts'
import { type Html, html, timeText } from '#src/pages/kit/html.ts'
import { layout, type Page, type Viewer } from '#src/pages/kit/layout.ts'
import { amountText } from '#src/runtime/amount.ts'
import { inWords } from '#src/runtime/words.ts'
import { type State, stateOf } from './plan-states.ts'
import { intervalText, subscriptionTable } from './subscriptions.ts'

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
  /** Whether the tenant has the plan, for all of its members. */
  isOfTenant: boolean
  /** The seats of the tenant, for those who manage it. */
  seats: Seats | null
  /** Whether this person can start to pay. */
  canBuy: boolean
  /** All that the person, or the tenant that they manage, has bought, newest first. */
  subscriptions: readonly OwnSubscription[]
  /** The plans to choose from, the least first; empty if nothing can be bought. */
  choices: readonly ShownChoice[]
  /** Whether the provider has a page for what this person pays. */
  hasPortal: boolean
}

/** A plan to choose, with its limits as people read them. */
type ShownChoice = Omit<PlanChoice, 'limits'> & {
  limits: readonly Pick<ShownPlan['limits'][number], 'words' | 'most'>[]
}

/** The plan, its state, and the buttons that lead to the provider. */
export function planSection(shown: ShownPlan): Html {
  const { title, features, limits, subscription, choices, hasPortal, isOfTenant, seats } = shown
  const state = subscription === null ? undefined : leadingState(shown, subscription.status)
  const facts = [
    html`<div><dt>${isOfTenant ? 'Your tenant’s' : 'Yours'}</dt><dd>${title}</dd></div>`,
    ...(state === undefined
      ? []
      : [html`<div><dt>State</dt><dd>${badge(state.words, state.mood)}</dd></div>`]),
    ...(subscription === null ? [] : endFact(shown, subscription)),
    ...(features.length === 0
      ? []
      : [html`<div><dt>Includes</dt><dd>${features.map(inWords).join(', ')}</dd></div>`]),
    ...(seats === null ? [] : [seatsFact(seats)]),
    ...limits.map(limitFact),
  ]
  const canBuy = shown.canBuy && choices.some(({ offers }) => offers.length > 0)
  return html`<section class="card" aria-labelledby="plan">
        <h2 id="plan">Plan</h2>
        <dl class="facts">${facts}</dl>
        ${state?.note === undefined ? '' : html`<p>${state.note}</p>`}
        ${subscriptionTable(shown.subscriptions, titleIn(choices))}
        ${choices.length === 0 ? '' : html`<ul class="plans">${choices.map((choice) => choiceItem(choice, canBuy))}</ul>`}
        ${seatsNote(seats)}
        ${isOfTenant && seats === null ? html`<p class="quiet">Those who manage your tenant choose the plan, for all of its members.</p>` : ''}
        ${hasPortal ? html`<div class="row">${portalForm(canBuy)}</div>` : ''}
        ${canBuy && seats !== null ? html`<p>Each price is for one seat. You begin with ${needed(seats).toLocaleString('en')}, for the members and open invitations.</p>` : ''}
        ${canBuy ? html`<p class="quiet small">You pay at the provider’s page. The plan begins here a few seconds after the payment.</p>` : ''}
      </section>`
}

/** The name of the plan of a price; the id of a price that is not for sale here. */
function titleIn(choices: ShownPlan['choices']) {
  return (price: string) =>
    choices.find(({ offers }) => offers.some((one) => one.price === price))?.title ?? price
}

function choiceItem(
  { title, isCurrent, features, limits, offers }: ShownChoice,
  canBuy: boolean,
): Html {
  const included = [
    ...features.map(inWords),
    ...limits.map(({ words, most }) =>
      most === null ? `${words}: unlimited` : `${words}: ${most.toLocaleString('en')}`,
    ),
  ]
  return html`<li>
            <h3>${title}${isCurrent ? html` ${badge('Yours', 'good')}` : ''}</h3>
            ${included.length === 0 ? '' : html`<ul class="plain">${included.map((one) => html`<li>${one}</li>`)}</ul>`}
            ${offers.map((offer) => offerForm(title, offer, offers.length === 1, canBuy))}
          </li>`
}

/** The price, and the button that leads to the provider. A price whose terms are not known is named by its id. */
function offerForm(title: string, { price, terms }: Offer, isOnly: boolean, canBuy: boolean): Html {
  const words = terms === null ? (isOnly ? '' : price) : termsText(terms)
  const cost = words === '' ? '' : html`<p class="wrap">${words}</p>`
  if (!canBuy) return html`${cost}`
  const label =
    isOnly || words === ''
      ? html`Buy ${title}`
      : html`Buy ${title}<span class="unseen">, ${words}</span>`
  return html`<form method="post" action="/app/account/checkout">
            ${cost}
            <input type="hidden" name="price" value="${price}">
            <button class="button">${label}</button>
          </form>`
}

/** `14 days free, then 49.00 EUR a month`. */
function termsText({
  amount,
  currency,
  digits,
  interval,
  intervalCount,
  trialDays,
}: PriceTerms): string {
  const cost = `${amountText(amount, currency, digits)}${intervalText(interval, intervalCount)}`
  return trialDays === null
    ? cost
    : `${trialDays} ${trialDays === 1 ? 'day' : 'days'} free, then ${cost}`
}

/** `3 of 10`, with a mark when there is no room for more. */
function limitFact({ words, most, used }: ShownPlan['limits'][number]): Html {
  const number = used.toLocaleString('en')
  const text = most === null ? `${number}, unlimited` : `${number} of ${most.toLocaleString('en')}`
  const isFull = most !== null && used >= most
  return html`<div><dt>${words}</dt><dd>${text}${isFull ? html` ${badge('Full', 'warning')}` : ''}</dd></div>`
}

/** `3 of 5`, or how many there are if nothing says how many were bought. */
function seatsFact(seats: Seats): Html {
  const { bought } = seats
  const used = needed(seats)
  if (bought === null) return html`<div><dt>People</dt><dd>${used.toLocaleString('en')}</dd></div>`
  const mark =
    used > bought ? badge('Too few', 'warning') : used === bought ? badge('Full', 'warning') : ''
  return html`<div><dt>Seats</dt><dd>${used.toLocaleString('en')} of ${bought.toLocaleString('en')} ${mark}</dd></div>`
}

function seatsNote(seats: Seats | null): Html | '' {
  if (seats === null || seats.bought === null) return ''
  const beyond = needed(seats) - seats.bought
  if (beyond < 0) return ''
  return beyond === 0
    ? html`<p>Every seat is taken, by members or by open invitations. To invite more people, buy more seats.</p>`
    : html`<p>${beyond.toLocaleString('en')} more ${beyond === 1 ? 'person or invitation' : 'people and invitations'} than seats. Nobody loses access, and nobody can be invited before you buy more seats or remove members.</p>`
}

function portalForm(isSecond: boolean): Html {
  return html`<form method="post" action="/app/account/portal">
            <button class="${isSecond ? 'button plain' : 'button'}">${isSecond ? 'Cards and invoices' : 'Change or cancel'}</button>
          </form>`
}

/** Without a plan an active subscription has passed its end, which the provider has not reported yet. */
function leadingState({ plan }: ShownPlan, status: string): State {
  const state = stateOf(status)
  return plan === null && state.mood === 'good' ? stateOf('canceled') : state
}

function endFact(
  { plan }: ShownPlan,
  { status, periodEnd, cancelsAt }: NonNullable<ShownPlan['subscription']>,
): Html[] {
  const fact = (name: string, at: string) => [
    html`<div><dt>${name}</dt><dd>${timeText(at)}</dd></div>`,
  ]
  const isEnded = plan === null && stateOf(status).mood !== 'good' // before its time
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
