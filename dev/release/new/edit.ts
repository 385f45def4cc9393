import { InputFault } from './input.ts'

/** A file to write, or a text to add to one: after the line that begins with `after`, or before `before`. */
export type Edit =
  | { readonly path: string; readonly text: string }
  | { readonly path: string; readonly after: string; readonly text: string }
  | { readonly path: string; readonly before: string; readonly text: string }

/**
 * What the file contains after the edit.
 * @param before what it contains; null if there is no such file
 * @throws InputFault if the file exists that is to be written, or lacks the place to add something at
 */
export function withEdit(before: string | null, edit: Edit): string {
  const { path, text } = edit
  if (!('after' in edit) && !('before' in edit)) {
    if (before !== null) throw new InputFault(`${path} exists already.`)
    return text
  }
  const anchor = 'before' in edit ? edit.before : edit.after
  const place = before === null ? -1 : placeOf(before, edit)
  if (before === null || place === -1) throw new InputFault(`${path} has no “${anchor}” any more.`)
  const head = before.slice(0, place)
  // A list of several lines ends with a comma already.
  const hasComma = text.startsWith(', ') && head.trimEnd().endsWith(',')
  return `${head}${hasComma ? text.slice(1) : text}${before.slice(place)}`
}

function placeOf(whole: string, edit: { readonly after: string } | { readonly before: string }) {
  if ('before' in edit) return edit.before === '' ? whole.length : whole.lastIndexOf(edit.before)
  const line = whole.indexOf(edit.after)
  return line === -1 ? -1 : whole.indexOf('\n', line) + 1
}

/**
 * What the file contains without the text that an edit added. Formatters may have changed its white space.
 * @throws InputFault if the text is not in the file any more
 */
export function withoutEdit(whole: string, { path, text }: Pick<Edit, 'path' | 'text'>): string {
  const words = text.trim().split(/\s+/).map(RegExp.escape).join('\\s*')
  const isLines = text.endsWith('\n')
  const found = new RegExp(
    isLines ? `${text.startsWith('\n') ? '\\n?' : ''}^[ \\t]*${words}[ \\t]*\\n` : `${words}\\b`,
    'm',
  )
  if (!found.test(whole))
    throw new InputFault(`${path} has been changed. Take out what was added by hand.`)
  return whole.replace(found, '')
}
