import Type from 'typebox'
import { type Cell, type Html, html } from './html.ts'

/** The top of a page. */
export type PageHead = {
  /** The heading; the only one of its rank on the page. */
  title: Cell
  /** True for a heading that is a URL or an id, which is set smaller. */
  isAddress?: boolean
  /** The way back to what contains the page. */
  trail?: { href: string; label: Cell }
  /** One sentence below the heading. */
  lead?: Cell
  /** Buttons and links at the right. */
  actions?: Html
}

/** The heading of a page with what can be done there at its right. */
export function pageHead({ title, isAddress = false, trail, lead, actions }: PageHead): Html {
  const heading = html`<h1 class="${isAddress ? 'wrap address' : 'wrap'}">${title}</h1>`
  return html`<header class="head">
        ${trail === undefined ? '' : html`<p class="trail"><a href="${trail.href}">${trail.label}</a></p>`}
        ${actions === undefined ? heading : html`<div class="headed">${heading}<div class="row">${actions}</div></div>`}
        ${lead === undefined ? '' : html`<p class="quiet">${lead}</p>`}
      </header>`
}

/** The colour of a badge; none for a state that is neither good nor bad. */
export type BadgeMood = 'good' | 'warning' | 'bad' | 'plainly'

/** One or two words about the state of something. */
export function badge(label: Cell, mood?: BadgeMood): Html {
  return html`<span class="${mood === undefined ? 'badge' : `badge ${mood}`}">${label}</span>`
}

/** Shown instead of an empty list. @param next what to do about it: a link or a button */
export function emptyState(text: Cell, next?: Html): Html {
  return html`<div class="empty"><p>${text}</p>${next ?? ''}</div>`
}

/**
 * The filters of a list. They apply at once; without scripts there is a button.
 * @param action path of the list
 * @param fields inputs and selects with an accessible name
 * @param isFiltered true if filters are in use: then a link removes them
 */
export function filterBar(action: string, fields: Html, isFiltered: boolean): Html {
  return html`<form class="inline filter" method="get" action="${action}">
          ${fields}
          <button class="button plain slim go">Filter</button>
          ${isFiltered ? html`<a class="clear" href="${action}">Clear filters</a>` : ''}
        </form>`
}

/** A search field as the first field of a filter bar; the key `/` moves there. */
export function searchField(label: string, value: string, maxLength = 320): Html {
  return html`<input type="search" name="search" value="${value}" maxlength="${maxLength}" placeholder="${label}" aria-label="${label}" data-search>`
}

/** A change that cannot be undone: what it does, shown before it can be done. */
export type Confirmation = {
  /** The word that opens it, and its accessible name where the word alone is not clear. */
  label: Cell
  name?: string
  action: string
  /** Hidden inputs and what has to be typed or ticked. */
  fields: Html
  /** The button that does it. */
  button: string
}

/** A form that opens at a word and has to be confirmed; it works without scripts. */
export function confirmation({ label, name, action, fields, button }: Confirmation): Html {
  const named = name === undefined ? '' : html` aria-label="${name}"`
  const now = name === undefined ? '' : html` aria-label="${name} now"`
  return html`<details class="confirm">
              <summary${named}>${label}</summary>
              <form class="form" method="post" action="${action}">
                ${fields}
                <button class="button danger slim"${now}>${button}</button>
              </form>
            </details>`
}

/** The field of `confirmBox`, for the schemas of forms. */
export const confirmedField = { confirm: Type.Literal('yes') }

/** The box that a confirmation needs. */
export function confirmBox(text: Cell): Html {
  return html`<label class="box"><input type="checkbox" name="confirm" value="yes" required> <span>${text}</span></label>`
}

type Link = { href: string; label: Cell; count?: number }

/** Views of one thing, each with its own address. @param current address of the open one */
export function tabs(label: string, items: readonly Link[], current: string): Html {
  return html`<nav class="tabs" aria-label="${label}">${linksOf(items, current, 'page')}</nav>`
}

/** Forms of one part of a page, such as periods of its charts. @param current address of the shown one */
export function segments(label: string, items: readonly Link[], current: string): Html {
  return html`<nav class="segments" aria-label="${label}">${linksOf(items, current, 'true')}</nav>`
}

function linksOf(items: readonly Link[], current: string, mark: 'page' | 'true'): Html[] {
  return items.map(
    ({ href, label, count }) =>
      html`<a href="${href}"${href === current ? html` aria-current="${mark}"` : ''}>${label}${count === undefined ? '' : html` <span class="count">${count}</span>`}</a>`,
  )
}

/**
 * A panel at the side of the page and the button that opens it. The browser opens and closes it (also
 * with Escape), so it needs no script.
 * @param id unique on the page
 */
export function sidePanel(id: string, opener: string, title: Cell, content: Html): Html {
  return html`<button class="button plain slim" popovertarget="${id}">${opener}</button>
          <aside class="panel" id="${id}" popover aria-labelledby="${id}-title">
            <div class="headed"><h2 id="${id}-title">${title}</h2><button class="button plain slim" popovertarget="${id}" popovertargetaction="hide">Close</button></div>
            ${content}
          </aside>`
}

/** What was just done, in a corner of the page. With scripts it can be dismissed. */
export function toast(text: Cell): Html {
  return html`<div class="toast" role="status"><p>${text}</p><button type="button" class="button plain slim" data-dismiss hidden>Dismiss</button></div>`
}

/** Progress of a long-running job, as its page shows it and its event stream sends it. */
export type Progress = { value: number; max: number; words: string; isLast: boolean }

/**
 * A progress bar. The page's script updates it from server-sent events.
 * @param events path of the event stream
 */
export function progressBar({ value, max, words, isLast }: Progress, events: string): Html {
  return html`<div class="progress"${isLast ? '' : html` data-follow="${events}"`}>
          <progress aria-labelledby="progress" max="${max}" value="${value}"></progress>
          <p role="status">${words}</p>
        </div>`
}

/** Without scripts the page reloads. Undefined once the job is done. */
export function progressHead({ isLast }: Progress): Html | undefined {
  return isLast ? undefined : html`<noscript><meta http-equiv="refresh" content="2"></noscript>`
}
