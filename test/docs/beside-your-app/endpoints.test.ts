import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { build } from '#test/support/app/app.ts'
import { appCaller } from '#test/support/callers/app-caller.ts'
import { findProgram } from '#test/support/processes/find-program.ts'
import { codeBlocks, readPage } from '../page.ts'

const run = promisify(execFile)
const skip = ['bash', 'curl'].map(findProgram).includes(null) && 'bash or curl is not installed'

t.test('the commands create an endpoint of a tenant and list its members', { skip }, async (t) => {
  const page = await readPage('docs/beside-your-app.md')
  const [create = '', members = '', ...others] = codeBlocks(page, 'sh')
  t.strictSame(others, [])
  const test = await build(t)
  test.app.readCustomerUrl = async (url) => url // The name of the example has no address.
  const { tenantId, userId } = await createUser(test.database)
  const { token } = await appCaller(test, ['webhook-endpoint:create', 'member:read'])
  const GATEHOUSE_URL = await test.app.listen({ host: '127.0.0.1', port: 0 })
  const env = { ...process.env, GATEHOUSE_URL, APP_TOKEN: token, TENANT_ID: tenantId }
  const answerTo = async (commands: string) => {
    const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', commands], { env })
    return JSON.parse(stdout)
  }
  t.match(await answerTo(create), {
    url: 'https://hooks.customer.example/',
    eventTypes: ['order.updated'],
    secret: /^whsec_/,
  })
  const { data } = await answerTo(members)
  t.strictSame(
    data.map(({ id }: { id: number }) => id),
    [userId],
  )
})
