import { list } from '#src/config/parse.ts'

export type TracingSetup = {
  /** Where spans are posted to. */
  url: string
  headers: Readonly<Record<string, string>>
  serviceName: string
  /** Share of the traces begun here that are recorded, 0 to 1. */
  ratio: number
}

type Values = {
  OTEL_EXPORTER_OTLP_ENDPOINT?: string
  OTEL_EXPORTER_OTLP_HEADERS?: string
  OTEL_SERVICE_NAME: string
  OTEL_TRACES_SAMPLER_ARG: number
}

/** Null without an endpoint: nothing is traced then. Faults repeat no header's value. */
export function readTracing(values: Values, faults: string[]): TracingSetup | null {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } = values
  if (endpoint === undefined) return null
  const url = URL.parse(endpoint)
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '') {
    faults.push('OTEL_EXPORTER_OTLP_ENDPOINT: must be an http:// or https:// URL without a query.')
  }
  return {
    url: `${endpoint.replace(/\/+$/, '')}/v1/traces`,
    headers: readHeaders(values.OTEL_EXPORTER_OTLP_HEADERS ?? '', faults),
    serviceName: values.OTEL_SERVICE_NAME,
    ratio: values.OTEL_TRACES_SAMPLER_ARG,
  }
}

function readHeaders(text: string, faults: string[]): Record<string, string> {
  const pairs = list(text).map((pair) => /^([\w-]+)=([!-~]+)$/.exec(pair))
  if (pairs.includes(null)) {
    faults.push('OTEL_EXPORTER_OTLP_HEADERS: must be name=value pairs, comma-separated.')
  }
  const known = pairs.filter((pair) => pair !== null)
  try {
    return Object.fromEntries(
      known.map(([, name = '', value = '']) => [name, decodeURIComponent(value)]),
    )
  } catch {
    faults.push('OTEL_EXPORTER_OTLP_HEADERS: a % in a value must be written %25.')
    return {}
  }
}
