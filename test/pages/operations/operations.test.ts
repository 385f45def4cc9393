import t from 'tap'
import { ageText } from '#src/pages/kit/html.ts'

t.test('ages are in the largest unit that says enough', async (t) => {
  t.same([45, 90, 7_200, 100_000, 345_600].map(ageText), ['45 s', '2 min', '2 h', '28 h', '4 d'])
})
