import type { Count } from '#src/http/lists/pagination.ts'
import { pageHead } from '#src/pages/kit/components.ts'
import { type FilterLook, type FilterLooks, filtersOf, isFiltered } from '#src/pages/kit/filters.ts'
import { type Column, type Html, html, isolated, table } from '#src/pages/kit/html.ts'
import { layout, noticeText, type Page, type Viewer } from '#src/pages/kit/layout.ts'
import { countText, listHref, listTable, type ShownList } from '#src/pages/kit/list.ts'
import { creationOf, pagePathOf } from '#src/resources/kit/names.ts'
import { queryOf } from '#src/rows/query.ts'
import { maxSearchedRows } from '#src/rows/search.ts'
import type { Declared } from '#src/rows/table.ts'
import {
  type Choices,
  createFormOf,
  labelOf,
  may,
  type Names,
  noticesOf,
  type Paged,
  type ShownRow,
  sees,
  valueText,
} from './rows.ts'

export type RowListView = {
  readonly viewer: Viewer
  readonly rows: readonly { readonly row: ShownRow; readonly names: Names }[]
  readonly cursors: Pick<ShownList, 'nextCursor' | 'previousCursor'>
  readonly count: Count | undefined
  /** The filters in use, as the API takes them, with the search and the order. */
  readonly filter: Readonly<Record<string, string>>
  /** The rows, members and folders that the filters offer, by field. */
  readonly choices: Choices
  readonly done: string | undefined
}

/** The rows in reach, newest first, and where a new one is made. */
export function rowListPage(resource: Paged & Declared, view: RowListView): Page {
  const { page, plural } = resource
  const { viewer, rows, cursors, filter } = view
  const path = pagePathOf(resource)
  const words = plural.replaceAll('_', ' ')
  const keys = shownKeys(resource, viewer)
  const columns = columnsOf(resource, keys).map((column, index) => {
    const key = keys[index] ?? ''
    return resource.sort.includes(key) ? { ...column, sort: sortOf(key, path, filter) } : column
  })
  const cells = cellsOf(resource, keys, rows)
  const empty = isFiltered(filter)
    ? html`<p>${missed(words, view)} <a href="${path}">Show all ${words}</a></p>`
    : html`<p>No ${words} yet.${resource.scope === 'chain' ? html` You see ${words} in the folders of your teams; a manager or admin can add you to a team.` : ''}</p>`
  const mayCreate = createFormOf(resource) !== null && may(viewer, resource.actions.create)
  const create = html`<a class="button" href="${path}/new">${creationOf(resource).heading}</a>`
  const sentences = [page.lead, `${ordersOf(resource)[filter.sort ?? '']}.`, countText(view.count)]
  const lead = sentences.filter((one) => one !== undefined).join(' ')
  return layout(
    page.label,
    html`${pageHead({ title: page.label, lead, ...(mayCreate && { actions: create }) })}
      ${noticeText(noticesOf(resource), view.done)}
      <section class="card" aria-label="${page.label}">
        ${filtersOf({ path, query: queryOf(resource, null), used: filter, looks: looksOf(resource, view) })}
        ${listTable(columns, cells, { path, filter, ...cursors }, empty)}
      </section>`,
    { current: path, ...viewer },
  )
}

/** Rows of another resource that refer to the one of a page. */
export type Below = {
  readonly resource: Paged
  /** The field that refers to it. */
  readonly key: string
  readonly id: number
  readonly rows: RowListView['rows']
  /** Whether there are older ones. */
  readonly isMore: boolean
}

/** The newest rows that refer to the one of a page, and where the others are. */
export function belowSection({ resource, key, id, rows, isMore }: Below, viewer: Viewer): Html {
  const keys = shownKeys(resource, viewer).filter((one) => one !== key)
  const { label } = resource.page
  const path = pagePathOf(resource)
  const chosen = { [key]: String(id) }
  const all = listHref(path, chosen)
  const form = listHref(`${path}/new`, chosen)
  const { create } = resource.actions
  const mayCreate = may(viewer, create) && create?.accepts?.includes(key) === true
  const link = html`<a class="button plain slim" href="${form}">${creationOf(resource).heading}</a>`
  const heading = html`<h2 id="${resource.plural}">${label}</h2>`
  return html`<section class="card" aria-labelledby="${resource.plural}">
        ${mayCreate ? html`<div class="headed">${heading}${link}</div>` : heading}
        ${rows.length === 0 ? html`<p class="quiet">None.</p>` : table(columnsOf(resource, keys), cellsOf(resource, keys, rows))}
        ${isMore ? html`<p><a href="${all}">All ${label.toLowerCase()}</a></p>` : ''}
      </section>`
}

