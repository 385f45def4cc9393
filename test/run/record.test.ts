import { appendFile, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { temporaryFolder } from '#test/support/processes/program.ts'
import { openRecord, withTable } from './record.ts'

t.test('a record continues after its last whole line, or begins empty', async (t) => {
  const file = join(await temporaryFolder(t), 'new/record.jsonl')
  const first = await openRecord<{ n: number }>(file, { resume: true })
  await first.add({ n: 1 })
  await first.add({ n: 2 })
  await appendFile(file, '{"n":')
  const again = await openRecord<{ n: number }>(file, { resume: true })
  t.strictSame(again.entries, [{ n: 1 }, { n: 2 }])
  await again.add({ n: 3 })
  t.equal(await readFile(file, 'utf8'), '{"n":1}\n{"n":2}\n{"n":3}\n')
  t.strictSame((await openRecord(file, { resume: false })).entries, [])
})

t.test('a table replaces the one between its marks', async (t) => {
  const page = 'Before\n<!-- runs: measured -->\nold\n<!-- runs: end -->\nAfter'
  const rows = [
    ['Date', 'Result'],
    ['2026-03-04', 'passed'],
  ]
  t.equal(
    withTable(page, 'runs', rows),
    'Before\n<!-- runs: measured -->\n\n| Date | Result |\n| --- | --- |\n| 2026-03-04 | passed |\n\n<!-- runs: end -->\nAfter',
  )
  t.throws(() => withTable(page, 'others', rows), /no marks for others/)
})
