import { onFirstUse } from '#src/runtime/lazy.ts'

/** Markup that is safe to insert without escaping. */
export type Html = { readonly markup: string }

/** Marks the output of a library that escapes on its own as safe markup. */
export function trusted(markup: string): Html {
  return { markup }
}

type Value = string | number | Html | readonly Html[]

/** Tagged template that escapes every interpolated string; markup nests only as `Html`. */
export function html(strings: TemplateStringsArray, ...values: readonly Value[]): Html {
  const rendered = values.map((value) => render(value))
  return { markup: strings.map((text, index) => text + (rendered[index] ?? '')).join('') }
}

/**
 * Wraps text from people or providers in `<bdi>`, so right-to-left text cannot reorder the text around
 * it.
 */
export function isolated(text: string): Html {
  return html`<bdi>${text}</bdi>`
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

/** An `actions` column holds buttons; its heading is visible to screen readers only. */
export type Column = {
  label: string
  kind?: 'number' | 'wrap' | 'actions'
  /** The order of the rows by this column, and where it leads to the next one. */
  sort?: { order: 'ascending' | 'descending' | 'none'; href: string }
}

export type Cell = Html | string | number

/**
 * A table that becomes a list of blocks on a phone, each cell labelled with its column's name.
 * The explicit roles are needed because browsers drop table semantics when a style sheet changes
 * `display`.
 */
export function table(columns: readonly Column[], rows: readonly (readonly Cell[])[]): Html {
  const heads = columns.map(
    ({ label, kind, sort }) =>
      html`<th role="columnheader" scope="col"${classOf(kind)}${sort === undefined ? '' : html` aria-sort="${sort.order}"`}>${headOf(label, kind, sort)}</th>`,
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

function headOf(label: string, kind: Column['kind'], sort: Column['sort']): Cell {
  if (sort !== undefined) return html`<a class="order" href="${sort.href}">${label}</a>`
  return kind === 'actions' ? html`<span class="unseen">${label}</span>` : label
}

function tableCell(column: Column | undefined, cell: Cell): Html {
  const { label = '', kind } = column ?? {}
  const name = kind === 'actions' ? '' : html` data-label="${label}"`
  return html`<td role="cell"${classOf(kind)}${name}>${cell}</td>`
}

function classOf(kind: Column['kind']): Html {
  return kind === undefined ? html`` : html` class="${kind}"`
}

const toDay = onFirstUse(
  () => new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' }),
)
const toMinute = onFirstUse(() => formatOf('short'))
const toSecond = onFirstUse(() => formatOf('medium'))

/** A time in UTC, to the minute, in a `<time>` element. @param at RFC 3339; null: never */
export function timeText(at: string | null): Html {
  if (at === null) return html`<span class="quiet">Never</span>`
  return html`<time datetime="${at}">${toMinute().format(new Date(at))} UTC</time>`
}

/** A date of the calendar. @param on such as `2026-11-29` */
export function dateText(on: string): Html {
  return html`<time datetime="${on}">${toDay().format(new Date(`${on}T00:00:00Z`))}</time>`
}

/** A future time in UTC, to the minute: once it has come, the script shows “now”. */
export function dueText(at: string): Html {
  return html`<time datetime="${at}" data-due>${toMinute().format(new Date(at))} UTC</time>`
}

/** A time in UTC, to the second. */
export function momentText(at: string): Html {
  return html`<time datetime="${at}" data-exact>${toSecond().format(new Date(at))} UTC</time>`
}

/** A duration for display: `850 ms`, `1.2 s`. */
export function durationText(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`
}

/** Seconds as an age: `45 s`, `3 min`, `2 h`, `4 d`. */
export function ageText(seconds: number): string {
  if (seconds < 60) return `${Math.round(seconds)} s`
  if (seconds < 3_600) return `${Math.round(seconds / 60)} min`
  return seconds < 172_800
    ? `${Math.round(seconds / 3_600)} h`
    : `${Math.round(seconds / 86_400)} d`
}

function formatOf(timeStyle: 'short' | 'medium'): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle, timeZone: 'UTC' })
}

/**
 * Text with a button that copies it. Without scripts there is no button.
 * @param id unique on the page
 */
export function copyable(
  id: string,
  label: string,
  kind: 'secret' | 'excerpt' | 'example',
  text: string,
): Html {
  return html`<div class="copyable"><pre class="${kind}" tabindex="0" aria-label="${label}"><code id="${id}">${text}</code></pre>${copyButton(id, `Copy ${label.toLowerCase()}`)}</div>`
}

/** Copies the text of an element. @param label what it copies, for screen readers */
export function copyButton(id: string, label: string, text = 'Copy'): Html {
  return html`<button type="button" class="button plain slim" data-copy="${id}" aria-label="${label}" hidden>${text}</button>`
}

const whitespaceOutsideStrings = /("(?:[^"\\]|\\.)*")|\s+/g

/** Indented JSON if only whitespace changes, otherwise the body as received. */
export function indentJson(body: string): string {
  try {
    const value: unknown = JSON.parse(body)
    // Parsing loses digits of numbers beyond 2^53 and drops duplicate fields.
    const faithful = JSON.stringify(value) === body.replaceAll(whitespaceOutsideStrings, '$1')
    return faithful ? JSON.stringify(value, null, 2) : body
  } catch {
    return body
  }
}

/** A figure with its name. @param mood for a figure that someone should look at */
export type Stat = {
  label: string
  value: Cell
  note?: Cell
  href?: string
  mood?: 'bad' | 'warning'
}

/** Figures side by side. */
export function stats(figures: readonly Stat[]): Html {
  const items = figures.map(({ label, value, note, href, mood }) => {
    const content = html`<span class="label">${label}</span><span class="figure">${value}</span>${note === undefined ? '' : html`<span class="note quiet">${note}</span>`}`
    const kind = mood === undefined ? 'stat' : `stat ${mood}`
    return href === undefined
      ? html`<div class="${kind}">${content}</div>`
      : html`<a class="${kind}" href="${href}">${content}</a>`
  })
  return html`<div class="stats">${items}</div>`
}

/** A text whose only markup are the code spans of CommonMark. */
export function withCodeSpans(text: string): Html {
  const parts = text.split('`').map((part, index) => {
    return index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`
  })
  return html`${parts}`
}
