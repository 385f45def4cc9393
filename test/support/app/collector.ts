import type { RecordedRequest } from '#dev/testing/receiver.ts'

export type CollectedSpan = {
  name: string
  traceId: string
  spanId: string
  parentSpanId?: string
  attributes: { key: string; value: Record<string, unknown> }[]
  events?: unknown[]
  links?: { traceId: string; spanId: string }[]
  status: { code?: number; message?: string }
}

type Export = {
  resourceSpans: {
    resource: { attributes: CollectedSpan['attributes'] }
    scopeSpans: { spans: CollectedSpan[] }[]
  }[]
}

/** The spans that the collector received, in OTLP JSON. */
export function tracesOf(requests: readonly RecordedRequest[]): CollectedSpan[] {
  const exports = requests.map(({ body }): Export => JSON.parse(body.toString()))
  return exports.flatMap(({ resourceSpans }) =>
    resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
  )
}

/** The value of an attribute of any type. */
export function attributeOf({ attributes }: CollectedSpan, name: string): unknown {
  const found = attributes.find(({ key }) => key === name)
  return found && Object.values(found.value)[0]
}
