import { emptyState, pageHead } from '#src/pages/kit/components.ts'
import { type Destination, objectsFor } from '#src/pages/kit/destinations.ts'
import { type Html, html, isolated } from '#src/pages/kit/html.ts'
import { icon } from '#src/pages/kit/icon.ts'
import type { Page, Viewer } from '#src/pages/kit/layout.ts'
import { layout } from '#src/pages/kit/layout.ts'

/** A search of pages, actions and objects by id and name. The first result has the focus, so Enter follows it. */
export function goPage(viewer: Viewer, search: string, found: readonly Destination[]): Page {
  const isResult = search !== '' && found.length > 0
  const focus = (isFocused: boolean) => (isFocused ? html` autofocus` : '')
  const links = found.map(({ href, label, about, icon: name, isEntered }, index) => {
    const note = about === null ? '' : html` <span class="quiet">${about}</span>`
    return html`<li>${icon(name)}<span class="wrap"><a href="${href}"${focus(isResult && index === 0)}>${isEntered ? isolated(label) : label}</a>${note}</span></li>`
  })
  return layout(
    'Go to',
    html`${pageHead({ title: 'Go to', lead: 'Pages, actions, and objects by name or ID.' })}
      <section class="card" aria-label="Search">
        <form class="find" role="search" method="get" action="/app/go">${icon('search')}<input type="search" name="q" value="${search}" maxlength="100" placeholder="Page, action, name or ID" aria-label="Page, action, name or ID" data-search${focus(!isResult)}></form>
      </section>
      <section class="card" aria-label="Results">
        ${found.length > 0 ? html`<ul class="plain-list found">${links}</ul>` : nothing}
        ${objectsFor(viewer, search).length > 0 ? html`<p class="quiet small">An ID leads to every kind of object that can have it. Opening one says whether it exists and you may see it.</p>` : ''}
      </section>`,
    { current: '/app/go', ...viewer },
  )
}

/** Links for the dialog of Ctrl+K. */
export function suggestions(found: readonly Destination[]): Html {
  const links = found.map(({ href, label, about, icon: name, isEntered }) => {
    const note = about === null ? '' : html` <span class="quiet">${about}</span>`
    return html`<a href="${href}">${icon(name)}<span class="wrap">${isEntered ? isolated(label) : label}${note}</span></a>`
  })
  return html`${links}`
}

const nothing: Html = emptyState(
  'Nothing has all of these words.',
  html`<a class="button plain" href="/app/go">All pages and actions</a>`,
)
