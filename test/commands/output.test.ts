import t from 'tap'
import { createProgress } from '#src/commands/output.ts'

function shown(isTTY: boolean): string {
  let output = ''
  const show = createProgress({
    isTTY,
    write: (text) => {
      output += text
    },
  })
  for (const done of [0, 50, 100]) show({ label: 'rows', done, total: 100 })
  show({ label: 'none', done: 0, total: 0 })
  return output
}

t.test('on a terminal progress is one bar that is redrawn', async (t) => {
  const output = shown(true)
  t.match(output, `\rrows [${'#'.repeat(15)}${'.'.repeat(15)}] 50/100`)
  t.match(output, `\rrows [${'#'.repeat(30)}] 100/100\u001b[K\n`)
  t.equal(output.split('\n').length, 3)
})

t.test('otherwise each step is a line', async (t) => {
  t.equal(shown(false), 'rows: 0 of 100\nrows: 50 of 100\nrows: 100 of 100\nnone: 0 of 0\n')
})
