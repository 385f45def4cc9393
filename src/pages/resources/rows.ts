import Type from 'typebox'
import { permissionsOf } from '#src/access/roles.ts'
import { confirmation, confirmBox, pageHead } from '#src/pages/kit/components.ts'
import {
  area,
  choice,
  type Field as FormField,
  folded,
  formOf,
  line,
  renderForm,
  submission,
  version,
} from '#src/pages/kit/form.ts'
import { type Cell, dateText, type Html, html, isolated, timeText } from '#src/pages/kit/html.ts'
import { layout, noticeText, type Page, type Viewer } from '#src/pages/kit/layout.ts'
import type { Action, Resource } from '#src/resources/kit/define.ts'
import type { OnPage } from '#src/resources/kit/fields/control.ts'
import type { Asking, Field } from '#src/resources/kit/fields/field.ts'
import { expansionOf } from '#src/resources/kit/fields/keys/reference.ts'
import { pagePathOf, wordOf } from '#src/resources/kit/names.ts'
import { resources } from '#src/resources/running-app.ts'
import { isolatedText } from '#src/runtime/text.ts'
import { capital, inWords } from '#src/runtime/words.ts'

/** A declared resource with pages. */
export type Paged = Pick<
  Resource,
  'name' | 'plural' | 'scope' | 'fields' | 'filters' | 'sort' | 'search' | 'actions' | 'own'
> & { readonly page: NonNullable<Resource['page']> }

/** A row as the API returns it. */
export type ShownRow = Readonly<Record<string, unknown>>

export type Notice = 'created' | 'changed' | 'deleted'

/** The form for a new row; null if nobody creates one. */
export function createFormOf(resource: Paged) {
  const { create } = resource.actions
  if (create === undefined) return null
  return formOf<Record<string, FormField>>({ submission, ...inputsOf(resource, create) })
}

export function changeFormOf(resource: Paged) {
  const { update } = resource.actions
  return update === undefined ? null : formOf({ version, ...inputsOf(resource, update) })
}

/** The form of an action of the app's own. */
export function ownFormOf(resource: Paged, name: string) {
  const action = resource.own[name]
  return formOf<Record<string, FormField>>({
    submission,
    ...(action !== undefined && inputsOf(resource, action)),
  })
}

function inputsOf(resource: Paged, { accepts = [] }: Action): Record<string, FormField> {
  const inputs = accepts.map((key) => [key, inputOf(resource, key)])
  return Object.fromEntries(inputs)
}

function inputOf(resource: Paged, key: string): FormField {
  const { name, fields } = resource
  const { control = null, isNullable = false, initial, permission, description } = fields[key] ?? {}
  if (control === null) throw new Error(`The resource ${name} has no input for ${key}.`)
  // A choice of words shows the value that a new row gets of itself.
  const mayBeEmpty = isNullable || (initial !== undefined && control.options === undefined)
  const label = `${labelOf(resource, key)}${mayBeEmpty ? ' (optional)' : ''}`
  const { rule, attributes, options } = control
  const schema = control.schema(mayBeEmpty)
  // Who lacks the permission gets a form without it.
  const sent = permission === undefined ? schema : Type.Optional(schema)
  return inputs[control.as](sent, label, {
    ...(rule !== undefined && { rule }),
    ...(description !== undefined && { hint: description }),
    ...(attributes !== undefined && { attributes }),
    ...(options !== undefined && {
      options: mayBeEmpty ? { '': 'None', ...options } : options,
    }),
    ...(control.as === 'line' && !mayBeEmpty && { required: true }),
  })
}

const inputs = { line, area, choice } as const

/** The rows and members that a field can name, by their headings. */
export type Choices = Readonly<
  Record<string, readonly { readonly id: number; readonly heading: string }[]>
>

/**
 * The values that a new row gets of itself, of the fields with a choice of words: the form shows what is saved.
 * @returns what the form sends, by field
 */
export function initialTexts(
  { fields, actions }: Pick<Paged, 'fields' | 'actions'>,
  caller: Asking,
  now: Date,
): Record<string, string> {
  const texts = (actions.create?.accepts ?? []).flatMap((key): [string, string][] => {
    const { control = null, initial } = fields[key] ?? {}
    const value = control?.options === undefined ? null : (initial?.(caller, now) ?? null)
    return control === null || value === null ? [] : [[key, control.text(value)]]
  })
  return Object.fromEntries(texts)
}

/** The name of each person or row that a row names, by field. */
export type Names = Readonly<Record<string, string | null>>

export type RowView = {
  readonly viewer: Viewer
  readonly row: ShownRow
  readonly names: Names
  readonly choices: Choices
  /** The actions of the app's own that the viewer may carry out on the row now. */
  readonly open: readonly string[]
  readonly done: string | undefined
  /** The rows that refer to it. */
  readonly below: Html
}

