import Type from 'typebox'
import { Id, Nullable, Time, Uuid } from '#src/http/schemas.ts'
import { eventKind } from './types.ts'

/* The kinds of events that no resource declares. */

const Activation = Type.Object(
  { userId: Id, plan: Type.String() },
  { title: 'SubscriptionActivation' },
)

export const subscriptionActivated = eventKind(
  'subscription.activated',
  'A user’s subscription gave them a plan that they did not have; sent to their own tenant',
  Activation,
)

/** What a user sees of the subscription that decides their plan. */
export const Subscription = Type.Object(
  {
    status: Type.String({
      description:
        '`active`, `trialing`, `past_due` (the plan stays), `unpaid`, `paused`, `canceled`, `incomplete` or `incomplete_expired`',
    }),
    currentPeriodEnd: Nullable(Time),
    cancelsAt: Nullable(
      Type.String({ ...Time, description: 'When it ends, because somebody has cancelled it' }),
    ),
  },
  { title: 'Subscription' },
)

const SubscriptionChange = Type.Object(
  { userId: Id, plan: Nullable(Type.String()), ...Subscription.properties },
  { title: 'SubscriptionChange' },
)

export const subscriptionChanged = eventKind(
  'subscription.changed',
  'A user’s subscription has another plan, status, period or end; sent to their own tenant',
  SubscriptionChange,
)

export const subscriptionEnded = eventKind(
  'subscription.ended',
  'A user’s subscription ended and with it their plan; sent to their own tenant',
  SubscriptionChange,
)

const EndpointTest = Type.Object(
  {
    endpointId: Uuid,
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
