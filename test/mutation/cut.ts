/** A range of a text and its replacement. */
export type Cut = { from: number; to: number; instead: string; name: string }

/** The text with the replacement. */
export function applyCut(text: string, { from, to, instead }: Cut): string {
  return text.slice(0, from) + instead + text.slice(to)
}

/** A cut for every match of the pattern. */
export function cutsOf(text: string, pattern: RegExp, instead: string): Cut[] {
  return [...text.matchAll(pattern)].map(({ index, 0: match }) => ({
    from: index,
    to: index + match.length,
    instead,
    name: nameOf(text, index, match),
  }))
}

/** Line number and first line of the range, for reports. */
export function nameOf(text: string, index: number, piece: string): string {
  const line = text.slice(0, index).split('\n').length
  const [first = ''] = piece.trim().split('\n')
  return `${line}: ${first.slice(0, 80)}`
}

/** The index of the bracket that closes the one at `open`. */
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

/** The elements of a list, separated by commas outside brackets, each with its comma. */
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

/** A cut for each part of a condition between top-level ANDs or ORs, as if it were `instead`. */
export function partsOf(
  text: string,
  from: number,
  to: number,
  word: 'AND' | 'OR',
  instead: string,
): Cut[] {
  const marks = [...text.slice(from, to).matchAll(new RegExp(`\\s${word}\\s`, 'g'))]
    .map(({ index, 0: mark }) => ({ from: from + index, to: from + index + mark.length }))
    .filter((mark) => depthOf(text, from, mark.from) === 0)
  const starts = [from, ...marks.map((mark) => mark.to)]
  const ends = [...marks.map((mark) => mark.from), to]
  return starts.map((start, n) => {
    const end = ends[n] ?? to
    return { from: start, to: end, instead, name: nameOf(text, start, text.slice(start, end)) }
  })
}

/** How many brackets are open at `to`. */
function depthOf(text: string, from: number, to: number): number {
  const piece = text.slice(from, to)
  return (piece.match(/[([{]/g)?.length ?? 0) - (piece.match(/[)\]}]/g)?.length ?? 0)
}
