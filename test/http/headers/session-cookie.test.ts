import { Signer } from '@fastify/cookie'
import t from 'tap'
import { rememberVerified } from '#src/http/headers/session-cookie.ts'

t.test('an id is signed by the first secret, also after another one has verified it', async (t) => {
  const [first, second] = [new Signer('first'), new Signer('second')]
  const signer = rememberVerified(new Signer(['first', 'second']))
  const rows: [cookie: string, id: string | null, renew: boolean][] = [
    [first.sign('a'), 'a', false],
    [second.sign('a'), 'a', true],
    [second.sign('b'), 'b', true],
    [`${first.sign('c')}x`, null, false],
    ['c', null, false],
    [first.sign('c'), 'c', false],
  ]
  for (const [cookie, value, renew] of rows) {
    t.match(signer.unsign(cookie), { valid: value !== null, value, renew }, cookie)
    for (const id of ['a', 'b', 'c']) t.equal(signer.sign(id), first.sign(id), id)
  }
})
