/** Text that is safe to put into a page as it is. Only `html` makes it. */
export type Markup = { readonly markup: string }

type Part = string | number | Markup | readonly Markup[] | undefined

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** A template tag: everything interpolated is escaped, except what `html` itself has made. */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Markup {
  return { markup: String.raw({ raw: strings }, ...parts.map(render)) }
}

/** Markup that another library has made and vouches for. */
export function trusted(markup: string): Markup {
  return { markup }
}

function render(part: Part): string {
  if (part === undefined) return ''
  if (typeof part === 'string') return part.replace(/[&<>"']/g, (char) => entities[char] ?? '')
  if (typeof part === 'number') return String(part)
  return 'markup' in part ? part.markup : part.map(({ markup }) => markup).join('\n')
}
