import t from 'tap'
import { nextEncryptionStep, nextSessionStep } from '#src/commands/keys/rotation.ts'
import { findKeyFaults, type SeenKeys } from '#src/operations/running-processes.ts'

const start = new Date('2026-01-01T09:00:00Z')
const time = new Date('2026-01-01T10:00:00Z')

/** Processes by their encryption keys: `2 a,b` are two that run, `0 a` are ended ones. */
function encrypting(...processes: readonly string[]): SeenKeys[] {
  return processes.map((text) => seen(text, (encryptionKeys) => ({ encryptionKeys })))
}

function signing(...processes: readonly string[]): SeenKeys[] {
  return processes.map((text) => seen(text, (sessionSecrets) => ({ sessionSecrets })))
}

function seen(text: string, keys: (ids: string[]) => Partial<SeenKeys>): SeenKeys {
  const [running = '', ids = ''] = text.split(' ')
  const none = { role: 'all', encryptionKeys: ['k'], sessionSecrets: [] }
  return {
    ...none,
    startedAt: start,
    lastSeenAt: time,
    running: Number(running),
    ...keys(ids.split(',')),
  }
}

t.test('the steps of a rotation of encryption keys, in order', (t) => {
  const rows: [configured: string, inUse: string, seen: string[], next: RegExp, safe: boolean][] = [
    ['a', 'a', ['2 a'], /^None\. To rotate, restart every process with a,NEW/, true],
    ['a,b', 'a', ['2 a'], /^Restart the other 2 of 2 running processes with a,b\.$/, true],
    ['a,b', 'a', ['1 a', '1 a,b'], /^Restart the other 1 of 2 .* with a,b\.$/, true],
    [
      'a,b',
      'a',
      ['2 a,b', '0 a'],
      /^Restart every process with b,a when 300 s have passed since 2026-01-01T09:00:00\.000Z\.$/,
      true,
    ],
    ['b,a', 'a', ['2 a,b', '0 a'], /^Restart the other 2 of 2 .* with b,a\.$/, true],
    ['b,a', 'a,b', ['1 a,b', '1 b,a'], /^Restart the other 1 of 2 .* with b,a\.$/, true],
    ['b,a', 'a,b', ['2 b,a', '0 a,b'], /^Run `gatehouse keys rotate`\.$/, true],
    [
      'b,a',
      'b',
      ['2 b,a', '0 a,b'],
      /^Restart every process with b: a is no longer needed when 60 s .* since 2026-01-01T10:/,
      true,
    ],
    ['b', 'b', ['1 b', '1 b,a'], /^Restart the other 1 of 2 .* with b\.$/, true],
    ['b', 'b', ['2 b', '0 b,a'], /^None\./, true],
    // Steps in the wrong order.
    ['b,a', 'a', ['2 a'], /^2 of 3 running processes lack the key b/, false],
    ['b,a', 'a,b', ['1 a', '1 b,a'], /^1 of 2 running processes lack the key b/, false],
    ['b', 'a,b', ['2 b,a'], /^Add the key a: stored values need it\.$/, false],
    ['b', 'b', ['1 a,b', '1 b,a'], /^1 of 3 running processes lack the key a/, false],
    // No process runs.
    ['a,b', 'a', [], /^Restart every process with b,a\.$/, true],
    ['b,a', 'a', [], /^Run `gatehouse keys rotate`\.$/, true],
  ]
  for (const [configured, inUse, processes, next, safe] of rows) {
    const step = nextEncryptionStep(
      configured.split(','),
      new Set(inUse.split(',')),
      encrypting(...processes),
    )
    t.match(step, { setting: 'ENCRYPTION_KEYS', next, safe }, `${configured} ${processes}`)
  }
  t.end()
})

t.test('the steps of a rotation of session secrets, in order', (t) => {
  const rows: [seen: string[], next: RegExp, safe: boolean][] = [
    [['2 x'], /^None\./, true],
    [['1 x', '1 x,y'], /^Restart the remaining processes/, true],
    [['2 x,y', '0 x'], /^Restart every process with y \(fingerprint\) first, x second/, true],
    [['1 x,y', '1 y,x'], /^Restart the remaining processes/, true],
    [['2 y,x', '0 x,y'], /^Remove x .*have passed since 2026-01-01T10:00:00\.000Z\.$/, true],
    [['1 y,x', '1 x'], /^1 of 2 running processes lack the secret with fingerprint y.*fail/, false],
  ]
  for (const [processes, next, safe] of rows) {
    const step = nextSessionStep(signing(...processes))
    t.match(step, { setting: 'SESSION_SECRETS', next, safe }, String(processes))
  }
  t.equal(nextSessionStep(encrypting('2 a')), null, 'workers sign no cookies')
  t.end()
})

t.test('processes that have ended are no fault', (t) => {
  t.strictSame(findKeyFaults(encrypting('2 b', '0 a')), [])
  t.end()
})
