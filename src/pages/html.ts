import { onFirstUse } from '#src/runtime/lazy.ts'

/** Text that is markup already. */
export type Html = { readonly markup: string }

/** Markup that another library has made and vouches for. */
export function trusted(markup: string): Html {
  return { markup }
}

type Value = string | number | Html | readonly Html[]

/** A template whose every interpolated string is escaped; markup nests only as Html. */
export function html(strings: TemplateStringsArray, ...values: readonly Value[]): Html {
  const rendered = values.map((value) => render(value))
  return { markup: strings.map((text, index) => text + (rendered[index] ?? '')).join('') }
}

function render(value: Value): string {
  if (typeof value === 'string') return escapeText(value)
  if (typeof value === 'number') return String(value)
  return 'markup' in value ? value.markup : value.map((part) => part.markup).join('')
}

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escapeText(text: string): string {
  return text.replace(/[&<>"']/g, (character) => escapes[character] ?? character)
}

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

const toMinute = onFirstUse(() => formatOf('short'))
const toSecond = onFirstUse(() => formatOf('medium'))

/** A time as a person reads it, in UTC, with the exact one for programs. @param at RFC 3339 */
export function timeText(at: string | null): Html {
  if (at === null) return html`<span class="quiet">never</span>`
  return html`<time datetime="${at}">${toMinute().format(new Date(at))} UTC</time>`
}

/** The same to the second, where times close to each other are told apart. */
export function momentText(at: string): Html {
  return html`<time datetime="${at}">${toSecond().format(new Date(at))} UTC</time>`
}

/** A length of time as a person reads it. */
export function durationText(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`
}

function formatOf(timeStyle: 'short' | 'medium'): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle, timeZone: 'UTC' })
}
