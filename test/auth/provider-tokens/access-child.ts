import { createProviderTokens } from '#src/auth/provider-tokens/access.ts'
import { openSystemDatabase } from '#src/db/system-database.ts'
import { openQueue } from '#src/queue/queue.ts'
import { patient } from '#test/support/database/open.ts'
import { connect, identity, keys } from './world.ts'

/*
 * A process that requests access tokens. It kills itself at the step GRANT_CRASH, as `kill -9`
 * would; otherwise it prints the result of each request.
 */

const { GRANT_DATABASE: url = '', GRANT_ISSUER = '', GRANT_CRASH, GRANT_TIMES } = process.env
const systemDb = openSystemDatabase(url, 5, patient)
const locks = openSystemDatabase(url, 4, patient)
const queue = openQueue(url, 'web', () => {})
await queue.start()
const access = createProviderTokens({
  keys,
  systemDb,
  locks,
  queue,
  providers: new Map([[identity.provider, connect(GRANT_ISSUER)]]),
  reached: (step) => {
    if (step === GRANT_CRASH) process.kill(process.pid, 'SIGKILL')
  },
})
const requests = Array.from({ length: Number(GRANT_TIMES) }, () => access.accessToken(identity))
for (const result of await Promise.all(requests)) {
  console.log(result.kind === 'token' ? `token ${result.accessToken}` : result.kind)
}
await Promise.all([systemDb.close(), locks.close(), queue.stop({ graceful: false })])
