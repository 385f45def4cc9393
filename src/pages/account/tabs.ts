import { pageHead, tabs } from '#src/pages/kit/components.ts'
import { filtersOf, isFiltered } from '#src/pages/kit/filters.ts'
import { type Html, html, isolated } from '#src/pages/kit/html.ts'
import { layout, type Page, type Viewer } from '#src/pages/kit/layout.ts'
import { countText, listTable } from '#src/pages/kit/list.ts'
import { type AuditView, activityLooks, auditColumns, auditRow } from './audit.ts'

const path = '/app/account'
const labels = { '': 'Overview', '/tokens': 'API tokens', '/activity': 'Activity' } as const

/** A page of the account: links to its parts, and one of them. */
export function accountTab(viewer: Viewer, tab: keyof typeof labels, content: Html): Page {
  const items = Object.entries(labels).map(([end, label]) => ({ href: path + end, label }))
  const { email } = viewer
  return layout(
    tab === '' ? 'Account' : `Account: ${labels[tab]}`,
    html`${pageHead({ title: 'Your account', lead: email === null ? 'No email address' : isolated(email) })}
      ${tabs('Account', items, path + tab)}
      ${content}`,
    { current: path, ...viewer },
  )
}

/** What the viewer has done, newest first. */
export function activityPage(view: AuditView): Page {
  const { viewer, entries, cursors, count, query, used, targets } = view
  const tab = `${path}/activity`
  const empty = isFiltered(used)
    ? html`<p>No matching entries. <a href="${tab}">Show all entries</a></p>`
    : html`<p>No activity yet.</p>`
  const rows = entries.map((entry) => auditRow(entry, targets))
  const list = { path: tab, filter: used, ...cursors }
  return accountTab(
    viewer,
    '/activity',
    html`<section class="card" aria-labelledby="activity">
        <h2 id="activity">Activity</h2>
        <p class="quiet counted">What you did, in every tenant. ${countText(count) ?? ''}</p>
        ${filtersOf({ path: tab, query, used, looks: activityLooks() })}
        <div class="compact">${listTable(auditColumns(false), rows, list, empty)}</div>
      </section>`,
  )
}
