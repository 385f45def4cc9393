import t from 'tap'
import { createProgress, withDocuments } from '#src/commands/kit/output.ts'

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

t.test('without a total a terminal shows the count, and nothing else does', async (t) => {
  const written: string[] = []
  const write = (text: string) => written.push(text)
  for (const isTTY of [true, false]) {
    const show = createProgress({ isTTY, write })
    for (const done of [1, 2_000]) show({ label: 'rows', done, total: null })
  }
  t.strictSame(written, ['\rrows: 1\u001b[K', '\rrows: 2,000\u001b[K'])
})

t.test('the bar has the rate and the time that is left', async (t) => {
  const written: string[] = []
  let ms = 0
  const show = createProgress({ isTTY: true, write: (text) => written.push(text) }, () => ms)
  for (const [at, done] of [
    [0, 0],
    [500, 10],
    [2_000, 40],
    [4_000, 42],
    [10_000, 1_000],
  ] as const) {
    ms = at
    show({ label: 'rows', done, total: 1_000 })
  }
  t.strictSame(
    written.map((text) => text.slice(text.indexOf(']') + 2).split('\u001b', 1)[0]),
    [
      '0/1000',
      '10/1000',
      '40/1000, 20/s, 48 s left',
      '42/1000, 11/s, 92 s left',
      '1000/1000, 100/s',
    ],
  )
})

t.test('otherwise each step is a line', async (t) => {
  t.equal(shown(false), 'rows: 0 of 100\nrows: 50 of 100\nrows: 100 of 100\nnone: 0 of 0\n')
})

t.test('a message names documents where its reader has them', async (t) => {
  const text = 'See docs/fields.md (docs/new-resource.md), not /srv/docs/fields.md.'
  const installed = '/srv/acme/node_modules/gatehouse/'
  t.equal(withDocuments(text, '/srv/checkout/', '/srv/checkout'), text, 'in a checkout')
  t.equal(
    withDocuments(text, installed, '/srv/acme'),
    'See node_modules/gatehouse/docs/fields.md (node_modules/gatehouse/docs/new-resource.md), not /srv/docs/fields.md.',
  )
  t.match(withDocuments(text, installed, '/tmp'), `See ${installed}docs/fields.md`)
})
