import t from 'tap'
import {
  AttemptError,
  attemptError,
  lookupError,
  PostponedError,
} from '#src/webhooks/client/errors.ts'

const withCode = (code: string) => Object.assign(new Error('it failed'), { code })

t.test('a fault of ours postpones an attempt; one of the endpoint fails it', (t) => {
  const own = { EMFILE: 'resources', ENOMEM: 'resources', UND_ERR_DESTROYED: 'stopped' }
  for (const [code, reason] of Object.entries(own)) {
    t.match(attemptError(withCode(code)), { name: 'PostponedError', reason })
    t.match(attemptError(withCode(code), 'broken-answer'), { name: 'PostponedError', reason })
  }
  for (const code of ['ECONNREFUSED', 'ECONNRESET', 'EHOSTUNREACH', 'EAFNOSUPPORT', 'EPERM']) {
    t.type(attemptError(withCode(code)), AttemptError, code)
  }
  t.match(attemptError(new TypeError('x is not a function')), { reason: 'internal' })
  t.end()
})

t.test('an unknown error after the connection fails the attempt: a response may cause it', (t) => {
  t.match(attemptError(withCode('HPE_ODD'), 'broken-answer'), { code: 'broken-answer' })
  t.end()
})

t.test('a lookup is postponed only if none of our name servers can be asked', (t) => {
  t.match(lookupError(withCode('ECONNREFUSED')), { reason: 'name-servers' })
  t.type(lookupError(withCode('ECONNREFUSED')), PostponedError)
  for (const code of ['ENOTFOUND', 'ESERVFAIL', 'ETIMEOUT', 'EREFUSED']) {
    t.match(lookupError(withCode(code)), { code: 'dns' }, code)
  }
  t.end()
})
