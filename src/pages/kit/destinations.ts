import { type Permission, permissionsOf } from '#src/access/roles.ts'
import { uuidForm } from '#src/http/schemas.ts'
import type { AppPage } from '#src/resources/define-app.ts'
import type { Resource } from '#src/resources/kit/define.ts'
import { creationOf, pagePathOf, wordOf } from '#src/resources/kit/names.ts'
import { app, resources } from '#src/resources/running-app.ts'
import type { IconName } from './icon.ts'

type Need = Permission | 'operator' | 'tenant'

type Action = { readonly href: string; readonly label: string; readonly needs?: Need }

/** Objects with pages: the path before their id, and the form of their ids. */
type Objects = { readonly label: string; readonly path: string; readonly id: RegExp }

/** A page of the navigation, and where it leads on: its forms, and the pages of objects. */
type Entry = Action & {
  readonly icon: IconName
  readonly actions?: readonly Action[]
  readonly objects?: readonly Objects[]
}

/** The viewer's rights in a tenant and in the installation. */
type Rights = { readonly role: string | null; readonly operator: boolean }

const number = /^[1-9][0-9]{0,15}$/
const eventId = /^msg_[\w-]{1,64}$/
const billingEventId = /^evt_[\w-]{1,250}$/

/** The entry of a page that the app has written. */
function ownEntryOf({ href, label, icon, object }: AppPage): Entry {
  const objects = object === undefined ? [] : [{ label: object, path: href, id: number }]
  return { href, label, icon, objects }
}

/** The entry of a declared resource with pages. */
function entryOf(resource: Resource): Entry[] {
  const { scope, page, actions } = resource
  if (page === null) return []
  const href = pagePathOf(resource)
  const needs = actions.read?.permission ?? (scope === 'owner' ? null : 'tenant')
  const word = wordOf(resource)
  return [
    {
      ...{ href, label: page.label, icon: page.icon ?? 'list' },
      ...(needs !== null && { needs }),
      actions: actions.create === undefined ? [] : [formFor(resource, actions.create)],
      objects: [{ label: word[0]?.toUpperCase() + word.slice(1), path: href, id: number }],
    },
  ]
}

function formFor(resource: Resource, { permission }: { permission: Permission | null }): Action {
  const { heading } = creationOf(resource)
  const href = `${pagePathOf(resource)}/new`
  return { href, label: heading, ...(permission !== null && { needs: permission }) }
}

/** The pages by groups; a group without a page for the viewer has no heading. */
const groups: readonly { readonly label: string | null; readonly entries: readonly Entry[] }[] = [
  {
    label: null,
    entries: [
      { href: '/', label: 'Home', icon: 'home' },
      ...(app.pages ?? []).map(ownEntryOf),
      ...resources.flatMap(entryOf),
      {
        ...{ href: '/app/invoices', label: 'Invoices', icon: 'invoice', needs: 'tenant' },
        objects: [{ label: 'Invoice', path: '/app/invoices', id: number }],
      },
    ],
  },
  {
    label: 'Tenant',
    entries: [
      {
        ...{ href: '/app/tenant', label: 'Members', icon: 'people', needs: 'user:manage' },
        actions: [{ href: '/app/tenant/invitations/new', label: 'Invite a member' }],
      },
      {
        ...{ href: '/app/teams', label: 'Teams', icon: 'folder', needs: 'user:manage' },
        actions: [{ href: '/app/teams/new', label: 'Create a team' }],
      },
      {
        ...{ href: '/app/webhooks', label: 'Webhooks', icon: 'webhook', needs: 'user:manage' },
        actions: [{ href: '/app/webhooks/new', label: 'Add an endpoint' }],
        objects: [
          { label: 'Endpoint', path: '/app/webhooks', id: uuidForm },
          { label: 'Delivery', path: '/app/deliveries', id: uuidForm },
        ],
      },
      {
        ...{ href: '/app/events', label: 'Events', icon: 'stack', needs: 'user:manage' },
        actions: [{ href: '/app/event-types', label: 'Event types' }],
        objects: [{ label: 'Event', path: '/app/events', id: eventId }],
      },
      {
        ...{ href: '/app/service-tokens', label: 'Service tokens', icon: 'key' },
        needs: 'user:manage',
        actions: [{ href: '/app/service-tokens/new', label: 'Create a service token' }],
      },
      { href: '/app/audit', label: 'Audit log', icon: 'clock', needs: 'user:manage' },
    ],
  },
  {
    label: 'Operator',
    entries: [
      { href: '/app/operations', label: 'Operations', icon: 'pulse', needs: 'operator' },
      {
        ...{ href: '/app/billing', label: 'Billing events', icon: 'card', needs: 'operator' },
        actions: [
          { href: '/app/billing/customers/new', label: 'Link a customer' },
          { href: '/app/billing/unlinked', label: 'Unlinked customers' },
        ],
        objects: [{ label: 'Billing event', path: '/app/billing', id: billingEventId }],
      },
      {
        ...{ href: '/app/app-tokens', label: 'App tokens', icon: 'key', needs: 'operator' },
        actions: [{ href: '/app/app-tokens/new', label: 'Create an app token' }],
      },
    ],
  },
  {
    label: 'You',
    entries: [
      {
        ...{ href: '/app/account', label: 'Account', icon: 'person' },
        actions: [
          { href: '/app/account/tokens/new', label: 'Create an API token', needs: 'tenant' },
          { href: '/app/account/tenants/new', label: 'Create a tenant' },
        ],
      },
      { href: '/app/access', label: 'Permissions', icon: 'key' },
    ],
  },
]
const entries = groups.flatMap((group) => group.entries)

