import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import Fastify from 'fastify'
import t from 'tap'
import gracefulShutdown from '#plugins/graceful-shutdown.ts'

t.test('a response in progress closes its connection once the server leaves', async (t) => {
  const app = Fastify()
  await app.register(gracefulShutdown)
  const [arrived, allowed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  app.get('/', async () => {
    arrived.resolve()
    await allowed.promise
    return 'answered'
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => app.close())
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  const received: Buffer[] = []
  socket.on('data', (chunk: Buffer) => received.push(chunk))
  socket.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n')
  await arrived.promise
  app.leave()
  allowed.resolve()
  await once(socket, 'close')
  t.match(Buffer.concat(received).toString(), /connection: close\r\n[\s\S]*answered$/i)
})
