import type { FormDraft } from '#src/http/form-draft.ts'
import { submissionFields } from './form-submission.ts'
import { html, isolated } from './html.ts'

/*
 * Works on markup of src/pages/kit/html.ts only: it escapes `<`, `>` and `"` in every text and
 * attribute, so a tag ends at the first `>` and an attribute at the next `"`.
 */

/**
 * Shows what a person typed in the form that it was typed into, and beside each refused field why.
 * @returns the unchanged markup if the page does not have this form, or it has nothing to fill in
 */
export function fillForm(markup: string, { action, fields, reason, faults }: FormDraft): string {
  const values = valuesByName(fields)
  const shown = markup.replace(/(<form\b[^>]*>)(.*?)(<\/form>)/gs, (form, start, content, end) => {
    const isForm =
      attribute(start, 'action') === asMarkup(action) && start.includes('method="post"')
    if (!isForm || !hasHiddenFields(content, values)) return form
    const filled = fillFields(content, values)
    const { marked, unplaced } = markFaults(filled, faults)
    if (marked === content) return form
    const notice = noticeText(reason, faults.length > 0, unplaced)
    return `${start}${notice.markup}${marked.replaceAll('<details>', '<details open>')}${end}`
  })
  return shown === markup ? markup : openAround(shown, firstDifference(markup, shown))
}

function noticeText(reason: string | null, hasFaults: boolean, unplaced: FormDraft['faults']) {
  const notSent = 'What you entered is shown again. It has not been sent yet.'
  if (reason !== null) {
    return html`<p class="notice fault" role="alert">${reason} What you entered is shown again.</p>`
  }
  if (!hasFaults) return html`<p class="notice" role="status">${notSent}</p>`
  const others = unplaced.map(([name, detail]) => html` ${isolated(name)} ${detail}.`)
  return html`<p class="notice fault" role="alert">Nothing was changed. Correct the fields that are marked, then send the form again.${others}</p>`
}

/** Says beside each refused field what is wrong. `unplaced`: those without a field to stand beside. */
function markFaults(content: string, faults: FormDraft['faults']) {
  const unplaced: (readonly [string, string])[] = []
  let marked = content
  for (const [name, detail] of faults) {
    const id = html`fault-${name}`.markup
    const fault = html`<span class="fault" id="fault-${name}">${sentence(detail)}</span>`.markup
    const before = marked
    marked = replaceField(marked, name, (start, rest) => {
      const focus = marked.includes(' autofocus') ? '' : ' autofocus'
      const marks = ` aria-invalid="true" aria-describedby="${id}"${focus}`
      return `${withAttribute(start, marks)}${rest}${fault}`
    })
    if (marked === before) unplaced.push([name, detail])
  }
  return { marked, unplaced }
}

/** Replaces the first field of this name that a fault can stand beside: no box and nothing hidden. */
function replaceField(
  content: string,
  name: string,
  replace: (start: string, rest: string) => string,
): string {
  let isFound = false
  return content.replace(
    /(<input\b[^>]*>)|(<(textarea|select)\b[^>]*>)(.*?<\/\3>)/gs,
    (field, input: string | undefined, opening: string | undefined, _kind, rest = '') => {
      const start = input ?? opening ?? ''
      const type = attribute(start, 'type') ?? ''
      const isOther = attribute(start, 'name') !== asMarkup(name)
      if (isFound || isOther || ['hidden', 'checkbox', 'radio'].includes(type)) return field
      isFound = true
      return replace(start, rest)
    },
  )
}

function sentence(detail: string): string {
  return `${detail.charAt(0).toUpperCase()}${detail.slice(1)}.`
}

/** Opens what the form is folded into. @param at a place in the form */
function openAround(markup: string, at: number): string {
  const start = markup.lastIndexOf('<details', at)
  if (start === -1 || markup.slice(start, at).includes('</details>')) return markup
  const end = markup.indexOf('>', start)
  const isOpen = / open\b/.test(markup.slice(start, end))
  return isOpen ? markup : `${markup.slice(0, end)} open${markup.slice(end)}`
}

function firstDifference(one: string, other: string): number {
  let at = 0
  while (one[at] === other[at]) at += 1
  return at
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
  return content
    .replace(/<input\b[^>]*>/g, (tag) => fillInput(tag, values))
    .replace(/(<textarea\b[^>]*>)[^<]*/g, (area, tag) => {
      const [value] = values.get(attribute(tag, 'name') ?? '') ?? []
      return value === undefined ? area : `${tag}${value}`
    })
    .replace(/(<select\b[^>]*>)(.*?)(<\/select>)/gs, (select, tag, options, end) => {
      const chosen = values.get(attribute(tag, 'name') ?? '')
      return chosen === undefined ? select : `${tag}${choose(options, chosen)}${end}`
    })
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
