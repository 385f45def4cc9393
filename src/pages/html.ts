/** Text that is markup already. */
export type Html = { readonly markup: string }

/** Markup that another library has made and vouches for. */
export function trusted(markup: string): Html {
  return { markup }
}

type Value = string | number | Html | readonly Html[]

/** A template whose every interpolated string is escaped; markup nests only as Html. */
export function html(strings: TemplateStringsArray, ...values: readonly Value[]): Html {
  const rendered = values.map((value) => render(value))
  return { markup: strings.map((text, index) => text + (rendered[index] ?? '')).join('') }
}

function render(value: Value): string {
  if (typeof value === 'string') return escapeText(value)
  if (typeof value === 'number') return String(value)
  return 'markup' in value ? value.markup : value.map((part) => part.markup).join('')
}

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escapeText(text: string): string {
  return text.replace(/[&<>"']/g, (character) => escapes[character] ?? character)
}