/** One row, with forms to edit and delete it for those who may. */
export function rowPage(resource: Paged, view: RowView): Page {
  const { viewer, row, names, done, below } = view
  const { page, fields } = resource
  const word = wordOf(resource)
  const path = pagePathOf(resource)
  const title = String(row[page.heading] ?? '')
  const by = Object.keys(names)
    .filter((key) => key !== 'userId' && fields[key]?.isPerson && !fields[key]?.onLeave)
    .map((key) => html`, by ${isolated(names[key] ?? nameless(resource, row, key))}`)
  const texts = Object.keys(fields).filter(
    (key) => fields[key]?.control?.as === 'area' && sees(viewer, fields[key]),
  )
  const hidden = [page.heading, ...texts]
  const facts = Object.keys(row).filter(
    (key) =>
      !hidden.includes(key) &&
      fields[key]?.control != null &&
      fields[key]?.control?.offers !== 'folders',
  )
  return layout(
    isolatedText(title),
    html`${pageHead({ trail: { href: path, label: page.label }, title: isolated(title), lead: html`${capital(word)} ${Number(row.id)}${by}, last changed ${timeText(String(row.updatedAt ?? row.createdAt))}` })}
      ${noticeText(noticesOf(resource), done)}
      ${facts.length === 0 ? '' : html`<section class="card" aria-label="Details"><dl class="facts">${facts.map((key) => html`<div><dt>${labelOf(resource, key)}</dt><dd>${valueText(resource, key, row, names)}</dd></div>`)}</dl></section>`}
      ${texts.filter((key) => key !== page.heading).map((key) => html`<section class="card text" aria-label="${labelOf(resource, key)}">${blockText(resource, key, row)}</section>`)}
      ${below}
      ${actionSection(resource, row, view)}`,
    { current: path, ...viewer },
  )
}

/** Whether the role of the viewer may try it; conditions and the token limit are decided later. */
export function may({ role }: Viewer, action: Action | undefined): boolean {
  if (action === undefined) return false
  return action.permission === null || permissionsOf(role).includes(action.permission)
}

/** What the viewer may do with the row, as buttons; empty for nothing. */
type Editing = Pick<RowView, 'viewer' | 'names' | 'choices' | 'open'>

function actionSection(resource: Paged, row: ShownRow, editing: Editing): Html {
  const { viewer } = editing
  const { update, delete: remove } = resource.actions
  const acts = [
    ...editing.open.map((name) => ownForm(resource, row, name, editing)),
    ...(may(viewer, update) ? [editForm(resource, row, editing)] : []),
    ...(may(viewer, remove) ? [deleteForm(resource, Number(row.id))] : []),
  ]
  return acts.length === 0
    ? html``
    : html`<section class="card acts" aria-label="Actions">${acts}</section>`
}

function editForm(resource: Paged, row: ShownRow, { viewer, names, choices }: Editing): Html {
  const { update } = resource.actions
  const form = changeFormOf(resource)
  if (form === null) return html``
  const values = {
    ...Object.fromEntries(
      (update?.accepts ?? []).map((key) => [key, formText(resource, key, row)]),
    ),
    version: String(row.updatedAt),
  }
  const conditions = (update?.unless ?? []).map(({ words }) => words).join('; ')
  const word = wordOf(resource)
  const edit = renderForm(
    form,
    {
      ...{ viewer, action: `${pagePathOf(resource)}/${Number(row.id)}`, values },
      options: optionsOf(resource, choices, row, names),
    },
    (inputs) => html`${placed(resource, update, viewer, inputs)}
            ${conditions === '' ? '' : html`<p class="quiet small">${capital(conditions)}.</p>`}
            <button class="button">Save changes</button>`,
  )
  return folded(`Edit ${word}`, edit)
}

/** A button, or a form for what the action asks. */
function ownForm(
  resource: Paged,
  row: ShownRow,
  name: string,
  { viewer, names, choices }: Editing,
): Html {
  const declared = resource.own[name]
  const accepts = declared?.accepts ?? []
  const label = declared?.button ?? inWords(name)
  const form = renderForm(
    ownFormOf(resource, name),
    {
      ...{ viewer, action: `${pagePathOf(resource)}/${Number(row.id)}/${name}` },
      values: Object.fromEntries(accepts.map((key) => [key, formText(resource, key, row)])),
      options: optionsOf(resource, choices, row, names),
    },
    (inputs) =>
      html`${placed(resource, declared, viewer, inputs)}<button class="button">${label}</button>`,
  )
  return accepts.length === 0 ? form : folded(label, form)
}

