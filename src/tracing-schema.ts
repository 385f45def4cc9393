import Type from 'typebox'

/** The settings of OpenTelemetry, under the names that its own documentation gives them. */
export const tracingSettings = {
  OTEL_EXPORTER_OTLP_ENDPOINT: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'Base URL of an OpenTelemetry collector that takes OTLP over HTTP, for instance http://127.0.0.1:4318; traces are posted to URL/v1/traces. Without it nothing is traced.',
    }),
  ),
  OTEL_EXPORTER_OTLP_HEADERS: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'Comma-separated name=value headers for the collector, values percent-encoded, for instance authorization=Bearer%20KEY.',
    }),
  ),
  OTEL_SERVICE_NAME: Type.String({
    minLength: 1,
    maxLength: 255,
    default: 'gatehouse',
    description: 'Name of this service in traces.',
  }),
  OTEL_TRACES_SAMPLER_ARG: Type.Number({
    minimum: 0,
    maximum: 1,
    default: 1,
    description:
      'Share of the traces begun here that are recorded, 0 to 1. A trace that a trusted proxy began is recorded when the proxy says so.',
  }),
}
