import Type, { type TObject, type TSchema } from 'typebox'
import { type FormDraft, senderField } from '#src/http/form-draft.ts'
import { OptionalLine, Uuid } from '#src/http/schemas.ts'
import { submissionField } from './form-submission.ts'
import { type Cell, type Html, html, isolated } from './html.ts'
import { formToken, type Viewer } from './layout.ts'

/** The limits of a field; without `minLength` it may be empty. */
type Limits = { readonly maxLength?: number; readonly minLength?: number }

/** How a field looks, beside its schema and its label. */
type Look = {
  /** What is accepted, in a sentence: shown beside the field if something else was entered. */
  readonly rule?: string
  /** What it is for, in a sentence: always shown. */
  readonly hint?: string
  /** It must be filled in, also if its schema does not say so by `minLength`. */
  readonly required?: true
  /** Further attributes of the input. */
  readonly attributes?: Readonly<Record<string, string | number>>
  /** Labels of a choice by value. */
  readonly options?: Readonly<Record<string, string>>
}

/** A field of a form: its schema also gives the limits of the input. Hidden fields have no label. */
export type Field<Schema extends TSchema = TSchema> = Look & {
  readonly kind: 'line' | 'area' | 'choice' | 'boxes' | 'box' | 'hidden' | 'version' | 'submission'
  readonly schema: Schema & Limits
  readonly label?: Cell
}

type Fields = Readonly<Record<string, Field>>

/** The fields of a form in the order of the page, and the schema of what it sends. */
export type Form<F extends Fields> = {
  readonly fields: F
  readonly schema: TObject<{ [Name in keyof F]: F[Name]['schema'] }>
}

/** Describes a form by its fields. */
export function formOf<const F extends Fields>(fields: F): Form<F> {
  const schemas = Object.entries(fields).map(([name, { schema }]) => [name, schema])
  const properties = Object.fromEntries(schemas) as { [Name in keyof F]: F[Name]['schema'] }
  return { fields, schema: Type.Object(properties, { additionalProperties: false }) }
}

/** An input of one line. */
export function line<S extends TSchema>(schema: S, label: Cell, look: Look = {}): Field<S> {
  return { kind: 'line', schema, label, ...look }
}

/** An input of several lines. */
export function area<S extends TSchema>(schema: S, label: Cell, look: Look = {}): Field<S> {
  return { kind: 'area', schema, label, ...look }
}

/** A choice of one value; without `options` they are given when the form is rendered. */
export function choice<S extends TSchema>(schema: S, label: Cell, look: Look = {}): Field<S> {
  return { kind: 'choice', schema, label, ...look }
}

/** Boxes to tick. What they send has the schema `ticked`; `chosen` reads it. */
export function boxes<S extends TSchema>(schema: S, label: Cell, look: Look = {}): Field<S> {
  return { kind: 'boxes', schema, label, ...look }
}

/** One or more of the values: a form sends one ticked box as a string, several as an array. */
export function ticked<const Value extends string>(values: readonly Value[]) {
  const one = Type.Enum([...values])
  return Type.Union([one, Type.Array(one, { maxItems: values.length })])
}

/** The values of the ticked boxes, each once. */
export function chosen<Value extends string>(sent: Value | Value[] | undefined): Value[] {
  return sent === undefined ? [] : [...new Set([sent].flat() as Value[])]
}

/** One box. @param value what it sends when it is ticked */
export function box<const Value extends string>(value: Value, label: Cell) {
  return { kind: 'box', schema: Type.Optional(Type.Literal(value)), label } as const
}

/** Tells several forms of a page with one action from each other. */
export function hidden<S extends TSchema>(schema: S): Field<S> {
  return { kind: 'hidden', schema }
}

/** The version of the object that a form was rendered with. */
export const version = {
  kind: 'version',
  schema: Type.Optional(Type.String({ format: 'date-time' })),
} as const

/** The id by which `submitOnce` knows a rendered form. */
export const submission = { kind: 'submission', schema: Uuid } as const

/** The schema of the same line where it may be left empty: browsers send it all the same. */
export function orEmpty({ maxLength = 0 }: TSchema & Limits) {
  return OptionalLine(maxLength)
}

type Entered = string | number | null | undefined | readonly string[]