function deleteForm(resource: Paged, id: number): Html {
  const word = wordOf(resource)
  return confirmation({
    label: `Delete ${word}`,
    action: `${pagePathOf(resource)}/${id}/delete`,
    fields: confirmBox(`Delete this ${word}. This cannot be undone.`),
    button: `Delete ${word}`,
  })
}

/** The inputs of an action in the order of its fields, without those that the viewer lacks the permission for. */
export function placed(
  { fields }: Paged,
  action: Action | undefined,
  viewer: Viewer,
  inputs: Readonly<Record<string, Html>>,
): Html[] {
  const asked = (action?.accepts ?? []).filter((key) => sees(viewer, fields[key]))
  return asked.map((key) => inputs[key] ?? html``)
}

export function sees({ role }: Viewer, field: Field | undefined): boolean {
  const { permission } = field ?? {}
  return permission === undefined || permissionsOf(role).includes(permission)
}

/** A value as text in a form. */
function formText({ fields }: Paged, key: string, row: ShownRow): string {
  const value = row[key] ?? null
  return value === null ? '' : (fields[key]?.control?.text(value) ?? '')
}

/** A value on a page. */
export function valueText({ fields }: Paged, key: string, row: ShownRow, names: Names = {}): Cell {
  const value = row[key] ?? null
  const target = targetOf(fields[key])
  if (value !== null && target !== undefined) {
    const words = names[key] == null ? String(value) : isolated(names[key])
    return target.page === null
      ? words
      : html`<a href="${pagePathOf(target)}/${Number(value)}">${words}</a>`
  }
  if (value !== null && fields[key]?.onLeave !== undefined) {
    return names[key] == null ? `User ${value}, who has left` : isolated(names[key])
  }
  if (fields[key]?.isPerson && fields[key]?.onLeave === undefined) {
    return names[key] == null ? capital(nameless({ fields }, row, key)) : isolated(names[key])
  }
  const shown = value === null ? null : fields[key]?.onPage?.(value)
  return shown == null ? html`<span class="quiet">None</span>` : cellOf(shown)
}

function targetOf(field: Field | undefined): Resource | undefined {
  return resources.find(({ name }) => name === field?.refersTo?.name)
}

/** The rows to choose from: those that are given, and the one that is chosen. */
export function optionsOf(
  { fields }: Paged,
  choices: Choices,
  row: ShownRow,
  names: Names = {},
): Record<string, [string, Cell][]> {
  const options = Object.entries(choices).map(([key, given]) => {
    const { isNullable = false } = fields[key] ?? {}
    const id = row[key] == null ? null : Number(row[key])
    const isGiven = id === null || given.some((one) => one.id === id)
    const all = isGiven ? given : [{ id, heading: names[key] ?? String(id) }, ...given]
    const none: [string, Cell][] = isNullable ? [['', 'None']] : []
    const shown = all.map((one): [string, Cell] => [String(one.id), isolated(one.heading)])
    return [key, [...none, ...shown]]
  })
  return Object.fromEntries(options)
}

/** The value of a field that has a section of its own. */
function blockText({ fields }: Paged, key: string, row: ShownRow): string {
  const value = row[key] ?? null
  const shown = value === null ? null : fields[key]?.onPage?.(value)
  return shown != null && 'text' in shown ? shown.text : ''
}

function cellOf(shown: OnPage): Cell {
  if ('at' in shown) return timeText(shown.at)
  if ('number' in shown) return shown.number
  if ('on' in shown) return dateText(shown.on)
  if ('words' in shown) return shown.words
  const text = isolated(shown.text)
  return shown.href === undefined
    ? text
    : html`<a href="${shown.href}" rel="noopener nofollow">${text}</a>`
}

/** A person or service without a name, in words. */
function nameless({ fields }: Pick<Paged, 'fields'>, row: ShownRow, key: string): string {
  const service = Object.keys(fields).find((one) => fields[one]?.isService)
  if (service !== undefined && row[service] !== undefined) return 'a former service token'
  return row[key] === null ? 'a former member' : `user ${row[key]}`
}

export function noticesOf(resource: Paged): Readonly<Record<Notice, string>> {
  const word = capital(wordOf(resource))
  return { created: `${word} created.`, changed: 'Saved.', deleted: `${word} deleted.` }
}

/** `Due at` of `dueAt`. */
export function labelOf({ page: { labels = {} }, fields }: Paged, key: string): string {
  const own: Readonly<Record<string, string>> = { updatedAt: 'Last changed', createdAt: 'Created' }
  const { refersTo, isPerson, control } = fields[key] ?? {}
  const isNamed = refersTo !== undefined || isPerson === true || control?.offers === 'folders'
  const name = isNamed ? expansionOf(key) : key
  const words = name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  return labels[key] ?? own[key] ?? inWords(words)
}
