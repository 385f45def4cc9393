/** Bodies as the providers send them, after their published schemas (Stripe 2026-10-28, Paddle Billing). */

type Fields = Record<string, unknown>

/** A snapshot event of Stripe. */
export function stripeEvent(id: string, type: string, object: Fields, more: Fields = {}): string {
  return JSON.stringify({
    id,
    object: 'event',
    api_version: '2026-10-28.endive',
    created: 1_795_000_000,
    data: { object },
    livemode: true,
    pending_webhooks: 1,
    request: { id: null, idempotency_key: null },
    type,
    ...more,
  })
}

export function stripeCharge(more: Fields = {}): Fields {
  return {
    id: 'ch_1',
    object: 'charge',
    amount: 4_900,
    amount_captured: 4_900,
    amount_refunded: 0,
    captured: true,
    created: 1_795_000_000,
    currency: 'eur',
    customer: 'cus_1',
    disputed: false,
    livemode: true,
    metadata: {},
    paid: true,
    payment_intent: 'pi_1',
    refunded: false,
    status: 'succeeded',
    ...more,
  }
}

export function stripeSubscription(more: Fields = {}): Fields {
  return {
    id: 'sub_1',
    object: 'subscription',
    cancel_at: null,
    cancel_at_period_end: false,
    canceled_at: null,
    created: 1_795_000_000,
    currency: 'eur',
    customer: 'cus_1',
    ended_at: null,
    items: {
      object: 'list',
      data: [
        {
          id: 'si_1',
          object: 'subscription_item',
          current_period_end: 1_797_592_000,
          current_period_start: 1_795_000_000,
          price: { id: 'price_pro', object: 'price', currency: 'eur', unit_amount: 4_900 },
          quantity: 1,
        },
      ],
      has_more: false,
    },
    livemode: true,
    metadata: {},
    status: 'active',
    ...more,
  }
}

/** A schedule in its first of two phases. */
export function stripeSchedule(more: Fields = {}): Fields {
  const phase = (start_date: number, end_date: number, price: string) => ({
    ...{ start_date, end_date, items: [{ price, quantity: 1 }], proration_behavior: 'none' },
  })
  return {
    id: 'sub_sched_1',
    object: 'subscription_schedule',
    created: 1_795_000_000,
    current_phase: { start_date: 1_795_000_000, end_date: 1_797_592_000 },
    customer: 'cus_1',
    end_behavior: 'release',
    livemode: true,
    metadata: {},
    phases: [
      phase(1_795_000_000, 1_797_592_000, 'price_pro'),
      phase(1_797_592_000, 1_800_184_000, 'price_team'),
    ],
    released_subscription: null,
    status: 'active',
    subscription: 'sub_1',
    ...more,
  }
}

export function stripeInvoice(more: Fields = {}): Fields {
  return {
    id: 'in_1',
    object: 'invoice',
    amount_due: 4_900,
    amount_paid: 4_900,
    currency: 'eur',
    customer: 'cus_1',
    livemode: true,
    status: 'paid',
    ...more,
  }
}

/** The payments of an invoice, which its event has only if they were asked for. */
export const stripePayments = {
  object: 'list',
  data: [
    {
      id: 'inpay_1',
      object: 'invoice_payment',
      invoice: 'in_1',
      payment: { type: 'payment_intent', payment_intent: 'pi_1' },
      status: 'paid',
    },
  ],
}

export function stripeDispute(more: Fields = {}): Fields {
  return {
    id: 'dp_1',
    object: 'dispute',
    amount: 4_900,
    charge: 'ch_1',
    currency: 'eur',
    livemode: true,
    payment_intent: 'pi_1',
    reason: 'fraudulent',
    status: 'needs_response',
    ...more,
  }
}

export function stripeRefund(more: Fields = {}): Fields {
  return {
    id: 're_1',
    object: 'refund',
    amount: 4_900,
    charge: 'ch_1',
    currency: 'eur',
    payment_intent: 'pi_1',
    reason: null,
    status: 'succeeded',
    ...more,
  }
}

export function stripeSession(more: Fields = {}): Fields {
  return {
    id: 'cs_live_1',
    object: 'checkout.session',
    amount_total: 4_900,
    client_reference_id: null,
    currency: 'eur',
    customer: 'cus_1',
    livemode: true,
    metadata: {},
    mode: 'subscription',
    payment_status: 'paid',
    status: 'complete',
    subscription: 'sub_1',
    ...more,
  }
}

/** A thin event: it names its object. */
export function stripeThin(type: string, related: Fields, more: Fields = {}): string {
  return JSON.stringify({
    id: 'evt_thin',
    object: 'v2.core.event',
    created: '2026-11-18T10:26:40.000Z',
    livemode: true,
    related_object: related,
    type,
    ...more,
  })
}

/** A notification of Paddle. */
export function paddleEvent(id: string, type: string, data: Fields, more: Fields = {}): string {
  return JSON.stringify({
    event_id: id,
    event_type: type,
    occurred_at: '2026-11-18T10:26:40.123456Z',
    notification_id: `ntf_${id}`,
    data,
    ...more,
  })
}

export function paddleTransaction(more: Fields = {}): Fields {
  return {
    id: 'txn_1',
    status: 'completed',
    customer_id: 'ctm_1',
    currency_code: 'EUR',
    subscription_id: 'sub_1',
    custom_data: null,
    items: [{ price: { id: 'pri_pro' }, quantity: 1 }],
    details: { totals: { subtotal: '4118', tax: '782', total: '4900', grand_total: '4900' } },
    ...more,
  }
}

export function paddleSubscription(more: Fields = {}): Fields {
  return {
    id: 'sub_1',
    status: 'active',
    customer_id: 'ctm_1',
    currency_code: 'EUR',
    current_billing_period: {
      starts_at: '2026-11-18T10:26:40Z',
      ends_at: '2026-12-18T10:26:40Z',
    },
    billing_cycle: { interval: 'month', frequency: 1 },
    scheduled_change: null,
    items: [{ price: { id: 'pri_pro' }, quantity: 1, status: 'active' }],
    custom_data: null,
    ...more,
  }
}

export function paddleAdjustment(more: Fields = {}): Fields {
  return {
    id: 'adj_1',
    action: 'refund',
    status: 'approved',
    transaction_id: 'txn_1',
    subscription_id: 'sub_1',
    customer_id: 'ctm_1',
    currency_code: 'EUR',
    totals: { subtotal: '840', tax: '160', total: '1000', currency_code: 'EUR' },
    ...more,
  }
}

/** An event of Standard Webhooks; its id is in a header. */
export function standardEvent(type: string, data: Fields): string {
  return JSON.stringify({ type, timestamp: '2026-11-18T10:26:40Z', data })
}
