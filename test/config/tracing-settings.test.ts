import t from 'tap'
import { testConfig } from '#dev/testing/settings.ts'

const urls = {
  superuserUrl: '',
  ownerUrl: '',
  url: 'postgres://a@b/c',
  workerUrl: 'postgres://a@b/c',
}
const tracingOf = (settings: Record<string, string>) => testConfig(urls, settings).tracing

t.test('tracing is off without a collector', async (t) => {
  t.equal(tracingOf({}), null)
  t.equal(tracingOf({ OTEL_SERVICE_NAME: 'front', OTEL_TRACES_SAMPLER_ARG: '1' }), null)
  const url = 'http://127.0.0.1:4318/v1/traces'
  const defaults = { url, headers: {}, serviceName: 'gatehouse', ratio: 1 }
  t.strictSame(tracingOf({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318/' }), defaults)
  const all = {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'https://otlp.example/tenant',
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20key, x-scope=a=b',
    OTEL_SERVICE_NAME: 'front',
    OTEL_TRACES_SAMPLER_ARG: '0.25',
  }
  t.strictSame(tracingOf(all), {
    url: 'https://otlp.example/tenant/v1/traces',
    headers: { authorization: 'Bearer key', 'x-scope': 'a=b' },
    serviceName: 'front',
    ratio: 0.25,
  })
})

t.test('faults name the setting and do not repeat headers', async (t) => {
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' }
  const cases: [Record<string, string>, RegExp][] = [
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }, /OTLP_ENDPOINT: must be an http/],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c/?key=a-secret' }, /OTLP_ENDPOINT: must be/],
    [{ ...endpoint, OTEL_EXPORTER_OTLP_HEADERS: 'a-secret' }, /OTLP_HEADERS: must be name=value/],
    [{ ...endpoint, OTEL_EXPORTER_OTLP_HEADERS: 'x=a-secret%' }, /OTLP_HEADERS: a % in a value/],
    [{ OTEL_TRACES_SAMPLER_ARG: '2' }, /OTEL_TRACES_SAMPLER_ARG: /],
    [{ OTEL_TRACES_SAMPLER_ARG: 'all' }, /OTEL_TRACES_SAMPLER_ARG: /],
  ]
  for (const [settings, fault] of cases) {
    t.throws(() => tracingOf(settings), fault)
    t.throws(() => tracingOf(settings), { message: /^(?![\s\S]*a-secret)/ })
  }
})