/** Where a form is rendered, and what is in it before anything is entered. */
export type Place<Name extends string> = {
  readonly viewer: Pick<Viewer, 'userId' | 'draft' | 'portal'>
  readonly action: string
  /** On one line, with labels that only screen readers say. */
  readonly inline?: true
  readonly values?: { readonly [Each in Name]?: Entered }
  /** Labels that depend on the page. */
  readonly labels?: { readonly [Each in Name]?: Cell }
  /** Options that depend on the page, as value and label. */
  readonly options?: { readonly [Each in Name]?: readonly (readonly [string, Cell])[] }
  /** The boxes that are offered, by lines. */
  readonly offered?: { readonly [Each in Name]?: readonly (readonly string[])[] }
}

/** `isRefilled`: it shows what was entered before, so nothing should fold it away. */
export type RenderedForm = Html & { readonly isRefilled: boolean }

/**
 * Renders a form. If it was refused before, it shows again what was entered, and beside each refused
 * field why.
 * @param content places the inputs, and adds the button
 */
export function renderForm<F extends Fields>(
  { fields }: Form<F>,
  place: Place<keyof F & string>,
  content: (inputs: { readonly [Name in keyof F]: Html }, isRefilled: boolean) => Html,
): RenderedForm {
  const { viewer, action, inline = false } = place
  const draft = draftFor(fields, place)
  const faults = new Map(draft?.faults)
  const names = Object.keys(fields)
  const focused = names.find((name) => faults.has(name) && isMarked(fields[name]))
  const render = ([name, field]: [string, Field]) => {
    const fault = faults.get(name)
    const control: Control = {
      field,
      name,
      label: place.labels?.[name] ?? field.label ?? '',
      inline,
      values: (draft && sentValues(draft, name, field)) ?? textsOf(place.values?.[name]),
      options: place.options?.[name] ?? Object.entries(field.options ?? {}),
      offered: place.offered?.[name] ?? [],
      fault: fault === undefined ? null : (field.rule ?? sentence(fault)),
      isFocused: name === focused,
    }
    return [name, renderers[field.kind](control)] as const
  }
  const inputs = new Map(Object.entries(fields).map(render))
  const unseen = names.filter((name) => fields[name]?.label === undefined)
  const others = [...faults].filter(([name]) => !isMarked(fields[name]))
  const all = Object.fromEntries(inputs) as { readonly [Name in keyof F]: Html }
  const form = html`<form class="${inline ? 'inline' : 'form'}" method="post" action="${action}">
          <input type="hidden" name="${senderField}" value="${viewer.userId ?? ''}">${formToken(viewer)}${unseen.map((name) => inputs.get(name) ?? html``)}
          ${draft === null ? '' : noticeOf(draft, others)}
          ${content(all, draft !== null)}
        </form>`
  return { ...form, isRefilled: draft !== null }
}

/** Folds a form away until its word is chosen. A form with something to correct is open. */
export function folded(label: Cell, form: RenderedForm, look: 'plain' | 'confirm' = 'plain'): Html {
  return html`<details${look === 'confirm' ? html` class="confirm"` : ''}${form.isRefilled ? html` open` : ''}>
          <summary>${label}</summary>
          ${form}
        </details>`
}

/** The draft if it is of this form. Several forms can have one action; their hidden fields differ. */
function draftFor(fields: Fields, { viewer, action, values }: Place<string>): FormDraft | null {
  const { draft = null } = viewer
  if (draft === null || draft.action !== action.split('#', 1)[0]) return null
  const isSame = Object.entries(fields)
    .filter(([, { kind }]) => kind === 'hidden')
    .every(
      ([name]) => textsOf(values?.[name])[0] === draft.fields.find(([one]) => one === name)?.[1],
    )
  return isSame ? draft : null
}

/** @returns null if the form did not send it */
function sentValues({ fields }: FormDraft, name: string, { kind }: Field): string[] | null {
  const values = fields.filter(([one]) => one === name).map(([, value]) => value)
  return values.length > 0 || kind === 'boxes' || kind === 'box' ? values : null
}

function textsOf(entered: Entered): string[] {
  return [entered ?? ''].flat().map(String)
}

/** True for a field that a fault can stand beside. */
function isMarked(field: Field | undefined): boolean {
  return field?.label !== undefined && field.kind !== 'box'
}

function sentence(detail: string): string {
  const end = detail.endsWith('.') ? '' : '.'
  return `${detail.charAt(0).toUpperCase()}${detail.slice(1)}${end}`
}

