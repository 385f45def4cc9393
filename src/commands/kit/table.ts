import { styleText } from 'node:util'
import { print } from './output.ts'

type Style = Parameters<typeof styleText>[0]

type Cell = string | { text: string; style: Style }

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

/** Prints rows in columns below their names. */
export function printTable(columns: readonly string[], rows: readonly (readonly Cell[])[]): void {
  const heads = columns.map((column): Cell => ({ text: column.toUpperCase(), style: 'bold' }))
  const widths = columns.map((_, index) =>
    Math.max(...[heads, ...rows].map((row) => textOf(row[index] ?? '').length)),
  )
  for (const row of [heads, ...rows]) {
    const cells = row.map((cell, index) => {
      const padding = index === row.length - 1 ? 0 : (widths[index] ?? 0)
      return shown(cell) + ' '.repeat(Math.max(0, padding - textOf(cell).length))
    })
    print(cells.join(gap))
  }
}

function textOf(cell: Cell): string {
  return typeof cell === 'string' ? cell : cell.text
}

function shown(cell: Cell): string {
  if (typeof cell === 'string') return cell
  return styleText(cell.style, cell.text, { stream: process.stdout })
}