/** The groups with the pages that the viewer may see; without the empty ones. */
export function visibleGroups(viewer: Rights) {
  return groups
    .map(({ label, entries }) => ({ label, entries: entries.filter((one) => may(viewer, one)) }))
    .filter(({ entries }) => entries.length > 0)
}

function may({ role, operator }: Rights, { needs }: Action): boolean {
  if (needs === undefined) return true
  if (needs === 'operator') return operator
  if (needs === 'tenant') return role !== null
  return permissionsOf(role).some((permission) => permission === needs)
}

/** The label of a page of the navigation; null for any other. */
export function labelOf(path: string): string | null {
  return entries.find(({ href }) => href === path)?.label ?? null
}

/**
 * The section to show after a change of tenant: the same, if it exists there for this role. It is
 * never the page of an object, which belongs to the tenant that was left.
 */
export function sectionFor(path: string, viewer: Rights): string {
  const section = entries.find(({ href }) => href === path)
  return section !== undefined && may(viewer, section) ? section.href : '/'
}

/** The navigation entry that a path is below; null for an entry itself. */
export function entryAbove(path: string): { href: string; label: string } | null {
  return entries.find(({ href }) => href !== '/' && path.startsWith(`${href}/`)) ?? null
}

/** A link of the page “Go to”. `about` names the page that an action or an object belongs to. */
export type Destination = {
  href: string
  label: string
  about: string | null
  icon: IconName
  /** The label is what a person has entered. */
  isEntered?: true
}

/** The actions of the pages that the viewer may see. */
export function actionsFor(viewer: Rights): Destination[] {
  return visibleGroups(viewer)
    .flatMap(({ entries }) => entries)
    .flatMap(({ label: about, icon, actions = [] }) =>
      actions
        .filter((action) => may(viewer, action))
        .map(({ href, label }) => ({ href, label, about, icon })),
    )
}

/** An object that may not exist. `path` is that before its id. */
export type FoundObject = Destination & { readonly path: string; readonly id: string }

/** The objects of the pages that the viewer may see which can have an id of the search. */
export function objectsFor(viewer: Rights, search: string): FoundObject[] {
  const words = wordsOf(search)
  return visibleGroups(viewer)
    .flatMap(({ entries }) => entries)
    .flatMap(({ label: about, icon, objects = [] }) =>
      objects.flatMap(({ label, path, id: form }) => {
        const id = words.find((word) => form.test(word))
        const href = `${path}/${id}`
        return id === undefined ? [] : [{ href, label: `${label} ${id}`, about, icon, path, id }]
      }),
    )
    .filter(({ label, about }) => hasAll(words, `${label} ${about}`))
}

function wordsOf(search: string): string[] {
  return search.split(/\s+/).filter(Boolean)
}

function hasAll(words: readonly string[], text: string): boolean {
  return words.every((word) => text.toLowerCase().includes(word.toLowerCase()))
}

/**
 * Where the viewer can go whose text has every word of the search; everything for an empty one. A word
 * that has the form of an id leads to the objects that can have this id. Whether they exist is not
 * asked: their pages answer that, and answer the same for missing and foreign ones.
 */
export function destinationsFor(viewer: Rights, search: string): Destination[] {
  const words = wordsOf(search)
  const seen = visibleGroups(viewer).flatMap(({ entries }) => entries)
  const pages = seen.map(({ href, label, icon }) => ({ href, label, about: null, icon }))
  const named = [...pages, ...actionsFor(viewer)].filter(({ label, about }) =>
    hasAll(words, `${label} ${about ?? ''}`),
  )
  const objects = objectsFor(viewer, search).map(({ path: _, id: _id, ...one }) => one)
  const found = [...objects, ...named]
  return found.toSorted(
    (one, other) => Number(hasAll(words, other.label)) - Number(hasAll(words, one.label)),
  )
}
