import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { findAnomalies, type Operation } from './history.ts'

/** A step of a client: append to a list, read one, or do both in one transaction. */
const step = fc.record({
  client: fc.nat(3),
  key: fc.constantFrom('x', 'y'),
  kind: fc.constantFrom('append', 'read', 'both', 'read all'),
  outcome: fc.constantFrom('ok', 'ok', 'ok', 'failed', 'unknown happened', 'unknown lost'),
  /** How long the operation overlaps with those before and after it. */
  slack: fc.nat(3),
})
const steps = fc.array(step, { minLength: 4, maxLength: 30 })
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

/** What clients see of lists that one after another changes: a history without anomalies. */
function play(plan: readonly Step[]): Operation[] {
  const lists = new Map<string, string[]>([
    ['x', []],
    ['y', []],
  ])
  const history = plan.map(({ client, key, kind, outcome, slack }, index): Operation => {
    const happens = outcome === 'ok' || outcome === 'unknown happened'
    const list = lists.get(key) ?? []
    const keys = kind === 'read all' ? ['x', 'y'] : kind === 'append' ? [] : [key]
    const reads = keys.map((one) => [one, [...(lists.get(one) ?? [])]] as const)
    const value = `${client}.${index}`
    const appends = kind === 'append' || kind === 'both' ? [[key, value] as const] : []
    if (happens && appends.length > 0) list.push(value)
    return {
      name: `op${index}`,
      from: 10 * index - 10 * slack,
      to: 10 * index + 10 * slack + 1,
      outcome: outcome === 'ok' || outcome === 'failed' ? outcome : 'unknown',
      appends,
      reads: outcome === 'ok' ? reads : [],
    }
  })
  const end = 10 * plan.length + 100
  const last = { name: 'last', from: end, to: end + 1, outcome: 'ok', appends: [] } as const
  return [...history, { ...last, reads: [...lists].map(([key, list]) => [key, list] as const) }]
}

t.test('a history that one order explains has no anomalies', async (t) => {
  fc.assert(
    fc.property(steps, (plan) => {
      const history = play(plan)
      assert.deepEqual(findAnomalies(history), [])
      assert.deepEqual(findAnomalies(history, { ordered: false }), [])
    }),
    { numRuns: 1_000 },
  )
  t.pass('none in 1000 histories')
})

const faults: Readonly<Record<string, [plant: (history: Operation[]) => boolean, found: RegExp]>> =
  {
    'a lost write': [
      (history) => {
        const victim = history.find(
          ({ appends, outcome }) => appends.length > 0 && outcome === 'ok',
        )
        if (victim === undefined) return false
        const [key, value] = victim.appends[0] ?? ['', '']
        for (const [index, operation] of history.entries()) {
          const reads = operation.reads.map(
            ([at, values]) =>
              [at, at === key ? values.filter((one) => one !== value) : values] as const,
          )
          history[index] = { ...operation, reads }
        }
        return true
      },
      /is lost/,
    ],
    'a doubled write': [
      (history) => changeLast(history, (values) => [...values, ...values.slice(0, 1)]),
      /is doubled/,
    ],
    'a value out of nowhere': [
      (history) => changeLast(history, (values) => [...values, 'forged']),
      /was never appended/,
    ],
    'a write that had failed': [
      (history) => {
        const index = history.findIndex(
          ({ outcome, appends }) => outcome === 'ok' && appends.length > 0,
        )
        const victim = history[index]
        if (victim === undefined) return false
        history[index] = { ...victim, outcome: 'failed', reads: [] }
        return true
      },
      /had failed/,
    ],
    'a stale read': [
      (history) => {
        const [key, values] = history.at(-1)?.reads.find(([, list]) => list.length > 0) ?? ['', []]
        const newest = history.find(({ appends }) =>
          appends.some(([, one]) => one === values.at(-1)),
        )
        if (newest?.outcome !== 'ok') return false
        const end = (history.at(-1)?.from ?? 0) - 10
        const read = [key, values.slice(0, -1)] as const
        const late = { name: 'late', from: end, to: end + 1, outcome: 'ok', appends: [] } as const
        history.splice(-1, 0, { ...late, reads: [read] })
        return newest.to < end
      },
      /late is stale/,
    ],
    'an order that changes': [
      (history) => {
        const last = history.at(-1)?.reads.find(([, values]) => values.length > 1)
        if (last === undefined) return false
        const end = (history.at(-1)?.to ?? 0) + 10
        const read = [last[0], last[1].toReversed()] as const
        const name = 'again'
        history.push({ name, from: end, to: end + 1, outcome: 'ok', appends: [], reads: [read] })
        return true
      },
      /in different orders/,
    ],
  }

function changeLast(
  history: Operation[],
  change: (values: readonly string[]) => readonly string[],
): boolean {
  const last = history.at(-1)
  if (last === undefined || last.reads.every(([, values]) => values.length === 0)) return false
  const reads = last.reads.map(
    ([key, values]) => [key, values.length === 0 ? values : change(values)] as const,
  )
  history[history.length - 1] = { ...last, reads }
  return true
}

for (const [name, [plant, found]] of Object.entries(faults)) {
  t.test(`${name} is found in every history that has one`, async (t) => {
    let planted = 0
    fc.assert(
      fc.property(steps, (plan) => {
        const history = play(plan)
        if (!plant(history)) return
        planted += 1
        assert.match(findAnomalies(history).join('; '), found)
      }),
      { numRuns: 300 },
    )
    t.ok(planted > 100, `${planted} histories with the fault`)
  })
}

t.test('two transactions that miss each other’s writes are found as a circle', async (t) => {
  const between = { from: 0, to: 10, outcome: 'ok' } as const
  const skew: Operation[] = [
    { ...between, name: 'one', reads: [['x', []]], appends: [['y', 'a']] },
    { ...between, name: 'two', reads: [['y', []]], appends: [['x', 'b']] },
    {
      ...{ ...between, name: 'last', from: 20, to: 30, appends: [] },
      reads: [
        ['x', ['b']],
        ['y', ['a']],
      ],
    },
  ]
  t.match(findAnomalies(skew), [/^no order explains: (one → two → one|two → one → two)$/])
  t.same(findAnomalies(skew.slice(1)), ['last: a of y was never appended'])
})

t.test('a value that was sent again may be there from the first time on', async (t) => {
  const read = (at: number): Operation => {
    const reads = [['x', ['a']]] as const
    return { name: `read ${at}`, from: at, to: at + 1, outcome: 'ok', appends: [], reads }
  }
  const send = (at: number, outcome: Operation['outcome']): Operation => {
    const appends = [['x', 'a']] as const
    return { name: `send ${at}`, from: at, to: at + 1, outcome, appends, reads: [] }
  }
  t.same(findAnomalies([send(0, 'unknown'), read(10), send(20, 'ok'), read(30)]), [])
  t.same(findAnomalies([send(0, 'failed'), read(10), send(20, 'ok')]), [
    'read 10: a of x had failed',
  ])
  t.match(findAnomalies([read(10), send(20, 'ok')]), [/comes from the future/])
})
