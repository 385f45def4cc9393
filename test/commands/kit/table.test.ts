import t, { type Test } from 'tap'
import { long, printTable, stateCell } from '#src/commands/kit/table.ts'

/** What the table prints. @param room the width of the terminal; undefined: none */
function printed(t: Test, room?: number): string[] {
  const results = t.capture(process.stdout, 'write', () => true)
  const id = '0'.repeat(36)
  const url = `https://receiver.example/${'a'.repeat(200)}`
  const rows = [
    [id, stateCell('retrying', 4), url, 'order.updated,post.updated', '10/s'],
    [id, stateCell('healthy'), 'https://b.example', 'all events', ''],
  ]
  const columns = ['Id', 'State', long('URL'), long('Events'), 'Limits']
  printTable(columns, rows, room === undefined ? {} : { columns: room })
  return results()
    .map(({ args }) => String(args[0]))
    .join('')
    .split('\n')
}

t.test('where there is no terminal nothing is cut', async (t) => {
  const lines = printed(t)
  t.match(lines[0], /^ID {36}STATE {9}URL {224}EVENTS +LIMITS$/)
  t.match(lines[1], `retrying (4)  https://receiver.example/${'a'.repeat(200)}  order.updated`)
})

t.test('on a terminal the longest texts are cut until the table fits', async (t) => {
  for (const room of [160, 120, 100]) {
    const lines = printed(t, room)
    t.equal(lines.length, 4)
    t.ok(
      lines.every((line) => line.length <= room),
      `${room}`,
    )
    t.match(lines[1], '0'.repeat(36), 'ids stay')
    t.match(lines[1], '…')
  }
})

t.test('on a narrow terminal each row is lines of its own, with nothing cut', async (t) => {
  const lines = printed(t, 80)
  t.match(lines[1], /^STATE {3}retrying \(4\)$/)
  t.match(lines[2], `URL     https://receiver.example/${'a'.repeat(200)}`)
  t.equal(lines[5], '', 'an empty line between rows')
  t.notMatch(lines.join('\n'), '…')
})

t.test('there are no colours where there is no terminal', async (t) => {
  t.notMatch(printed(t).join(''), '\u001b')
})
