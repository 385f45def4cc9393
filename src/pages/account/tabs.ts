import { pageHead, tabs } from '#src/pages/kit/components.ts'
import { type Html, html, isolated } from '#src/pages/kit/html.ts'
import { layout, type Page, type Viewer } from '#src/pages/kit/layout.ts'
import { auditSection, type Trail } from './audit.ts'

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
export function activityPage(viewer: Viewer, audit: Trail): Page {
  return accountTab(viewer, '/activity', auditSection(`${path}/activity`, audit))
}
