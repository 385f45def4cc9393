import { once } from 'node:events'
import { createServer } from 'node:net'
import { Webhook } from 'standardwebhooks'
import t, { type Test } from 'tap'
import { findFreePort } from '#dev/demo/postgres/free-port.ts'
import { probeCases } from '#src/webhooks/probe/cases.ts'
import type { ProbeReport } from '#src/webhooks/probe/probe.ts'
import type { SignatureProfile } from '#src/webhooks/signing/signature.ts'
import { commandOf, languages, verify } from '#test/docs/verifier.ts'
import { build } from '#test/support/app/app.ts'
import { twoAdmins } from '#test/support/callers/webhook-admin.ts'
import { startCallers } from '#test/support/receiver/endpoint-calls.ts'
import { createEndpoint, endpointSecret } from '#test/support/receiver/webhook-endpoint.ts'
import { faultyReceivers, type Receive, receiver, startProbed } from './receivers.ts'

/** Receivers on loopback, each with an endpoint, and what a probe of each reports. */
async function probeAll(
  t: Test,
  receivers: Readonly<Record<string, Receive>>,
  signature: SignatureProfile = 'spec',
) {
  const started = await Promise.all(
    Object.entries(receivers).map(async ([name, receive]) => ({
      name,
      ...(await startProbed(t, receive)),
    })),
  )
  const settings = { OUTBOUND_ALLOW: started.map(({ port }) => `127.0.0.1:${port}`).join() }
  const { test, one, send, sendAsOther } = await twoAdmins(await build(t, settings))
  await startCallers(t, test)
  const reports = new Map<string, ProbeReport>()
  const ids = new Map<string, string>()
  for (const { name, url } of started) {
    const id = await createEndpoint(test.database, one, { url, signature })
    const response = await send('POST', `/webhook-endpoints/${id}/probe`)
    t.equal(response.statusCode, 200, response.body)
    reports.set(name, response.json())
    ids.set(name, id)
  }
  return { reports, ids, test, one, send, sendAsOther }
}

t.test('each faulty receiver is graded with exactly its fault', async (t) => {
  const { reports } = await probeAll(t, faultyReceivers())
  const grades: Record<string, string> = {}
  for (const [fault, report] of reports) {
    const codes = report.faults.map(({ code }) => code)
    t.strictSame(codes, [fault], JSON.stringify(report.cases))
    t.match(report.faults, [{ problem: /\.$/, remedy: /\.$/ }])
    grades[fault] = report.grade
  }
  t.match(grades, {
    unverified: 'F',
    'raw-bytes': 'D',
    'no-time-check': 'C',
    'repeat-refused': 'B',
  })
})

t.test(
  'correct receivers get an A: ours, the official library, the documented programs',
  async (t) => {
    const official = new Webhook(endpointSecret)
    const standard: Receive = ({ headers, body }) => {
      official.verify(body, headers as Record<string, string>)
      return true
    }
    const programs: Record<string, Receive> = {}
    for (const language of languages.filter(({ interpreter }) => interpreter !== null)) {
      const command = await commandOf(t, language)
      programs[language.name] = async ({ headers, body }) => {
        const given = [headers['webhook-timestamp'], headers['webhook-signature']]
        const args = given.flatMap((value) => (typeof value === 'string' ? [value] : []))
        return (await verify(command, { secret: endpointSecret, args, body })).status === 0
      }
    }
    const spec = await probeAll(t, { own: receiver(), ...programs })
    const both = await probeAll(t, { own: receiver(), official: standard }, 'both')
    const standardOnly = await probeAll(t, { official: standard }, 'standard')
    for (const { reports } of [spec, both, standardOnly]) {
      for (const [name, report] of reports) {
        // Each request starts a program, for which a busy machine may take longer than 5 s.
        const found = report.faults.filter(
          ({ code }) => !programs[name] || code !== 'slow-response',
        )
        t.strictSame(found, [], `${name} ${JSON.stringify(report.cases)}`)
        if (report.faults.length === 0) t.equal(report.grade, 'A')
        t.equal(report.matchingProfile, report.profile)
        t.strictSame(
          report.cases.map((one) => one.name),
          Object.keys(probeCases),
        )
      }
    }
    const missing = languages.filter(({ interpreter }) => interpreter === null)
    t.comment(`not installed here: ${missing.map(({ name }) => name).join(', ') || 'none'}`)
  },
)

