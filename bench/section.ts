/** The results of one part of the benchmark: a section of bench/RESULTS.md. */
export type Section = {
  title: string
  ratios: readonly Ratio[]
  /** The absolute numbers: a head and rows. */
  measures: readonly (readonly string[])[]
  /** An explanation of the method, or empty. */
  note: string
}

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
export function sectionText({ ratios, measures, note }: Section): string {
  const rows = ratios.map(({ measure, value, goal }) => [measure, value, goal])
  const shown = rows.length > 0 ? table([ratioHead, ...rows]) : ''
  return [shown, table(measures), note && `${note}\n`].filter((part) => part !== '').join('\n')
}

export function table([head = [], ...rows]: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`
  return line(head) + line(head.map(() => '---')) + rows.map(line).join('')
}
