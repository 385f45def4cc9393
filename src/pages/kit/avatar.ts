import { type Html, html } from './html.ts'

const tints = 6

/** The initials of a person in a circle, as decoration beside the name; one person, one colour. */
export function avatar(name: string): Html {
  return html`<span class="avatar tint-${tintOf(name)}" aria-hidden="true">${initials(name)}</span>`
}

/** The initials of a tenant in a square, as decoration beside its name; its id decides the colour. */
export function emblem({ id, name }: { id: string; name: string }): Html {
  return html`<span class="avatar emblem tint-${tintOf(id)}" aria-hidden="true">${initials(name)}</span>`
}

/** `AO` for Ada Okafor, `A` for an address or a single word. */
export function initials(name: string): string {
  const words = name.trim().split(/\s+/u)
  const shown = words.length > 1 ? [words[0], words.at(-1)] : [words[0]]
  const letters = shown.map((word) => [...(word ?? '')][0] ?? '').join('')
  return letters === '' ? '?' : letters.toUpperCase()
}

/** The same for the same name; which one does not matter. */
function tintOf(name: string): number {
  return (
    [...name].reduce((sum, letter) => (sum * 31 + (letter.codePointAt(0) ?? 0)) % 9_973, 7) % tints
  )
}
