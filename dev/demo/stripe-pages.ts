import type { StripeSubscription } from '#src/billing/sample-stripe.ts'
import { type Html, html, trusted } from '#src/pages/kit/html.ts'

type Money = { amount: number; currency: string }

/** The page where a person pays. */
export function checkoutPage({ price, amount, currency }: Money & { price: string }): string {
  return page(
    'Pay',
    html`<p>${price}: ${moneyText(amount, currency)} a month</p>
<form method="post"><button autofocus>Pay ${moneyText(amount, currency)}</button></form>
<p>No card is needed: this provider exists only on this machine.</p>`,
  )
}

type Portal = Money & {
  id: string
  subscription: StripeSubscription | null
  payment: { refunded: number } | null
}

/** The page where a person cancels, and below it what a merchant does in the dashboard. */
export function portalPage({ id, subscription, payment, amount, currency }: Portal): string {
  const act = (name: string, label: string) =>
    html`<form method="post" action="/portal/${id}/${name}"><button>${label}</button></form>`
  const own =
    subscription === null
      ? html`<p>There is no subscription.</p>`
      : html`<p>${subscription.items.data[0]?.price.id ?? ''}: ${subscription.status}${subscription.cancel_at_period_end ? ', ends with its period' : ''}</p>
${subscription.cancel_at_period_end ? '' : act('cancel-later', 'Cancel at the end of the period')}
${act('cancel', 'Cancel now')}`
  const canRefund = payment !== null && payment.refunded < amount
  return page(
    'What you pay',
    html`${own}
<h2>For the merchant</h2>
${canRefund ? act('refund', `Refund the last ${moneyText(amount, currency)}`) : html`<p>There is no payment to refund.</p>`}
<p>In Stripe this is in the dashboard.</p>`,
  )
}

export function gonePage(): string {
  return page('There is nothing here', html`<p>The page was used already, or never existed.</p>`)
}

function moneyText(amount: number, currency: string): string {
  return `${(amount / 100).toFixed(2)} ${currency.toUpperCase()}`
}

const style = trusted(`<style>:root { color-scheme: light dark }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 32rem; margin: 3rem auto; padding: 0 1rem }
button { font: inherit; padding: .5rem 1rem; margin: 0 0 .5rem }</style>`)

function page(title: string, content: Html): string {
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title} · Sample of Stripe</title>${style}</head>
<body><main><h1>${title}</h1>
${content}
</main></body></html>
`.markup
}
