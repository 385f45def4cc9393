import { once } from 'node:events'
import { createServer } from 'node:net'
import t from 'tap'
import { requireFreePort } from '#src/runtime/process/ports.ts'

t.test('a busy port and an address of another machine are reported with the setting', async (t) => {
  const host = '127.0.0.1'
  const busy = createServer().listen(0, host)
  await once(busy, 'listening')
  const address = busy.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const refused = { name: 'OperatorError', remedy: /Stop the process .* set PORT/ }
  await t.rejects(requireFreePort({ host, port, setting: 'PORT' }), refused)
  busy.close()
  await once(busy, 'close')
  await requireFreePort({ host, port, setting: 'PORT' })
  await requireFreePort({ host, port, setting: 'PORT' })
  const elsewhere = { host: '192.0.2.1', port, setting: 'HOST' }
  await t.rejects(requireFreePort(elsewhere), /Cannot listen on 192\.0\.2\.1:\d+ \(EADDRNOTAVAIL\)/)
})
