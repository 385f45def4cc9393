/** The results of one part of the benchmark: a section of bench/RESULTS.md. */
export type Section = {
  title: string
  ratios: readonly Ratio[]
  /** The absolute numbers: a head and rows. */
  measures: Table
  /** Further tables. */
  details?: readonly Table[]
  /** The PostgreSQL that was measured, if it is not the one that npm installs. */
  postgres?: string
  /** The numbers are of one run of their own length. */
  isOneRun?: boolean
  /** An explanation of the method, or empty. */
  note: string
}

/** A head and rows. */
export type Table = readonly (readonly string[])[]

export type Ratio = { measure: string; value: string; goal: string }

export type Effort = {
  /** Each number is the median of this many runs. */
  runs: number
  /** Seconds per run. */
  seconds: number
  /** Rows of large tables. */
  rows: number
  /** How long a transaction is held open. */
  heldSeconds: number
}

export const ratioHead = ['Measure', 'Ratio', 'Goal'] as const

/** The section as Markdown, without its heading. */
export function sectionText({ ratios, measures, details = [], note }: Section): string {
  const rows = ratios.map(({ measure, value, goal }) => [measure, value, goal])
  const shown = rows.length > 0 ? table([ratioHead, ...rows]) : ''
  const parts = [shown, ...[measures, ...details].map(table), note && `${note}\n`]
  return parts.filter((part) => part !== '').join('\n')
}

export function table([head = [], ...rows]: Table): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`
  return line(head) + line(head.map(() => '---')) + rows.map(line).join('')
}
