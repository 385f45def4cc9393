import Type from 'typebox'
import { maxShownTenants, type OwnTenant } from '#src/auth/sessions/enter.ts'
import type { Brand } from '#src/config/brand.ts'
import type { FormDraft } from '#src/http/form-draft.ts'
import type { Theme } from '#src/http/headers/portal-cookie.ts'
import { assetPath, brandPaths } from './asset-path.ts'
import { avatar, emblem } from './avatar.ts'
import { toast } from './components.ts'
import { actionsFor, labelOf, visibleGroups } from './destinations.ts'
import { type Html, html, isolated, trusted } from './html.ts'
import { type IconName, icon } from './icon.ts'

/** A page before it is rendered. */
export type Page = {
  readonly title: string
  /** Its content, with one heading. */
  readonly main: Html
  /** The current page and its viewer, or links of its own; without it there is no navigation. */
  readonly open: Navigation | UnknownViewer | OwnLinks | undefined
  /** Further elements for `<head>`. */
  readonly head: Html | undefined
}

/** A page of this title and content. */
export function layout(title: string, main: Html, open?: Page['open'], head?: Html): Page {
  return { title, main, open, head }
}

/** The frame of every page: the navigation beside the content, above it on a phone. */
export function renderPage({ title, main, open, head }: Page, brand: Brand): string {
  const { name, supportUrl } = brand
  const { logo, style } = brandPaths(brand)
  const portal = open !== undefined && 'portal' in open ? (open.portal ?? null) : null
  const side = open === undefined ? html`` : sideOf(open, supportUrl)
  const isBeside = open !== undefined && !('mayBeSignedIn' in open)
  return html`<!doctype html>
<html lang="en"${portal?.theme ? html` data-theme="${portal.theme}"` : ''}>
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${title} · ${name}</title>
    <link rel="icon" href="${logo ?? '/assets/icon.svg'}">
    <link rel="stylesheet" href="${assetPath('gatehouse.css')}">${
      style === null
        ? ''
        : html`
    <link rel="stylesheet" href="${style}">`
    }
    <script src="${assetPath('gatehouse.js')}" defer blocking="render"></script>
    ${head ?? ''}
  </head>
  <body${isBeside ? html` class="beside"` : ''}>
    <a class="skip" href="#main">Skip to content</a>
    <header class="side">
      <a class="brand" href="${portal === null ? '/' : '/portal/webhooks'}">${logo === null ? icon('gate') : html`<img src="${logo}" width="24" height="24" alt="">`}${name}</a>
      ${side}
    </header>
    <div class="view">
      <main id="main">
        ${withParts(main)}
      </main>
      ${portal === null ? foot(brand) : portalFoot(brand)}
    </div>
  </body>
</html>
`.markup
}

/** Fewer parts are found by scrolling. */
const fewestParts = 3

/** Adds links to the parts of a page that has many, below its heading; shown on phones only. */
function withParts(main: Html): Html {
  const { markup } = main
  const links = [...markup.matchAll(/<h2 id="([\w-]+)">([^<]+)<\/h2>/g)].map(
    ([, id = '', label = '']) => html`<li><a href="#${id}">${trusted(label)}</a></li>`,
  )
  const end = markup.indexOf('</header>')
  if (links.length < fewestParts || end === -1) return main
  const below = end + '</header>'.length
  const parts = html`
      <nav class="parts" aria-label="On this page"><details><summary>On this page</summary><ul>${links}</ul></details></nav>`
  return trusted(markup.slice(0, below) + parts.markup + markup.slice(below))
}

function sideOf(open: NonNullable<Page['open']>, supportUrl: string | null): Html {
  if ('side' in open) return open.side
  if (open.portal) return portalNavigation(open.portal, 'current' in open ? open.current : '')
  if ('mayBeSignedIn' in open) return publicNavigation(open, supportUrl)
  return navigation(open)
}

function foot({ supportUrl, termsUrl }: Brand): Html {
  return html`<footer class="foot"><a href="/docs">API reference</a>${linkTo(supportUrl, 'Support')}${linkTo(termsUrl, 'Terms')}</footer>`
}

