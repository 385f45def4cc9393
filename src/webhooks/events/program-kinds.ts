import Type from 'typebox'
import { Id, means, Nullable, Time, Uuid } from '#src/http/schemas.ts'
import { eventKind } from './types.ts'

/* The kinds of events that no resource declares. */

const Buyer = Nullable(
  means(Id, 'The user who pays; null if the tenant itself has the subscription'),
)

const Activation = Type.Object(
  { userId: Buyer, plan: Type.String({ description: 'The plan that they have now' }) },
  { title: 'SubscriptionActivation' },
)

export const subscriptionActivated = eventKind(
  'subscription.activated',
  'A subscription gave a user or the tenant a plan that they did not have; for a user, sent to their own tenant',
  Activation,
)

/** What people see of the subscription that decides their plan. */
export const Subscription = Type.Object(
  {
    status: Type.String({
      description:
        '`active`, `trialing`, `past_due` (the plan stays), `unpaid`, `paused`, `canceled`, `incomplete` or `incomplete_expired`',
    }),
    currentPeriodEnd: Nullable(
      means(Time, 'Until when it is paid; null if the billing provider does not say it'),
    ),
    cancelsAt: Nullable(
      means(Time, 'When it ends, because somebody has cancelled it; null if nobody has'),
    ),
  },
  { title: 'Subscription' },
)

const SubscriptionChange = Type.Object(
  {
    userId: Buyer,
    plan: Nullable(Type.String({ description: 'The plan that it gives now; null for none' })),
    ...Subscription.properties,
  },
  { title: 'SubscriptionChange' },
)

export const subscriptionChanged = eventKind(
  'subscription.changed',
  'The subscription of a user or the tenant has another plan, status, period, end or number of seats; for a user, sent to their own tenant',
  SubscriptionChange,
)

export const subscriptionEnded = eventKind(
  'subscription.ended',
  'The subscription of a user or the tenant ended and with it the plan; for a user, sent to their own tenant',
  SubscriptionChange,
)

const EndpointTest = Type.Object(
  {
    endpointId: means(Uuid, 'The endpoint that is tested'),
    probe: Type.Optional(
      Type.String({
        description: 'The name of a case, if a probe of the receiver sends it',
        examples: ['correct'],
      }),
    ),
  },
  { title: 'EndpointTest' },
)

/** Sent on request only, by the test and the probe of an endpoint. */
export const endpointTest = eventKind(
  'endpoint.test',
  'A test of the endpoint; nothing has happened',
  EndpointTest,
)
