import t from 'tap'
import { type CaseName, probeCases } from '#src/webhooks/probe/cases.ts'
import { diagnose, gradeOf, type Result } from '#src/webhooks/probe/diagnose.ts'

const names = Object.keys(probeCases) as CaseName[]

/** The results of a correct receiver, with these cases decided the other way. */
function resultsBut(...wrong: CaseName[]): Record<CaseName, Result> {
  return Object.fromEntries(
    names.map((name) => {
      const accepted = (probeCases[name].expected === 'accept') !== wrong.includes(name)
      return [name, { accepted, statusCode: accepted ? 204 : 401, error: null, durationMs: 10 }]
    }),
  ) as Record<CaseName, Result>
}

t.test('one wrong case is one fault', (t) => {
  const found = names
    .filter((name) => name !== 'correct')
    .map((name) => [name, ...diagnose(resultsBut(name), 'spec', 'spec')])
  t.strictSame(found, [
    ['malformed-signature', 'malformed-accepted'],
    ['missing-signature', 'missing-accepted'],
    ['foreign-signature', 'foreign-accepted'],
    ['changed-byte', 'body-not-signed'],
    ['too-old', 'old-accepted'],
    ['too-new', 'new-accepted'],
    ['repeated', 'repeat-refused'],
    ['rotation', 'rotation'],
    ['unknown-version', 'unknown-version'],
    ['unusual-bytes', 'raw-bytes'],
    ['slow-connection', 'slow-body'],
  ])
  t.end()
})

t.test('slow responses are a fault; a request that was not made is none', (t) => {
  const slow = resultsBut()
  slow.rotation.durationMs = 5_001
  t.strictSame(diagnose(slow, 'spec', 'spec'), ['slow-response'])
  const missing = resultsBut('rotation')
  missing.rotation.accepted = null
  t.strictSame(diagnose(missing, 'spec', 'spec'), [])
  t.end()
})

t.test('faults add up, and the worst one is the grade', (t) => {
  const found = diagnose(resultsBut('too-old', 'repeated', 'unusual-bytes'), 'spec', 'both')
  t.strictSame(found, ['profile', 'old-accepted', 'raw-bytes', 'repeat-refused'])
  t.equal(gradeOf(found), 'E')
  t.equal(gradeOf(['repeat-refused', 'old-accepted']), 'C')
  t.equal(gradeOf([]), 'A')
  t.end()
})
