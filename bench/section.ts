/** What one part of the benchmark has found; one section of bench/RESULTS.md. */
export type Section = {
  title: string
  ratios: readonly Ratio[]
  /** The measures behind the ratios: a head and its rows. */
  measures: readonly (readonly string[])[]
  /** What a reader has to know to judge them; a paragraph or none. */
  note: string
}

export type Ratio = { measure: string; value: string; goal: string }

export type Effort = {
  /** Each figure is the median of so many runs … */
  runs: number
  /** … of so long. */
  seconds: number
  /** What “many rows” are. */
  rows: number
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
