import t from 'tap'
import { randomOf } from '#test/support/models/seeded.ts'
import { trendOf } from './trend.ts'

const seed = Math.floor(Math.random() * 2 ** 31)
const samples = 240

function series(valueAt: (hours: number, noise: number) => number) {
  const random = randomOf(seed)
  return Array.from({ length: samples }, (_, n) => {
    const hours = n / 40
    return { hours, value: valueAt(hours, (random(2_001) - 1_000) / 1_000) }
  })
}

t.test('a leak is found in noise, and nothing else is taken for one', async (t) => {
  t.comment(`seed ${seed}`)
  const cases: [string, (hours: number, noise: number) => number, boolean][] = [
    ['constant', () => 150, false],
    ['noise', (_, noise) => 150 + 30 * noise, false],
    ['a saw tooth, as garbage collection makes', (hours) => 150 + ((hours * 7) % 1) * 40, false],
    ['a start that settles', (hours) => 150 - 60 * Math.exp(-hours * 4), false],
    ['less and less', (hours) => 200 - 5 * hours, false],
    ['a rise too small to matter', (hours) => 150 + hours / 2, false],
    ['nothing at all', () => 0, false],
    ['a leak', (hours) => 150 + 5 * hours, true],
    ['a leak in noise', (hours, noise) => 150 + 8 * hours + 15 * noise, true],
    ['from nothing', (hours) => hours, true],
  ]
  for (const [name, valueAt, grows] of cases) t.equal(trendOf(series(valueAt)).grows, grows, name)
})

t.test('the slope is that of the line, without the first quarter', async (t) => {
  const { perHour, first, last } = trendOf(series((hours) => (hours < 1.5 ? 0 : 10 + 2 * hours)))
  t.ok(Math.abs(perHour - 2) < 1e-6)
  t.strictSame([first, last], [13, 10 + 2 * ((samples - 1) / 40)])
})

t.test('too few samples are no answer', async (t) => {
  t.throws(() => trendOf([{ hours: 0, value: 1 }]), {
    message: '1 samples are too few for a trend',
  })
})
