import { styleText } from 'node:util'
import { print } from './output.ts'

type Style = Parameters<typeof styleText>[0]

export type Cell = string | { text: string; style: Style }

const gap = '  '

/** Colours of states. They are shown on a terminal only, and not with NO_COLOR. */
const styles: Readonly<Record<string, Style>> = {
  healthy: 'green',
  succeeded: 'green',
  retrying: 'yellow',
  recovering: 'yellow',
  failing: 'red',
  exhausted: 'red',
  disabled: 'red',
}

/** A state in its colour. @param count how many it is about, if there are any */
export function stateCell(state: string, count = 0): Cell {
  const style = styles[state]
  const text = count === 0 ? state : `${state} (${count})`
  return style === undefined ? text : { text, style }
}

/** A column by its name. `isLong`: its texts may be cut so that the table fits the terminal. */
export type Column = string | { readonly name: string; readonly isLong: true }

/** A column whose texts may be cut. */
export function long(name: string): Column {
  return { name, isLong: true }
}

const shortestCut = 12

/**
 * Prints rows in columns below their names. On a terminal that is too narrow long texts are cut, and if
 * that is not enough each row is printed as lines of its own, where nothing is cut.
 */
export function printTable(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  { columns: room = Number.POSITIVE_INFINITY }: { readonly columns?: number } = process.stdout,
): void {
  const heads = columns.map((column): Cell => ({ text: headOf(column), style: 'bold' }))
  const all = [heads, ...rows]
  const full = columns.map((_, index) =>
    Math.max(...all.map((row) => textOf(row[index] ?? '').length)),
  )
  const widths = narrowed(columns, full, room)
  if (widths === null) {
    printRecords(columns, rows)
    return
  }
  for (const row of all) {
    const cells = row.map((cell, index) => {
      const width = widths[index] ?? 0
      const fitting = cut(cell, width)
      const padding = index === row.length - 1 ? 0 : width - textOf(fitting).length
      return shown(fitting) + ' '.repeat(Math.max(0, padding))
    })
    print(cells.join(gap).trimEnd())
  }
}

/** Widths with which the table fits, the longest column cut first; null if it cannot. */
function narrowed(columns: readonly Column[], full: readonly number[], room: number) {
  const widths = [...full]
  const total = () => widths.reduce((sum, width) => sum + width, gap.length * (widths.length - 1))
  while (total() > room) {
    const long = widths.filter((_, index) => typeof columns[index] !== 'string')
    const longest = Math.max(0, ...long)
    if (longest <= shortestCut) return null
    const at = widths.findIndex(
      (width, index) => width === longest && typeof columns[index] !== 'string',
    )
    const next = Math.max(shortestCut, ...long.filter((width) => width < longest))
    widths[at] = Math.max(next, longest - (total() - room), shortestCut)
  }
  return widths
}

function printRecords(columns: readonly Column[], rows: readonly (readonly Cell[])[]): void {
  const names = columns.map(headOf)
  const width = Math.max(...names.map((name) => name.length))
  rows.forEach((row, at) => {
    if (at > 0) print('')
    for (const [index, cell] of row.entries()) {
      print(`${(names[index] ?? '').padEnd(width)}${gap}${shown(cell)}`.trimEnd())
    }
  })
}

function headOf(column: Column): string {
  return (typeof column === 'string' ? column : column.name).toUpperCase()
}

function cut(cell: Cell, width: number): Cell {
  const text = textOf(cell)
  if (text.length <= width) return cell
  const shorter = `${text.slice(0, width - 1)}…`
  return typeof cell === 'string' ? shorter : { ...cell, text: shorter }
}

function textOf(cell: Cell): string {
  return typeof cell === 'string' ? cell : cell.text
}

function shown(cell: Cell): string {
  if (typeof cell === 'string') return cell
  return styleText(cell.style, cell.text, { stream: process.stdout })
}