function shownKeys({ page, fields }: Paged, viewer: Viewer): string[] {
  return [page.heading, ...(page.columns ?? [])].filter((key) => sees(viewer, fields[key]))
}

function columnsOf(resource: Paged, keys: readonly string[]): Column[] {
  return keys.map((key, index) => ({
    label: labelOf(resource, key),
    ...(index === 0 || resource.fields[key]?.isLong ? { kind: 'wrap' as const } : {}),
  }))
}

function cellsOf(resource: Paged, keys: readonly string[], rows: RowListView['rows']) {
  return rows.map(({ row, names }) =>
    keys.map((key, index) =>
      index === 0
        ? html`<a href="${pagePathOf(resource)}/${Number(row.id)}">${valueText(resource, key, row)}</a>`
        : valueText(resource, key, row, names),
    ),
  )
}

/** A head leads from the order of the list to the ascending one of its column, the descending one, and back. */
function sortOf(key: string, path: string, filter: RowListView['filter']) {
  const next = filter.sort === key ? `-${key}` : filter.sort === `-${key}` ? '' : key
  const order = filter.sort === key ? 'ascending' : next === '' ? 'descending' : 'none'
  return { order, href: listHref(path, { ...filter, sort: next }) } as const
}

/** The orders of a list in words, by `sort` of the page's query. */
function ordersOf(resource: Paged): Readonly<Record<string, string>> {
  const orders = resource.sort.flatMap((key) => {
    const isTime = ['date', 'timestamptz'].includes(resource.fields[key]?.column ?? '')
    const [up, down] = isTime ? ['earliest', 'latest'] : ['lowest', 'highest']
    const label = labelOf(resource, key)
    return [
      [key, `${label}, ${up} first`],
      [`-${key}`, `${label}, ${down} first`],
    ]
  })
  return { '': 'Newest first', createdAt: 'Oldest first', ...Object.fromEntries(orders) }
}

/** A search ends a page without rows at the most that it looks at, and goes on from there. */
function missed(words: string, { filter, cursors }: RowListView): string {
  return filter.q === undefined || cursors.nextCursor === null
    ? `No such ${words}.`
    : `No such ${words} among ${maxSearchedRows.toLocaleString('en')}: “${filter.sort ? 'Further' : 'Older'}” searches on.`
}

/** How the filters of a list look, by the declaration of their fields. */
function looksOf(resource: Paged, { viewer, choices }: RowListView): FilterLooks {
  const { filters, fields, search } = resource
  const own = filters.map((key): [string, FilterLook] => [key, lookOf(resource, key, choices)])
  const several = filters.map((key) => [`${key}[in]`, { label: labelOf(resource, key) }])
  const hidden = filters.filter((key) => !sees(viewer, fields[key]))
  const { '': all = '', ...orders } = ordersOf(resource)
  const options = Object.entries(orders).map(([value, label]) => ({ value, label }))
  const searched = search.map((key) => labelOf(resource, key).toLowerCase()).join(', ')
  return {
    ...Object.fromEntries([...own, ...several]),
    ...Object.fromEntries(hidden.map((key) => [key, { isKept: true }])),
    q: { label: `Search by ${searched}` },
    sort: { all, options },
  }
}

function lookOf(resource: Paged, key: string, { [key]: choices }: Choices): FilterLook {
  const { control = null, column } = resource.fields[key] ?? {}
  const label = labelOf(resource, key)
  if (choices !== undefined && choices.length > 0) {
    const options = choices.map(({ id, heading }) => ({
      value: String(id),
      label: isolated(heading),
    }))
    return { label, options }
  }
  if (control === null || control.offers !== undefined) return { label, isKept: true }
  if (column === 'boolean') {
    const options = [
      { value: 'true', label: 'Yes' },
      { value: 'false', label: 'No' },
    ]
    return { label, options }
  }
  return {
    label,
    ...(control.attributes !== undefined && { attributes: control.attributes }),
    ...(control.options !== undefined && {
      options: Object.entries(control.options).map(([value, label]) => ({ value, label })),
    }),
  }
}
