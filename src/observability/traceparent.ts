type SpanContext = { traceId: string; spanId: string; traceFlags: number }

/** The header `traceparent` of W3C Trace Context; null for a span that is not sampled. */
export function traceparentOf({ traceId, spanId, traceFlags }: SpanContext): string | null {
  return (traceFlags & 1) === 0 ? null : `00-${traceId}-${spanId}-01`
}

/** The span that a header names; null if it is malformed or not sampled. */
export function readTraceparent(text: string): SpanContext | null {
  const [, traceId, spanId] = text.match(/^00-([0-9a-f]{32})-([0-9a-f]{16})-01$/) ?? []
  return traceId === undefined || spanId === undefined ? null : { traceId, spanId, traceFlags: 1 }
}
