import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { isAlive } from '#src/demo/postgres-lock.ts'
import { runDemo, runProgram, temporaryFolder } from '../program.ts'

t.test('the demo: one command, a signed curl that works as pasted, data that stays', async (t) => {
  const cwd = await temporaryFolder(t)
  const first = await runDemo(t, cwd)
  const event = printedEvent(first.output())
  t.equal(await post(event), '200 recorded')
  t.equal(await post(event), '200 duplicate')
  t.equal(await post({ ...event, body: event.body.replace('4900', '4901') }), '400 bad signature')
  await first.says(/"applied":"processed"/)

  const change = printedChange(first.output())
  t.equal((await fetch(change.url, change.request)).status, 200)
  await first.says(/receiver: order\.updated msg_\S+, signature good, answered 200/)

  const again = await runProgram(t, ['serve'], { PORT: '0' }, { cwd })
  t.equal(await again.ended, 1)
  t.match(again.output(), /The demo runs here already: .* Stop it first\./)

  const doctor = await runProgram(t, ['doctor'], {}, { cwd })
  t.equal(await doctor.ended, 0, doctor.output())
  t.equal(doctor.output().match(/^ok /gm)?.length, 6)

  const postgres = await postmasterOf(cwd)
  first.child.kill('SIGINT')
  t.equal(await first.ended, 130)
  t.notOk(isAlive(postgres), 'no process is left behind')
  t.notMatch(first.output(), /"level":"error"/)

  const second = await runDemo(t, cwd)
  t.equal(
    await post({ ...event, url: `${second.baseUrl}/webhooks/billing` }),
    '200 duplicate',
    'a second start uses the same data and the same secrets',
  )
  second.child.kill('SIGTERM')
  t.equal(await second.ended, 0)
})

type SignedEvent = { url: string; signature: string; body: string }

/** The event of the printed `curl`, as a shell would read it. */
function printedEvent(output: string): SignedEvent {
  const [, url = '', signature = '', body = ''] =
    /curl -i (\S+) \\\n.*\n.*'webhook-signature: ([^']+)' \\\n +-d '([^']+)'/.exec(output) ?? []
  return { url, signature, body }
}

/** The change of an order of the printed commands. */
function printedChange(output: string) {
  const [, token] = /export TOKEN=(\S+)/.exec(output) ?? []
  const [, url = '', body = ''] = /curl -X PATCH (\S+) \\\n.*\n +-d '([^']+)'/.exec(output) ?? []
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  return { url, request: { method: 'PATCH', headers, body } }
}

async function post({ url, signature, body }: SignedEvent): Promise<string> {
  const headers = { 'content-type': 'application/json', 'webhook-signature': signature }
  const response = await fetch(url, { method: 'POST', headers, body })
  return `${response.status} ${await response.text()}`
}

async function postmasterOf(cwd: string): Promise<number> {
  const lock = await readFile(join(cwd, '.data/postgres/cluster/postmaster.pid'), 'utf8')
  return Number(lock.split('\n')[0])
}
