import type { FormDraft } from '#src/http/form-draft.ts'
import { submissionFields } from './form-submission.ts'
import { html } from './html.ts'

/*
 * Works on markup of src/pages/html.ts only: it escapes `<`, `>` and `"` in every text and
 * attribute, so a tag ends at the first `>` and an attribute at the next `"`.
 */

const notice = html`<p class="notice" role="status">What you entered is shown again. It has not been sent yet.</p>`

/**
 * Shows what a person typed in the form that it was typed into.
 * @returns the unchanged markup if the page does not have this form, or it has nothing to fill in
 */
export function fillForm(markup: string, { action, fields }: FormDraft): string {
  const values = valuesByName(fields)
  return markup.replace(/(<form\b[^>]*>)(.*?)(<\/form>)/gs, (form, start, content, end) => {
    const isForm =
      attribute(start, 'action') === asMarkup(action) && start.includes('method="post"')
    if (!isForm || !hasHiddenFields(content, values)) return form
    const filled = fillFields(content, values)
    return filled === content ? form : `${start}${notice.markup}${filled}${end}`
  })
}

/** Values of each field as they are written in markup. */
type Values = ReadonlyMap<string, readonly string[]>

function valuesByName(fields: FormDraft['fields']): Values {
  const values = new Map<string, string[]>()
  for (const [name, value] of fields) {
    values.set(asMarkup(name), [...(values.get(asMarkup(name)) ?? []), asMarkup(value)])
  }
  return values
}

/**
 * Several forms can have one action, for instance one for each member; hidden fields differ. The id of
 * a submission is new each time a form is rendered, so it tells nothing.
 */
function hasHiddenFields(content: string, values: Values): boolean {
  return tagsOf(content, 'input')
    .filter((tag) => attribute(tag, 'type') === 'hidden')
    .map((tag) => ({ name: attribute(tag, 'name') ?? '', value: attribute(tag, 'value') ?? '' }))
    .every(({ name, value }) => name in submissionFields || values.get(name)?.includes(value))
}

function fillFields(content: string, values: Values): string {
  const filled = content
    .replace(/<input\b[^>]*>/g, (tag) => fillInput(tag, values))
    .replace(/(<textarea\b[^>]*>)[^<]*/g, (area, tag) => {
      const [value] = values.get(attribute(tag, 'name') ?? '') ?? []
      return value === undefined ? area : `${tag}${value}`
    })
    .replace(/(<select\b[^>]*>)(.*?)(<\/select>)/gs, (select, tag, options, end) => {
      const chosen = values.get(attribute(tag, 'name') ?? '')
      return chosen === undefined ? select : `${tag}${choose(options, chosen)}${end}`
    })
  return filled === content ? content : filled.replaceAll('<details>', '<details open>')
}

function fillInput(tag: string, values: Values): string {
  const type = attribute(tag, 'type')
  const given = values.get(attribute(tag, 'name') ?? '')
  if (type === 'hidden' || type === 'password') return tag
  if (type === 'checkbox' || type === 'radio') {
    // A required box is a confirmation: it is ticked again by hand.
    const isChosen = given?.includes(attribute(tag, 'value') ?? 'on') && !/ required\b/.test(tag)
    return withAttribute(tag.replace(/ checked\b/, ''), isChosen ? ' checked' : '')
  }
  const [value] = given ?? []
  if (value === undefined) return tag
  return withAttribute(tag.replace(/ value="[^"]*"/, ''), ` value="${value}"`)
}

function choose(options: string, chosen: readonly string[]): string {
  return options.replace(/(<option\b[^>]*>)([^<]*)/g, (_option, tag, text) => {
    const isChosen = chosen.includes(attribute(tag, 'value') ?? text)
    return `${withAttribute(tag.replace(/ selected\b/, ''), isChosen ? ' selected' : '')}${text}`
  })
}

function tagsOf(markup: string, name: string): string[] {
  return markup.match(new RegExp(`<${name}\\b[^>]*>`, 'g')) ?? []
}

function attribute(tag: string, name: string): string | undefined {
  return new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1]
}

function withAttribute(tag: string, text: string): string {
  return `${tag.slice(0, -1)}${text}>`
}

function asMarkup(text: string): string {
  return html`${text}`.markup
}
