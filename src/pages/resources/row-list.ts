import Type, { type TSchema } from 'typebox'
import { type Count, maxCounted } from '#src/http/lists/pagination.ts'
import { filterBar, pageHead } from '#src/pages/kit/components.ts'
import { type Column, type Html, html, table } from '#src/pages/kit/html.ts'
import { layout, noticeText, type Page, type Viewer } from '#src/pages/kit/layout.ts'
import { choices, listHref, listTable, type ShownList } from '#src/pages/kit/list.ts'
import { type Control, orEmpty } from '#src/resources/kit/fields/control.ts'
import { creationOf, pagePathOf } from '#src/resources/kit/names.ts'
import { maxSearchedRows, SearchWords } from '#src/rows/search.ts'
import {
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

/** Search, filters and order of the list, by the schema of what the page's query has: an empty field means all. */
export function filterSchemasOf({ fields, filters, sort, search }: Paged): Record<string, TSchema> {
  const schemas = shownFilters({ fields, filters }).map(([key, control]): [string, TSchema] => [
    key,
    control.schema(true),
  ])
  const searched: [string, TSchema][] =
    search.length === 0 ? [] : [['q', orEmpty(SearchWords, true)]]
  const hidden = filters.flatMap((key): [string, TSchema][] => {
    const { control, filter = null } = fields[key] ?? {}
    return control?.offers === undefined || filter === null ? [] : [[key, orEmpty(filter, true)]]
  })
  const orders = sort.flatMap((key) => [key, `-${key}`])
  const sorted: [string, TSchema][] =
    sort.length === 0 ? [] : [['sort', Type.Enum(['', 'createdAt', ...orders])]]
  const all = [...searched, ...schemas, ...hidden, ...sorted].map(([key, schema]) => [
    key,
    Type.Optional(schema),
  ])
  return Object.fromEntries(all)
}

function shownFilters({ fields, filters }: Pick<Paged, 'fields' | 'filters'>) {
  return filters.flatMap((key): [string, Control][] => {
    const control = fields[key]?.control ?? null
    return control === null || control.offers !== undefined ? [] : [[key, control]]
  })
}

export type RowListView = {
  readonly viewer: Viewer
  readonly rows: readonly { readonly row: ShownRow; readonly names: Names }[]
  readonly cursors: Pick<ShownList, 'nextCursor' | 'previousCursor'>
  readonly count: Count | undefined
  /** The filters in use, by field, with the search and the order. */
  readonly filter: Readonly<Record<string, string>>
  readonly done: string | undefined
}

/** The rows in reach, newest first, and where a new one is made. */
export function rowListPage(resource: Paged, view: RowListView): Page {
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
  const isFiltered = Object.keys(filter).some((key) => key !== 'sort')
  const empty = isFiltered
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
        ${filterBarOf(resource, filter, isFiltered)}
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
  const all = listHref(pagePathOf(resource), { [key]: String(id) })
  return html`<section class="card" aria-labelledby="${resource.plural}">
        <h2 id="${resource.plural}">${label}</h2>
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

/** `38 in all.`; nothing for an empty list, which says so itself. */
function countText({ rows, more }: Count = { rows: 0, more: false }): string | undefined {
  const number = rows.toLocaleString('en')
  if (rows === maxCounted && more) return `Over ${number}.`
  if (more) return `At least ${number}.`
  return rows === 0 ? undefined : `${number} in all.`
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

function filterBarOf(
  resource: Paged,
  filter: Readonly<Record<string, string>>,
  isFiltered: boolean,
): Html {
  const shown = shownFilters(resource)
  const { search, sort } = resource
  const kept = Object.entries(filter).filter(
    ([key]) => resource.fields[key]?.control?.offers !== undefined,
  )
  if (shown.length + search.length + sort.length + kept.length === 0) return html``
  const searched = search.map((key) => labelOf(resource, key).toLowerCase()).join(', ')
  const label = `Search by ${searched}`
  const fields = shown.map(([key, control]) => {
    const label = labelOf(resource, key)
    const value = filter[key] ?? ''
    if (control.options !== undefined) {
      const options = Object.entries(control.options).map(([one, words]) => ({
        value: one,
        label: words,
      }))
      return choices(key, label, `Every ${label.toLowerCase()}`, options, value)
    }
    const { maxLength } = control.schema(true) as { maxLength?: number }
    return html`<input name="${key}" value="${value}"${maxLength === undefined ? '' : html` maxlength="${maxLength}"`} placeholder="${label}" aria-label="${label}" data-search>`
  })
  const box = html`<input type="search" name="q" value="${filter.q ?? ''}" maxlength="100" placeholder="${label}" aria-label="${label}" data-search>`
  return filterBar(
    pagePathOf(resource),
    html`${kept.map(([key, id]) => html`<input type="hidden" name="${key}" value="${id}">`)}${search.length === 0 ? '' : box}${fields}${sort.length === 0 ? '' : orderChoice(resource, filter.sort)}`,
    isFiltered,
  )
}

function orderChoice(resource: Paged, chosen = ''): Html {
  const { '': first = '', ...others } = ordersOf(resource)
  const options = Object.entries(others).map(([value, label]) => ({ value, label }))
  return choices('sort', 'Order', first, options, chosen)
}
