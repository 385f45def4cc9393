import { type Html, html } from './html.ts'

/** `actions` holds buttons: its heading is there for those who cannot see it. */
type Column = { label: string; kind?: 'number' | 'wrap' | 'actions' }

export type Cell = Html | string | number

/**
 * A table that becomes a list of small blocks on a phone, where each cell has its column's name
 * before it. The roles say again what the elements are, for browsers forget it when a style sheet
 * lays a table out as something else.
 */
export function table(columns: readonly Column[], rows: readonly (readonly Cell[])[]): Html {
  const heads = columns.map(
    ({ label, kind }) =>
      html`<th role="columnheader" scope="col"${classOf(kind)}>${
        kind === 'actions' ? html`<span class="unseen">${label}</span>` : label
      }</th>`,
  )
  const lines = rows.map(
    (cells) => html`
            <tr role="row">${cells.map((cell, index) => tableCell(columns[index], cell))}</tr>`,
  )
  return html`<table class="blocks" role="table">
          <thead role="rowgroup"><tr role="row">${heads}</tr></thead>
          <tbody role="rowgroup">${lines}
          </tbody>
        </table>`
}

function tableCell(column: Column | undefined, cell: Cell): Html {
  const { label = '', kind } = column ?? {}
  const name = kind === 'actions' ? '' : html` data-label="${label}"`
  return html`<td role="cell"${classOf(kind)}${name}>${cell}</td>`
}

function classOf(kind: Column['kind']): Html {
  return kind === undefined ? html`` : html` class="${kind}"`
}
