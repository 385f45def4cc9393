import { pageHead } from './components.ts'
import { type Cell, type Html, html } from './html.ts'
import { layout, type Page, type Viewer } from './layout.ts'

export type FormPageView = {
  readonly viewer: Viewer
  /** The list of what the form makes, where its page leads back to. */
  readonly list: { readonly href: string; readonly label: string }
  /** The page of the navigation that it belongs to, if that is not the list. */
  readonly current?: string
  readonly heading: string
  readonly lead?: Cell
  /** The form, or why there is none. */
  readonly content: Html
}

/** The page of the form that makes a new row of a list. */
export function formPage({ viewer, list, current, heading, content, ...head }: FormPageView): Page {
  return layout(
    heading,
    html`${pageHead({ trail: list, title: heading, ...head })}
      <section class="card" aria-label="${heading}">
        ${content}
      </section>`,
    { current: current ?? list.href, ...viewer },
  )
}
