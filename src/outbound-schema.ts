import Type from 'typebox'

/** The settings of webhooks to customers. */
export const outboundSettings = {
  OUTBOUND_RETRY_SECONDS: Type.String({
    default: '0,5,30,300,3600',
    description:
      'Comma-separated waits in seconds before attempts 1, 2, … of a delivery, each counted from the end of the attempt before.',
  }),
  OUTBOUND_TIMEOUT_MS: Type.Integer({
    minimum: 100,
    maximum: 30_000,
    default: 10_000,
    description: 'Milliseconds an attempt may take, from connect to the last byte of the answer.',
  }),
  OUTBOUND_SIGNATURE: Type.Union(
    [Type.Literal('spec'), Type.Literal('standard'), Type.Literal('both')],
    {
      default: 'spec',
      description: 'Signature profile of a new endpoint that names none: spec, standard or both.',
    },
  ),
  OUTBOUND_ALLOW: Type.String({
    default: '',
    description:
      'Comma-separated exact host:port pairs that deliveries may reach although the rules for addresses and schemes forbid it, for receivers in development and tests. Danger: customers choose the URLs, so whatever stands here can be called by every one of them.',
    demo: 'the demo’s receiver',
  }),
  OUTBOUND_RETENTION_DAYS: Type.Integer({
    minimum: 1,
    maximum: 36_500,
    default: 90,
    description: 'Days an event that was sent is kept, with its deliveries and their attempts.',
  }),
}
