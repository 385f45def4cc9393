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

t.test('a signature is computed once, and one that is wrong is never taken for it', async (t) => {
  const [first, second] = [new Signer('first'), new Signer('second')]
  let computed = 0
  const verifying = new Signer(['first', 'second'])
  const signer = rememberVerified({
    sign: (id) => verifying.sign(id),
    unsign(cookie) {
      computed += 1
      return verifying.unsign(cookie)
    },
  })
  for (const { sign, renew } of [
    { sign: first.sign.bind(first), renew: false },
    { sign: second.sign.bind(second), renew: true },
  ]) {
    const cookie = sign('a')
    computed = 0
    for (const _ of [1, 2, 3])
      t.match(signer.unsign(cookie), { valid: true, value: 'a', renew }, 'the same each time')
    t.equal(computed, 1)
    const wrong = [`${cookie}x`, cookie.slice(0, -1), cookie.replace('a', 'b'), ` ${cookie}`]
    for (const one of wrong) {
      for (const _ of [1, 2]) t.match(signer.unsign(one), { valid: false, value: null }, one)
    }
    t.equal(computed, 1 + 2 * wrong.length, 'what is wrong is not kept')
  }
})

t.test('only the newest thousand are known', async (t) => {
  const own = new Signer('secret')
  let computed = 0
  const signer = rememberVerified({
    sign: (id) => own.sign(id),
    unsign(cookie) {
      computed += 1
      return own.unsign(cookie)
    },
  })
  const cookies = Array.from({ length: 1_001 }, (_, n) => own.sign(`id-${n}`))
  for (const cookie of cookies) signer.unsign(cookie)
  computed = 0
  for (const cookie of cookies.slice(1)) signer.unsign(cookie)
  t.equal(computed, 0)
  t.match(signer.unsign(String(cookies[0])), { valid: true, value: 'id-0' })
  t.equal(computed, 1, 'the oldest is computed again')
})
