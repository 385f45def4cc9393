/** A piece of a text and what stands there instead. */
export type Cut = { from: number; to: number; instead: string; name: string }

/** The text with the cut made. */
export function applyCut(text: string, { from, to, instead }: Cut): string {
  return text.slice(0, from) + instead + text.slice(to)
}

/** Every match of the pattern, whole, as a cut. */
export function cutsOf(text: string, pattern: RegExp, instead: string): Cut[] {
  return [...text.matchAll(pattern)].map(({ index, 0: match }) => ({
    from: index,
    to: index + match.length,
    instead,
    name: nameOf(text, index, match),
  }))
}

/** Line number and the first line of the piece, for people. */
export function nameOf(text: string, index: number, piece: string): string {
  const line = text.slice(0, index).split('\n').length
  const [first = ''] = piece.trim().split('\n')
  return `${line}: ${first.slice(0, 80)}`
}

/** Where the bracket that opens at `open` is closed. */
export function closingOf(text: string, open: number): number {
  const pairs: Readonly<Record<string, string>> = { '(': ')', '{': '}', '[': ']' }
  const stack: string[] = []
  for (let at = open; at < text.length; at += 1) {
    const character = text.charAt(at)
    const closing = pairs[character]
    if (closing !== undefined) stack.push(closing)
    else if (character === stack.at(-1)) stack.pop()
    if (stack.length === 0) return at
  }
  throw new Error(`The bracket at ${open} is never closed.`)
}

/** Pieces of a list that are separated by commas outside brackets, each with its comma. */
export function elementsOf(text: string, from: number, to: number): { from: number; to: number }[] {
  const elements: { from: number; to: number }[] = []
  let start = from
  for (let at = from; at < to; at += 1) {
    if ('({['.includes(text.charAt(at))) at = closingOf(text, at)
    if (text.charAt(at) === ',') {
      elements.push({ from: start, to: at + 1 })
      start = at + 1
    }
  }
  if (text.slice(start, to).trim() !== '') elements.push({ from: start, to })
  return elements
}
