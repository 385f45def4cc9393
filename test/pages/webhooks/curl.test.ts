import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import { startReceiver } from '#dev/testing/receiver.ts'
import { curlOf } from '#src/pages/webhooks/delivery.ts'
import { newEndpointSecret, signDelivery } from '#src/webhooks/signing/signature.ts'
import { findProgram } from '#test/support/processes/find-program.ts'

const run = promisify(execFile)
const programs = ['bash', 'curl', 'openssl', 'od'].map(findProgram)
const skip = programs.includes(null) && 'bash, curl, openssl or od is not installed'

t.test('the copied commands send a request that is signed correctly', { skip }, async (t) => {
  for (const profile of ['spec', 'standard', 'both'] as const) {
    const receiver = await startReceiver()
    t.teardown(() => receiver.close())
    const secret = newEndpointSecret()
    const body = `{"text":"it's $HOME \\"here\\" \`id\`"}`
    const sent = {
      url: `${receiver.url}/hook?a=1&b=2`,
      body,
      profile,
      headers: [
        ['content-type', 'application/json'],
        ['webhook-id', 'msg_1'],
        ['webhook-timestamp', '<Unix seconds of the attempt>'],
      ] as const,
    }
    await run('bash', ['-c', curlOf(sent)], { env: { ...process.env, SECRET: secret } })
    const { headers, body: received, url } = await receiver.next()
    t.equal(received.toString(), body, 'no character is changed by the shell')
    t.equal(url, '/hook?a=1&b=2')
    const timestamp = Number(headers['webhook-timestamp'])
    const signing = profile === 'standard' ? 'standard' : 'spec'
    t.equal(
      headers['webhook-signature'],
      signDelivery({ profile: signing, secrets: [secret], id: 'msg_1', timestamp, body }),
      profile,
    )
  }
})
