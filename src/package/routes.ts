/*
 * What the routes, pages and demo rows of an app work with (`gatehouse/routes`). These modules know the app, so
 * gatehouse.config.ts loads what imports them with `() => import(…)`.
 */

export type { Caller, Member } from '#src/access/caller.ts'
export type { Tx } from '#src/db/database.ts'
export type { Count } from '#src/http/lists/pagination.ts'
export { found, readId } from '#src/http/params.ts'
export { type ErrorCode, Problem } from '#src/http/problems.ts'
export { IdParams } from '#src/http/schemas.ts'
export type { FirstStep, Home } from '#src/pages/account/home.ts'
export { emptyState, pageHead, toast } from '#src/pages/kit/components.ts'
export { filtersOf, type ListQuery, type Used } from '#src/pages/kit/filters.ts'
export { formOf, line, orEmpty, renderForm } from '#src/pages/kit/form.ts'
export { type Html, html, isolated, table, timeText } from '#src/pages/kit/html.ts'
export { layout, type Page, type Viewer } from '#src/pages/kit/layout.ts'
export { countText, listTable, type ShownList } from '#src/pages/kit/list.ts'
export { listPageOf } from '#src/pages/kit/list-page.ts'
export { enqueue } from '#src/queue/app/enqueue.ts'
export { type Actions, actionsOf } from '#src/rows/actions.ts'
export type { Act } from '#src/rows/before-change.ts'
export { queryOf } from '#src/rows/query.ts'
export { amountText } from '#src/runtime/amount.ts'