t.test('another signature profile is found and offered', async (t) => {
  const official = new Webhook(endpointSecret)
  const { reports } = await probeAll(t, {
    standard: ({ headers, body }) => {
      official.verify(body, headers as Record<string, string>)
      return true
    },
  })
  t.match(reports.get('standard'), {
    grade: 'E',
    profile: 'spec',
    matchingProfile: 'standard',
    faults: [{ code: 'profile' }],
  })
})

t.test('the requests of a probe are inert, and nothing of them is recorded', async (t) => {
  const bodies: string[] = []
  const all = receiver()
  const { test, ids, send } = await probeAll(t, {
    own: (request) => {
      bodies.push(request.body)
      return all(request)
    },
  })
  t.equal(bodies.length, Object.keys(probeCases).length)
  for (const body of bodies) {
    t.match(JSON.parse(body), { type: 'endpoint.test', data: { endpointId: ids.get('own') } })
  }
  for (const table of ['outbound_events', 'deliveries', 'delivery_attempts']) {
    t.equal((await test.database.admin.query(`SELECT FROM ${table}`)).rowCount, 0, table)
  }
  t.match((await send('GET', '/audit')).json().data, [
    { action: 'endpoint-probe', reason: 'grade-A', target: ids.get('own') },
  ])
})

t.test('an endpoint is probed once in six hours, and the report stays', async (t) => {
  const { reports, ids, test, send, sendAsOther } = await probeAll(t, { own: receiver() })
  const path = `/webhook-endpoints/${ids.get('own')}/probe`
  const again = await send('POST', path)
  t.equal(again.statusCode, 429)
  t.ok(Number(again.headers['retry-after']) > 21_000)
  t.match(again.json().detail, /can be probed again at 20\d\d-/)
  t.strictSame((await send('GET', path)).json(), { report: reports.get('own') })
  await test.database.admin.query(
    `UPDATE endpoint_probes SET started_at = now() - interval '6 hours'`,
  )
  const results = await Promise.all([send('POST', path), send('POST', path)])
  t.strictSame(results.map(({ statusCode }) => statusCode).toSorted(), [200, 429], 'one at a time')
  for (const method of ['GET', 'POST'] as const) {
    t.equal((await sendAsOther(method, path)).statusCode, 404, `${method} of another tenant`)
  }
})

t.test('a receiver without a complete response is asked once', async (t) => {
  let connections = 0
  const silent = createServer((socket) => {
    connections += 1
    socket.end('not http')
  }).listen(0, '127.0.0.1')
  t.teardown(() => silent.close())
  await once(silent, 'listening')
  const address = silent.address()
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0
  const closed = await findFreePort()
  const allow = { OUTBOUND_ALLOW: `127.0.0.1:${port},127.0.0.1:${closed}` }
  const { test, one, send } = await twoAdmins(await build(t, allow))
  await startCallers(t, test)
  // The last one is refused by the address guard, whatever URL is stored.
  const targets = [`http://127.0.0.1:${port}/`, `http://127.0.0.1:${closed}/`, 'https://10.0.0.1/']
  for (const url of targets) {
    const id = await createEndpoint(test.database, one, { url })
    const response = await send('POST', `/webhook-endpoints/${id}/probe`)
    t.match(response.json(), {
      grade: 'F',
      matchingProfile: null,
      faults: [{ code: 'unreachable' }],
      cases: [{ name: 'correct', accepted: false, statusCode: null, error: String }],
    })
    t.equal(response.json().cases.length, 1)
    t.notMatch(response.body, /blocked|private|10\.0\.0\.1/)
  }
  t.equal(connections, 1)
})