function noticeOf({ reason, faults }: FormDraft, others: FormDraft['faults']): Html {
  if (reason !== null) {
    return html`<p class="notice fault" role="alert">${reason} What you entered is shown again.</p>`
  }
  if (faults.length === 0) {
    return html`<p class="notice" role="status">What you entered is shown again. It has not been sent yet.</p>`
  }
  const unplaced = others.map(([name, detail]) => html` ${isolated(name)} ${detail}.`)
  return html`<p class="notice fault" role="alert">Nothing was changed. Correct the fields that are marked, then send the form again.${unplaced}</p>`
}

/** One field as it is rendered. */
type Control = {
  readonly field: Field
  readonly name: string
  readonly label: Cell
  readonly inline: boolean
  readonly values: readonly string[]
  readonly options: readonly (readonly [string, Cell])[]
  readonly offered: readonly (readonly string[])[]
  readonly fault: string | null
  readonly isFocused: boolean
}

const renderers: Readonly<Record<Field['kind'], (control: Control) => Html>> = {
  line(control) {
    const [value = ''] = control.values
    const isSecret = control.field.attributes?.type === 'password'
    return labelled(
      control,
      html`<input${attributesOf(control)}${isSecret ? '' : html` value="${value}"`}>`,
    )
  },
  area(control) {
    const [value = ''] = control.values
    // HTML drops a line break right after the tag: this one, not the first of the value.
    return labelled(control, html`<textarea${attributesOf(control)}>\n${value}</textarea>`)
  },
  choice(control) {
    const options = control.options.map(([value, label]) => {
      const own = value === label ? '' : html` value="${value}"`
      return html`<option${own}${control.values.includes(value) ? html` selected` : ''}>${label}</option>`
    })
    return labelled(control, html`<select${attributesOf(control)}>${options}</select>`)
  },
  boxes({ name, label, values, offered, fault, ...control }) {
    const lines = offered.map((line) => {
      const ticks = line.map((value) => tick(name, value, values, value))
      return html`<div class="boxes">${ticks}</div>`
    })
    const marks = marksOf({ name, fault, ...control })
    return html`<fieldset${marks}><legend>${label}</legend>${lines}${faultOf(name, fault)}</fieldset>`
  },
  box({ name, label, field, values }) {
    return tick(name, Object(Object(field.schema)).const, values, label)
  },
  hidden: hiddenInput,
  version: hiddenInput,
  submission: submissionField,
}

function hiddenInput({ name, values: [value = ''] }: Control): Html {
  return html`<input type="hidden" name="${name}" value="${value}">`
}

function tick(name: string, value: string, values: readonly string[], label: Cell): Html {
  const checked = values.includes(value) ? html` checked` : ''
  return html`<label class="box"><input type="checkbox" name="${name}" value="${value}"${checked}> ${label}</label>`
}

function labelled({ field, label, inline, name, fault }: Control, input: Html): Html {
  const { hint } = field
  const words = hint === undefined ? '' : html`<span class="quiet">${hint}</span>`
  const shown = html`${input}${words}${faultOf(name, fault)}`
  return inline ? shown : html`<label>${label} ${shown}</label>`
}

function attributesOf(control: Control): Html {
  const { field, name, label, inline } = control
  const { schema, kind, attributes = {}, rule } = field
  const { maxLength, minLength = 0 } = schema
  const isRequired = field.required === true || minLength > 0
  const all = {
    name,
    ...(maxLength !== undefined && kind !== 'choice' && { maxlength: maxLength }),
    ...(kind === 'line' && { autocomplete: 'off' }),
    ...(rule !== undefined && 'pattern' in attributes && { title: rule }),
    ...attributes,
  }
  const pairs = Object.entries(all).map(([key, value]) => html` ${key}="${value}"`)
  const spoken = inline ? html` aria-label="${label}"` : ''
  return html`${pairs}${spoken}${isRequired ? html` required` : ''}${marksOf(control)}`
}

function marksOf({ name, fault, isFocused }: Pick<Control, 'name' | 'fault' | 'isFocused'>): Html {
  if (fault === null) return html``
  return html` aria-invalid="true" aria-describedby="fault-${name}"${isFocused ? html` autofocus` : ''}`
}

function faultOf(name: string, fault: string | null): Html {
  return fault === null ? html`` : html`<span class="fault" id="fault-${name}">${fault}</span>`
}
