import { type Count, maxCounted } from '#src/http/lists/pagination.ts'
import { type Cell, type Column, type Html, html, table } from './html.ts'

/** One page of a list, as `pageOf` returns it, and how it was asked for. */
export type ShownList = {
  /** Path of the page, without a query. */
  path: string
  /** The filters in use; empty fields are left out. */
  filter?: Readonly<Record<string, string>>
  nextCursor: string | null
  previousCursor?: string | null
}

/** A table with links to the pages before and after it. @param empty shown instead of no rows */
export function listTable(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  list: ShownList,
  empty: Html,
): Html {
  return html`${rows.length === 0 ? html`<div class="empty">${empty}</div>` : table(columns, rows)}
        ${pageLinks(list)}`
}

/** Links to the newer and the older page; empty for a list of one page. */
export function pageLinks({
  path,
  filter = {},
  nextCursor,
  previousCursor = null,
}: ShownList): Html {
  if (nextCursor === null && previousCursor === null) return html``
  const [newer, older] = filter.sort ? ['Back', 'Further'] : ['Newer', 'Older']
  const link = (cursor: string | null, label: string, rel: string) =>
    cursor === null
      ? html``
      : html`<a class="button plain slim" href="${listHref(path, { ...filter, cursor })}" rel="${rel}">${label}</a>`
  return html`<nav class="row" aria-label="Pages of the list">${link(previousCursor, newer, 'prev')}${link(nextCursor, older, 'next')}</nav>`
}

/** `38 in all.`; nothing for an empty list, which says so itself. */
export function countText({ rows, more }: Count = { rows: 0, more: false }): string | undefined {
  const number = rows.toLocaleString('en')
  if (rows === maxCounted && more) return `Over ${number}.`
  if (more) return `At least ${number}.`
  return rows === 0 ? undefined : `${number} in all.`
}

/** The same as a line of its own below a heading. */
export function countLine(count: Count): Html {
  const text = countText(count)
  return text === undefined ? html`` : html`<p class="quiet counted">${text}</p>`
}

/** The address of a list; empty fields are left out. */
export function listHref(path: string, fields: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams(Object.entries(fields).filter(([, value]) => value !== ''))
  return query.size === 0 ? path : `${path}?${query.toString()}`
}

/** A choice of a filter form. @param chosen the value in use; empty for all */
export function choices(
  name: string,
  label: string,
  all: string,
  options: readonly { value: string; label: Cell }[],
  chosen: string,
): Html {
  const items = [{ value: '', label: all }, ...options].map(
    (option) =>
      html`<option value="${option.value}"${option.value === chosen ? html` selected` : ''}>${option.label}</option>`,
  )
  return html`<select name="${name}" aria-label="${label}">${items}</select>`
}
