import t from 'tap'
import { stateCell } from '#src/commands/kit/table.ts'
import { deliveryBadge, stateMoods } from '#src/pages/kit/health.ts'
import { healthStates } from '#src/webhooks/health/health.ts'
import { deliveryStates } from '#src/webhooks/history/deliveries.ts'

const styles = { good: 'green', warning: 'yellow', bad: 'red', plainly: undefined } as const

t.test('a state has one colour on pages and in the command line', async (t) => {
  const states = [...healthStates, ...deliveryStates]
  t.strictSame(Object.keys(stateMoods).toSorted(), [...new Set(states)].toSorted())
  for (const state of states) {
    const cell = stateCell(state)
    t.equal(typeof cell === 'string' ? undefined : cell.style, styles[stateMoods[state]], state)
  }
})

t.test('a delivery that is retried shows how often it failed', async (t) => {
  const shown = deliveryBadge({ state: 'retrying', failedAttempts: 4 }).markup
  t.equal(shown, '<span class="badge warning">Retrying, 4 failed</span>')
  const waiting = deliveryBadge({ state: 'waiting', failedAttempts: 0 }).markup
  t.equal(waiting, '<span class="badge plainly">Waiting</span>')
})