/** Other pages may not be framed, so they open beside the portal. */
function portalFoot({ supportUrl, termsUrl }: Brand): Html {
  const aside = html` target="_blank"`
  return html`<footer class="foot">${linkTo(supportUrl, 'Support', aside)}${linkTo(termsUrl, 'Terms', aside)}</footer>`
}

function linkTo(url: string | null, label: string, attributes = html``): Html {
  return url === null ? html`` : html`<a href="${url}"${attributes}>${label}</a>`
}

/** The person a page is rendered for. Actions they may not perform are not shown. */
export type Viewer = {
  /** Null for a service, which sees error pages only. */
  readonly userId: number | null
  /** What the person entered into a form of this page that was refused. */
  readonly draft?: FormDraft | null
  readonly email: string | null
  readonly name?: string | null
  /** The active tenant, and all tenants of the person. */
  readonly tenantId?: string | null
  readonly tenants?: readonly OwnTenant[]
  readonly role: string | null
  /** True for an operator (setting OPERATORS). */
  readonly operator: boolean
  /** For a page in the portal. */
  readonly portal?: PortalFrame | null
}

/**
 * What is different on a page that the app's customers see in its portal: they have no account, and nothing
 * but the webhooks of their tenant.
 */
export type PortalFrame = {
  /** The theme that the app asked for; null follows the browser. */
  readonly theme: Theme | null
  /** In every form: the cookie is sent from inside frames of other sites. */
  readonly formToken: string
  /** Null outside of a session. */
  readonly tenantName: string | null
}

/** The field of every form in the portal. */
export const formTokenField = 'token'

/** What every form of a page that is also in the portal contains. */
export function formToken({ portal }: Pick<Viewer, 'portal'>): Html {
  if (!portal) return html``
  return html`<input type="hidden" name="${formTokenField}" value="${portal.formToken}">`
}

/** Where the viewer finds the pages of the webhooks. */
export function baseOf({ portal }: Pick<Viewer, 'portal'>): '/app' | '/portal' {
  return portal ? '/portal' : '/app'
}

/** The current page and its viewer. */
export type Navigation = Viewer & { readonly current: string }

/** Somebody who is not known, on a page that is answered before anyone has entered. */
export type UnknownViewer = {
  /** The browser has sent a session cookie; whether the session is live was not asked. */
  readonly mayBeSignedIn: boolean
  readonly portal?: PortalFrame
}

/** A page with links of its own in place of those of the program, such as the documentation. */
export type OwnLinks = { readonly side: Html }

/** The links that need no permission. */
function publicNavigation({ mayBeSignedIn }: UnknownViewer, supportUrl: string | null): Html {
  const support =
    supportUrl === null ? '' : html`<a href="${supportUrl}">${icon('people')}Support</a>`
  return html`<nav class="pages" aria-label="Pages"><a href="/">${icon('home')}Home</a><a href="/docs">${icon('document')}Search the API reference</a>${support}</nav>
      <div class="self"><a class="button plain slim" href="${mayBeSignedIn ? '/app/account' : '/auth/login'}">${mayBeSignedIn ? 'Your account' : 'Sign in'}</a></div>`
}

type NavigationLink = { href: string; label: string; icon: IconName }

const portalEntries: readonly NavigationLink[] = [
  { href: '/portal/webhooks', label: 'Webhooks', icon: 'webhook' },
  { href: '/portal/events', label: 'Events', icon: 'stack' },
  { href: '/portal/event-types', label: 'Event types', icon: 'document' },
]

/** The pages of the portal, and whose they are. @param current as in the other pages, below `/app` */
function portalNavigation({ tenantName }: PortalFrame, current: string): Html {
  if (tenantName === null) return html``
  const page = current.replace(/^\/app\b/, '/portal')
  const label = portalEntries.find(({ href }) => href === page)?.label ?? 'Menu'
  const links = portalEntries.map((entry) => linkOf(entry, page))
  return drawer(
    label,
    html`<p class="tenant"><span class="name">${isolated(tenantName)}</span></p><nav class="pages" aria-label="Pages">${links}</nav>`,
  )
}

/** The tenant, the links between the pages with the current one marked, and the viewer with a way to leave. */
function navigation(navigated: Navigation): Html {
  const { current, email, name, ...viewer } = navigated
  const links = visibleGroups(viewer).map(({ label, entries }) => {
    const shown = entries.map((entry) => linkOf(entry, current))
    return html`${label === null ? '' : html`<span class="group">${label}</span>`}${shown}`
  })
  const shown = name ?? email ?? 'No email address'
  return drawer(
    labelOf(current) ?? 'Menu',
    html`${switcher(navigated)}<a class="go" href="/app/go" aria-keyshortcuts="Control+K Meta+K"${markOf('/app/go', current)}>${icon('search')}Go to…<kbd aria-hidden="true">Ctrl K</kbd></a><nav class="pages" aria-label="Pages">${links}</nav>${actionTemplate(viewer)}
      <div class="self">
        <span class="who">${avatar(shown)}<span class="name">${isolated(shown)}</span></span>
        <form method="post" action="/auth/logout"><button class="button plain slim">Sign out</button></form>
      </div>`,
  )
}

/** The actions that the dialog of Ctrl+K offers beside the pages. */
function actionTemplate(viewer: Parameters<typeof actionsFor>[0]): Html {
  const links = actionsFor(viewer).map((action) => linkOf(action, ''))
  return html`<template id="actions">${links}</template>`
}

function linkOf({ href, label, icon: name }: NavigationLink, current: string): Html {
  return html`<a href="${href}"${markOf(href, current)}>${icon(name)}${label}</a>`
}

function markOf(href: string, current: string): Html {
  return href === current ? html` aria-current="page"` : html``
}

/**
 * The links beside the page: on a phone behind a button that names the current page. The browser opens
 * and closes them, so they need no script.
 */
export function drawer(label: string, content: Html): Html {
  return html`<button class="button plain slim opener" type="button" popovertarget="drawer">${icon('list')}${label}<span class="unseen">, open the menu</span></button>
      <div class="drawer" id="drawer" popover>${content}</div>`
}

/** The active tenant; for a member of several a menu of all. It needs no script. */
function switcher({ current, tenantId, tenants = [] }: Navigation): Html {
  const active = tenants.find(({ id }) => id === tenantId)
  if (tenants.length < 2) {
    return active === undefined
      ? html``
      : html`<p class="tenant">${emblem(active)}<span class="name">${isolated(active.name)}</span></p>`
  }
  const choices = tenants.slice(0, maxShownTenants).map(({ id, name, role }) => {
    const label = html`${emblem({ id, name })}<span class="wrap name">${isolated(name)}</span> <span class="quiet">${role}</span>`
    return id === tenantId
      ? html`<li class="choice" aria-current="true">${label}</li>`
      : html`<li><button class="choice" name="tenantId" value="${id}">${label}</button></li>`
  })
  const more =
    tenants.length > maxShownTenants
      ? html`<a href="/app/account#tenants">All your tenants</a>`
      : html`<a href="/app/account/tenants/new">Create a tenant</a>`
  return html`<button class="tenant" type="button" popovertarget="tenants-menu">${active === undefined ? '' : emblem(active)}<span class="name">${active === undefined ? 'No tenant' : isolated(active.name)}</span>${icon('chevrons')}<span class="unseen">, switch tenant</span></button>
      <div class="menu" id="tenants-menu" popover>
        <form method="post" action="/app/account/tenants/switch">
          <input type="hidden" name="section" value="${current}">
          <ul aria-label="Your tenants">${choices}</ul>
        </form>${more}
      </div>`
}

/** The query parameter of a page that says what was just done. */
export const doneQuery = { done: Type.Optional(Type.String({ maxLength: 64 })) }

/** The notice for `?done=…`; empty for an unknown key. */
export function noticeText(
  notices: Readonly<Record<string, string>>,
  done: string | undefined,
): Html {
  const known = Object.entries(notices).find(([name]) => name === done)
  return known === undefined ? html`` : toast(known[1])
}

/** Why an action was not carried out. */
export function faultText(fault: string | null): Html {
  return fault === null ? html`` : html`<p class="notice fault" role="alert">${fault}</p>`
}
